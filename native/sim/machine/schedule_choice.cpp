#include "machine/schedule_choice.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <string>

#include "base/explain.h"
#include "base/fork.h"
#include "mlusim.h"

namespace mlusim {
namespace {

// In the order of the enumerations.
constexpr const char *kCopies[] = {"late", "early", "random"};
constexpr const char *kCores[] = {"fixed", "random"};
constexpr const char *kMemory[] = {"pattern", "nan", "zero", "noise"};

constexpr int kMostShown = 80;
constexpr const char *kExpected =
    "expected words such as copies=early,cores=random,memory=nan,seed=7: copies=late, early or random; cores=fixed or "
    "random; memory=pattern, nan, zero or noise; seed=an integer from 0 to 2**64-1";

ForkMutex &g_mutex = *new ForkMutex;
Schedule g_chosen;
std::uint64_t g_launches = 0, g_allocations = 0;  // since the schedule was set
std::atomic<bool> g_known{false};                 // whether g_chosen holds the settings
std::atomic<bool> g_fills{false};                 // whether the schedule fills device memory

template <typename Choice, std::size_t n>
bool choose(const char *const (&names)[n], const std::string &value, Choice *choice) {
  const auto *found = std::find(std::begin(names), std::end(names), value);
  if (found == std::end(names)) return false;
  *choice = static_cast<Choice>(found - std::begin(names));
  return true;
}

bool parse_seed(const std::string &value, std::uint64_t *seed) {
  if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) return false;
  errno = 0;
  *seed = std::strtoull(value.c_str(), nullptr, 10);
  return errno == 0;
}

// Applies a setting such as "copies=early"; false if it is none.
bool apply_word(const std::string &word, Schedule *schedule) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string key = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  if (key == "copies") return choose(kCopies, value, &schedule->copies);
  if (key == "cores") return choose(kCores, value, &schedule->cores);
  if (key == "memory") return choose(kMemory, value, &schedule->memory);
  return key == "seed" && parse_seed(value, &schedule->seed);
}

// Applies words separated by commas; blanks do not count. If a word is wrong, returns false with
// the word in `*unknown`.
bool parse(const std::string &text, Schedule *schedule, std::string *unknown) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    word.erase(std::remove_if(word.begin(), word.end(), [](char c) { return c == ' ' || c == '\t'; }), word.end());
    if (word.empty() || apply_word(word, schedule)) continue;
    *unknown = word;
    return false;
  }
  return true;
}

// The caller holds the mutex.
void store(const Schedule &schedule) {
  g_chosen = schedule;
  g_launches = g_allocations = 0;
  g_fills = schedule.memory != Fill::kPattern;
  g_known = true;
}

// Reads the environment at the first use, not when the library is loaded: a program that sets the
// schedule itself gets no message about a variable that it overrides. The caller holds the mutex.
void know() {
  if (g_known) return;
  const char *text = std::getenv("PYMLUOPS_SIM_SCHEDULE");
  Schedule schedule;
  std::string unknown;
  if (text != nullptr && !parse(text, &schedule, &unknown)) {
    std::fprintf(stderr, "mlusim: PYMLUOPS_SIM_SCHEDULE: %s, got '%.*s'\n", kExpected, kMostShown, unknown.c_str());
    schedule = Schedule();
  }
  store(schedule);
}

}  // namespace

Schedule chosen_schedule() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  know();
  return g_chosen;
}

std::uint64_t number_of_scheduled_launch() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  return g_launches++;
}

Schedule schedule_of_allocation(std::uint64_t *number) {
  if (g_known && !g_fills) return {};
  const std::lock_guard<ForkMutex> lock(g_mutex);
  know();
  *number = g_allocations++;
  return g_chosen;
}

}  // namespace mlusim

using namespace mlusim;

int mlusimSetSchedule(const char *schedule) {
  if (schedule == nullptr) {
    refuse_null(__func__, "schedule");
    return -1;
  }
  try {
    Schedule parsed;
    std::string unknown;
    if (parse(schedule, &parsed, &unknown)) {
      const std::lock_guard<ForkMutex> lock(g_mutex);
      store(parsed);
      return 0;
    }
    explain(cnrtErrorArgsInvalid, "%s: schedule: %s, got '%.*s'", __func__, kExpected, kMostShown, unknown.c_str());
  } catch (const std::bad_alloc &) {
    explain(cnrtErrorSysNoMem, "%s: out of host memory", __func__);
  }
  return -1;
}

int mlusimGetSchedule(mlusimSchedule *schedule) {
  if (schedule == nullptr) {
    refuse_null(__func__, "schedule");
    return -1;
  }
  const Schedule chosen = chosen_schedule();
  *schedule = {};
  std::snprintf(schedule->copies, sizeof schedule->copies, "%s", kCopies[static_cast<int>(chosen.copies)]);
  std::snprintf(schedule->cores, sizeof schedule->cores, "%s", kCores[static_cast<int>(chosen.cores)]);
  std::snprintf(schedule->memory, sizeof schedule->memory, "%s", kMemory[static_cast<int>(chosen.memory)]);
  schedule->seed = chosen.seed;
  return 0;
}
