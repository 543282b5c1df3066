// The CPU target: its environment and the extension functions.
#include "core/target.h"

#include <cstring>

#include "core/reason.h"
#include "cpu/cache.h"
#include "cpu/level.h"
#include "cpu/pool.h"
#include "cpu/settings.h"
#include "mluops_ext/library.h"

namespace mluops {

int current_device() { return -1; }

bool copy_to_host(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return true;
}

bool wait_for(cnrtQueue_t) { return true; }  // calls end when they return

mluOpStatus_t check_environment(const char *function) { return check_settings(function); }

namespace {

mluOpStatus_t need_thread_count(const char *function, int count) {
  MLUOPS_REQUIRE(count >= 1 && count <= kMaxThreads, MLUOP_STATUS_BAD_PARAM, function, "num_threads",
                 Text::format("1 to %d", kMaxThreads), Text::format("%d", count));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

}  // namespace mluops

int MLUOP_WIN_API mluopsExtGetNumThreads(void) { return mluops::chosen_thread_count(); }

mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads) {
  MLUOPS_TRY(mluops::need_thread_count(__func__, num_threads));
  mluops::set_thread_count(num_threads);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSetTeam(mluopsExtTeam team, int num_threads) {
  if (team != nullptr) MLUOPS_TRY(mluops::need_thread_count(__func__, num_threads));
  mluops::set_team(team, num_threads);
  return MLUOP_STATUS_SUCCESS;
}

const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void) { return "cpu"; }

const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void) { return mluops::name_of(mluops::active_level()); }

size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void) { return static_cast<size_t>(mluops::streaming_bytes()); }

mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck check) {
  mluops::set_interrupt_check(check);
  return MLUOP_STATUS_SUCCESS;
}
