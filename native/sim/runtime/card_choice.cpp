#include "runtime/card_choice.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/fork.h"
#include "machine/heap.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "runtime/card_file.h"
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

constexpr std::size_t kMostShown = 80;  // characters of a variable

// Whether PYMLUOPS_SIM_DEVICE cannot be followed, and why. The text is written once, when the
// library is loaded.
std::atomic<bool> g_refused{false};
std::string &refusal() {
  static std::string &text = *new std::string;
  return text;
}

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

bool find_named_card(const std::string &name, mlusimDeviceModel *model, std::string *reason) {
  constexpr char kEnding[] = ".toml";
  constexpr std::size_t kLength = sizeof kEnding - 1;
  const bool ends = name.size() >= kLength && name.compare(name.size() - kLength, kLength, kEnding) == 0;
  if (ends || name.find('/') != std::string::npos) return read_card_file(name, model, reason);
  if (const mlusimDeviceModel *known = find_model(name.c_str())) {
    *model = *known;
    return true;
  }
  *reason = "expected ";
  for (const mlusimDeviceModel *known = known_models(); known->name[0] != '\0'; ++known) {
    *reason += std::string(known->name) + ", ";
  }
  *reason += "or the path of a .toml file, got '" + name.substr(0, kMostShown) + "'";
  return false;
}

bool card_of_environment(mlusimDeviceModel *model, std::string *reason) {
  reason->clear();
  const char *name = std::getenv("PYMLUOPS_SIM_DEVICE");
  return name != nullptr && name[0] != '\0' && find_named_card(name, model, reason);
}

void take_card_of_environment() {
  sources();
  mlusimDeviceModel model = {};
  std::string &reason = refusal();
  if (!card_of_environment(&model, &reason)) {
    g_refused = !reason.empty();
    return;
  }
  set_device(model);
  note_choice(true);
}

cnrtRet_t check_environment(const char *function) noexcept {
  const char *const count = wrong_device_count();
  if (count == nullptr && !g_refused) return cnrtSuccess;
  static std::atomic<bool> told{false};
  const bool tells = !told.exchange(true);
  if (count != nullptr) {
    constexpr char kText[] = "PYMLUOPS_SIM_DEVICES: expected 1 to %d, got '%.*s'";
    char text[200];
    std::snprintf(text, sizeof text, kText, kMaxDevices, static_cast<int>(kMostShown), count);
    if (tells) std::fprintf(stderr, "mlusim: %s; there is no device\n", text);
    return explain(cnrtErrorNoDevice, "%s: %s", function, text);
  }
  const char *const reason = refusal().c_str();
  if (tells) std::fprintf(stderr, "mlusim: PYMLUOPS_SIM_DEVICE: %s; there is no device\n", reason);
  return explain(cnrtErrorNoDevice, "%s: PYMLUOPS_SIM_DEVICE: %s", function, reason);
}

void note_choice(bool chosen) {
  forget_fresh();
  g_chosen = chosen;
  g_refused = false;
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
