// A target that runs BANG C kernels, simulated or not: its limits and the extension functions.
#include "core/target.h"

#include <cstdio>

#include "bang/policy.h"
#include "core/reason.h"
#include "cpu/level.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

constexpr int kFirstArchWithSparse = 372;
constexpr std::int64_t kSparseRows = 1000000;
constexpr std::int64_t kSparseVolume = 4096;

}  // namespace

// The limits are production's; the architecture is that of the device which is current now.
const TargetLimits &target_limits() {
  static constexpr TargetLimits kWith = {kSparseRows, kSparseVolume, true};
  static constexpr TargetLimits kWithout = {kSparseRows, kSparseVolume, false};
  Card card = {};
  if (read_card("mluOpCreate", &card) != MLUOP_STATUS_SUCCESS) return kWithout;
  return card.arch >= kFirstArchWithSparse ? kWith : kWithout;
}

int current_device() {
  int device = -1;
  const cnrtRet_t error = cnrtGetDevice(&device);
  cnrtGetLastError();
  return error == cnrtSuccess ? device : -1;
}

mluOpStatus_t check_environment(const char *function) { return check_level_variable(function); }

}  // namespace mluops

int MLUOP_WIN_API mluopsExtGetNumThreads(void) { return 1; }

mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads) {
  MLUOPS_REQUIRE(num_threads == 1, MLUOP_STATUS_NOT_SUPPORTED, __func__, "num_threads",
                 "1, because operators of this library run on a device", mluops::Text::format("%d", num_threads));
  return MLUOP_STATUS_SUCCESS;
}

const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void) { return MLUOPS_BANG_KIND; }

// The architecture of the device that is current now.
const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void) {
  static thread_local char level[16];
  mluops::Card card = {};
  if (mluops::read_card(__func__, &card) != MLUOP_STATUS_SUCCESS) return "";
  std::snprintf(level, sizeof level, "mtp_%d", card.arch);
  return level;
}

size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void) { return 0; }

// Operators only put their kernels into the queue.
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck) { return MLUOP_STATUS_SUCCESS; }
