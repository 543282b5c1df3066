// A target that runs BANG C kernels, simulated or not: its environment and the extension functions.
#include "core/target.h"

#include "bang/policy.h"
#include "core/reason.h"
#include "cpu/level.h"
#include "mluops_ext/library.h"

namespace mluops {
namespace {

struct ArchName {
  char text[8];
};
struct ArchNames {
  ArchName of[1000];
};

// "mtp_372" and so on, made at compile time: a text that lives as long as the library needs no
// memory of the calling thread.
constexpr ArchNames arch_names() {
  ArchNames names = {};
  for (int arch = 100; arch < 1000; ++arch) {
    names.of[arch] = {{'m', 't', 'p', '_', static_cast<char>('0' + arch / 100), static_cast<char>('0' + arch / 10 % 10),
                       static_cast<char>('0' + arch % 10), 0}};
  }
  return names;
}

constexpr ArchNames kArchNames = arch_names();

}  // namespace

int current_device() {
  int device = -1;
  const cnrtRet_t error = cnrtGetDevice(&device);
  cnrtGetLastError();
  return error == cnrtSuccess ? device : -1;
}

bool copy_to_host(void *to, const void *from, std::size_t bytes) {
  return cnrtMemcpy(to, const_cast<void *>(from), bytes, cnrtMemcpyDevToHost) == cnrtSuccess;
}

bool wait_for(cnrtQueue_t queue) { return cnrtQueueSync(queue) == cnrtSuccess; }

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
  mluops::Card card = {};
  if (mluops::read_card(__func__, &card) != MLUOP_STATUS_SUCCESS) return "";
  return card.arch >= 0 && card.arch < 1000 ? mluops::kArchNames.of[card.arch].text : "";
}

size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void) { return 0; }

// Operators only put their kernels into the queue.
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck) { return MLUOP_STATUS_SUCCESS; }

mluOpStatus_t MLUOP_WIN_API mluopsExtSetTeam(mluopsExtTeam, int) { return MLUOP_STATUS_SUCCESS; }
