#include "check/checks.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/explain.h"
#include "base/fork.h"
#include "check/align.h"
#include "check/init.h"
#include "check/memory.h"
#include "check/race.h"
#include "check/sync.h"
#include "check/unused.h"
#include "machine/heap.h"
#include "mlusim.h"

namespace mlusim {
namespace {

struct Checker {
  const char *name;
  std::uint32_t bit;
  Observer &(*observer)();
};

// In the order in which they see events. If the first ends the launch for an access, the others
// never look that access up in their shadows.
constexpr Checker kCheckers[] = {{"memory", MLUSIM_CHECK_MEMORY, memory_checker},
                                 {"align", MLUSIM_CHECK_ALIGN, align_checker},
                                 {"init", MLUSIM_CHECK_INIT, init_checker},
                                 {"race", MLUSIM_CHECK_RACE, race_checker},
                                 {"sync", MLUSIM_CHECK_SYNC, sync_checker}};

constexpr int kMostShown = 40;  // characters of an unknown word
constexpr const char *kExpected = "expected names out of memory, init, race, sync, align, or all, or none alone";

std::uint32_t checks_of_environment() {
  const char *text = std::getenv("PYMLUOPS_SIM_CHECK");
  std::uint32_t mask = 0;
  std::string unknown;
  if (text != nullptr && !parse_checks(text, &mask, &unknown)) {
    std::fprintf(stderr, "mlusim: PYMLUOPS_SIM_CHECK: %s, got '%.*s'\n", kExpected, kMostShown, unknown.c_str());
  }
  return mask;
}

void watch(std::uint32_t checks) { watch_shadow((checks & MLUSIM_CHECK_INIT) != 0); }

ForkMutex &g_prepare_mutex = *new ForkMutex;

constexpr std::uint32_t kNotRead = ~std::uint32_t{0};  // the environment was not read yet
std::atomic<std::uint32_t> g_checks{kNotRead};

constexpr std::ptrdiff_t kNear = 4096;  // the distance that heap_find() searches
constexpr std::ptrdiff_t kGap = 256;    // the least distance of two allocations

// Marks all allocations as initialised: writes are unknown while no shadow is kept.
void catch_up() {
  if (!catch_up_with_shadow()) return;
  char *at = nullptr;
  char *end = nullptr;
  heap_extent(&at, &end);
  while (at < end) {
    Allocation allocation;
    if (!heap_find(at, &allocation)) {
      at += kNear;
    } else if (allocation.end() <= at) {
      at += kGap;
    } else {
      if (allocation.used) std::memset(init_shadow(allocation.begin), 0xff, allocation.bytes);
      at = allocation.end();
    }
  }
}

}  // namespace

// Reads the environment at the first call, not when the library is loaded: a program that sets the
// checkers itself gets no message about a variable that it overrides. If two threads read it at
// once, both store the same value, so no lock is needed that a fork could leave locked.
std::uint32_t checks() {
  std::uint32_t known = g_checks.load();
  if (known != kNotRead) return known;
  const std::uint32_t read = checks_of_environment();
  if (!g_checks.compare_exchange_strong(known, read)) return known;
  watch(read);
  return read;
}

void set_checks(std::uint32_t checks) {
  g_checks = checks;
  watch(checks);
}

bool parse_checks(const std::string &text, std::uint32_t *checks, std::string *unknown) {
  *checks = 0;
  unknown->clear();
  int words = 0;
  bool none = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    word.erase(0, word.find_first_not_of(" \t"));
    word.erase(word.find_last_not_of(" \t") + 1);
    std::uint32_t bits = word == "all" ? static_cast<std::uint32_t>(MLUSIM_CHECK_ALL) : 0;
    for (const Checker &checker : kCheckers) {
      if (word == checker.name) bits = checker.bit;
    }
    words += word.empty() ? 0 : 1;
    none = none || word == "none";
    if (bits == 0 && !word.empty() && word != "none") *unknown = word;
    *checks |= bits;
  }
  if (none && words > 1 && unknown->empty()) *unknown = "none";
  return unknown->empty();
}

void prepare_memory(std::uint32_t checks) {
  static std::atomic<std::uint32_t> prepared{0};
  const std::uint32_t wanted = checks & (MLUSIM_CHECK_MEMORY | MLUSIM_CHECK_INIT);
  if (prepared == wanted && (wanted & MLUSIM_CHECK_INIT) == 0) return;
  const std::lock_guard<ForkMutex> lock(g_prepare_mutex);
  prepared = wanted;
  heap_set_quarantine((wanted & MLUSIM_CHECK_MEMORY) != 0);
  if ((wanted & MLUSIM_CHECK_INIT) == 0) return;
  if (init_delta() == 0) {
    if (heap_totals().live_allocations != 0) shadow_lags();
    if (!ensure_init_shadow()) return;
  }
  catch_up();
}

void choose_observers(Observers *observers) {
  const std::uint32_t chosen = checks();
  prepare_memory(chosen);
  *observers = Observers{};
  observers->init = (chosen & MLUSIM_CHECK_INIT) != 0 && init_delta() != 0;
  for (const Checker &checker : kCheckers) {
    const bool possible = checker.bit != MLUSIM_CHECK_INIT || observers->init;
    if ((chosen & checker.bit) != 0 && possible) observers->list[observers->count++] = &checker.observer();
  }
  if (observers->init && unused_is_on()) observers->list[observers->count++] = &unused_checker();
  if (!observers->init && init_delta() != 0) shadow_lags();
}

}  // namespace mlusim

std::uint32_t mlusimGetChecks(void) { return mlusim::checks(); }

int mlusimSetChecks(std::uint32_t checks) {
  if ((checks & ~static_cast<std::uint32_t>(MLUSIM_CHECK_ALL)) != 0) {
    mlusim::explain(cnrtErrorArgsInvalid, "mlusimSetChecks: checks: expected bits of %d, got %u", MLUSIM_CHECK_ALL,
                    static_cast<unsigned>(checks));
    return -1;
  }
  mlusim::set_checks(checks);
  return 0;
}

int mlusimSetChecksByName(const char *names) {
  if (names == nullptr) {
    mlusim::refuse_null("mlusimSetChecksByName", "checks");
    return -1;
  }
  try {
    std::uint32_t checks = 0;
    std::string unknown;
    if (mlusim::parse_checks(names, &checks, &unknown)) {
      mlusim::set_checks(checks);
      return 0;
    }
    mlusim::explain(cnrtErrorArgsInvalid, "mlusimSetChecksByName: checks: %s, got '%.*s'", mlusim::kExpected,
                    mlusim::kMostShown, unknown.c_str());
  } catch (const std::bad_alloc &) {
    mlusim::explain(cnrtErrorSysNoMem, "mlusimSetChecksByName: out of host memory");
  }
  return -1;
}
