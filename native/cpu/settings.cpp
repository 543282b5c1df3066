#include "cpu/settings.h"

#include <algorithm>
#include <cstdlib>

#include "core/environment.h"
#include "cpu/call.h"
#include "cpu/cpu_count.h"
#include "cpu/level.h"

namespace mluops {
namespace {

constexpr NumberVariable kThreads = {"PYMLUOPS_NUM_THREADS", 1, kMaxThreads};
constexpr NumberVariable kStreamMib = {"PYMLUOPS_STREAM_MIB", 0, std::int64_t{1} << 40};

// The limit that engines give each of their processes, so that the threads do not multiply:
// OMP_NUM_THREADS, of whose list the first entry counts. The variable belongs to other libraries,
// so invalid values are ignored.
int limit_of_process() {
  const char *text = std::getenv("OMP_NUM_THREADS");
  const long number = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return number < 1 || number > kMaxThreads ? kMaxThreads : static_cast<int>(number);
}

Settings read_settings() {
  std::int64_t threads = 0, mib = 0;
  if (!kThreads.read(&threads)) threads = std::min(usable_cpus(), limit_of_process());
  const bool chosen = kStreamMib.read(&mib);
  return Settings{static_cast<int>(threads), chosen ? mib << 20 : -1};
}

}  // namespace

const Settings &settings() {
  static const Settings read = read_settings();
  return read;
}

// Also reads the settings: later, during a call, there may be no memory for it.
mluOpStatus_t check_settings(const char *function) {
  settings();
  MLUOPS_TRY(kThreads.check(function));
  MLUOPS_TRY(kStreamMib.check(function));
  return check_level_variable(function);
}

}  // namespace mluops
