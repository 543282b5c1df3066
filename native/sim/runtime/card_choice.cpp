#include "runtime/card_choice.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/fork.h"
#include "machine/heap.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "runtime/error.h"
#include "runtime/notifier.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

// A source with kernels: the library that it is part of, and its architecture.
struct Source {
  const void *library;
  int arch;
  bool fresh;  // it came since the device was last looked at
};

struct Sources {
  ForkMutex mutex;
  std::vector<Source> all;  // in the order of loading
};

// Never destroyed: libraries come and go before and after all other work.
Sources &sources() {
  static Sources &all = *new Sources;
  return all;
}

std::atomic<bool> g_chosen{false};
std::atomic<bool> g_fresh{false};  // sources came since the device was last looked at

void forget_fresh() {
  Sources &known = sources();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  for (Source &source : known.all) source.fresh = false;
}

// Returns the newest architecture of a library; 0 if it has kernels for `arch`. The caller holds
// the lock.
int lacking(const Sources &known, const void *library, int arch) {
  int newest = 0;
  for (const Source &source : known.all) {
    if (source.library != library) continue;
    if (source.arch == arch) return 0;
    newest = std::max(newest, source.arch);
  }
  return newest;
}

// Returns the newest architecture of the library that was loaded last among the fresh ones without
// kernels for `arch`; 0 if there is none. No library is fresh after it.
int wanted_instead_of(int arch) {
  Sources &known = sources();
  const std::lock_guard<ForkMutex> lock(known.mutex);
  int wanted = 0;
  for (auto last = known.all.rbegin(); last != known.all.rend(); ++last) {
    if (last->fresh && wanted == 0) wanted = lacking(known, last->library, arch);
    last->fresh = false;
  }
  return wanted;
}

}  // namespace

int change_device(const char *function, const mlusimDeviceModel &model) {
  const char *reason = "";
  if (!valid_model(model, &reason)) {
    explain(cnrtErrorArgsInvalid, "%s: %s", function, reason);
    return -1;
  }
  const char *obstacle = while_idle([&]() -> const char * {
    if (heap_totals().live_allocations != 0) return "device memory is still allocated";
    if (queue_count() != 0) return "there are still queues";
    if (notifier_count() != 0) return "there are still notifiers";
    heap_reset();
    release_memory();
    set_device(model);
    return nullptr;
  });
  if (obstacle == nullptr) return 0;
  explain(cnrtErrorArgsInvalid, "%s: %s", function, obstacle);
  return -1;
}

const mlusimDeviceModel *card_of_environment() { return find_model(std::getenv("PYMLUOPS_SIM_DEVICE")); }

void take_card_of_environment() {
  sources();
  const mlusimDeviceModel *model = card_of_environment();
  if (model == nullptr) return;
  set_device(*model);
  note_choice(true);
}

void note_choice(bool chosen) {
  forget_fresh();
  g_chosen = chosen;
}

bool is_chosen() { return g_chosen; }

void follow_libraries() noexcept {
  if (!g_fresh.load(std::memory_order_relaxed) || !g_fresh.exchange(false) || is_chosen()) return;
  try {
    const mlusimDeviceModel *model = find_card(wanted_instead_of(device().arch));
    // If the device is in use it stays, and launches of other architectures are refused.
    if (model != nullptr) change_device(__func__, *model);
  } catch (const std::bad_alloc &) {
  }
}

}  // namespace mlusim

extern "C" {

// Headers of kernels call these for each source, when its library is loaded and unloaded.
MLUSIM_API void mlusim_addArch(const void *library, int arch) {
  mlusim::Sources &known = mlusim::sources();
  try {
    const std::lock_guard<mlusim::ForkMutex> lock(known.mutex);
    known.all.push_back({library, arch, true});
  } catch (const std::bad_alloc &) {
    return;
  }
  mlusim::g_fresh = true;
}

MLUSIM_API void mlusim_removeArch(const void *library, int arch) {
  mlusim::Sources &known = mlusim::sources();
  const std::lock_guard<mlusim::ForkMutex> lock(known.mutex);
  const auto place = std::find_if(known.all.begin(), known.all.end(), [&](const mlusim::Source &source) {
    return source.library == library && source.arch == arch;
  });
  if (place != known.all.end()) known.all.erase(place);
}
}
