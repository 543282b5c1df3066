// These functions record the line that threw, so that a finding names it; they record the memory of
// exceptions, so that checkers do not report it as memory that the kernel should have copied; and
// they abandon the construction of a static variable whose kernel ends in the constructor.
#include "machine/cxx_runtime.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <typeinfo>

#include "machine/exception.h"
#include "machine/fiber.h"
#include "machine/launch.h"
#include "mlusim.h"

namespace mlusim {
namespace {

// The place of a core's last throw, and the object thrown.
const void *g_place = nullptr;
const void *g_object = nullptr;

// The latest exceptions made by kernels of this launch.
constexpr int kMostKnown = 16;
Range g_known[kMostKnown];
unsigned g_made = 0;

void *find_in_runtime(const char *name) {
  void *const runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return runtime != nullptr ? dlsym(runtime, name) : nullptr;
}

// Returns the function that this library overrides. Other libraries may call it before the objects
// of this library are constructed.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char *name) : name_(name) {}
  Function get() {
    Function found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) found = reinterpret_cast<Function>(find_in_runtime(name_));
    if (found == nullptr) std::abort();
    found_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char *name_;
  std::atomic<Function> found_{nullptr};
};

Next<void (*)(void *object, std::type_info *type, void (*destroy)(void *))> g_throw("__cxa_throw");
Next<void *(*)(std::size_t bytes)> g_allocate("__cxa_allocate_exception");
Next<int (*)(void *guard)> g_acquire("__cxa_guard_acquire");
Next<void (*)(void *guard)> g_release("__cxa_guard_release");
Next<void (*)(void *guard)> g_abort("__cxa_guard_abort");

bool holds(const Constructions &constructions, const void *guard) {
  for (int i = 0; i < constructions.count; ++i) {
    if (constructions.guards[i] == guard) return true;
  }
  return false;
}

void remove(Constructions &constructions, const void *guard) {
  for (int i = constructions.count - 1; i >= 0; --i) {
    if (constructions.guards[i] != guard) continue;
    constructions.guards[i] = constructions.guards[--constructions.count];
    return;
  }
}

// Returns the running core; ends the launch if its stack has no room for the functions that follow.
Core *core_with_stack(const void *pc) {
  Core *const core = current_core();
  if (core != nullptr) require_stack(*core, pc);
  if (core == nullptr && has_left_stack()) end_for_stack(pc);
  return core;
}

bool any_other_constructs(const Core &core, const void *guard) {
  for (const Core *other : running_cores()) {
    if (other != &core && holds(other->constructions, guard)) return true;
  }
  return false;
}

}  // namespace

void abandon(Constructions &constructions) {
  while (constructions.count > 0) g_abort.get()(constructions.guards[--constructions.count]);
}

bool is_exception(const void *address) {
  if (g_made == 0) return false;
  for (const Range &known : g_known) {
    if (known.holds(address)) return true;
  }
  return false;
}

void forget_exceptions() {
  for (Range &known : g_known) known = {};
  g_made = 0;
}

const void *throw_place(const void *object) { return object != nullptr && object == g_object ? g_place : nullptr; }

}  // namespace mlusim

using namespace mlusim;

extern "C" {
[[noreturn]] MLUSIM_API void mlusim_throw(void *object, std::type_info *type,
                                          void (*destroy)(void *)) __asm__("__cxa_throw");
MLUSIM_API void *mlusim_allocate_exception(std::size_t bytes) __asm__("__cxa_allocate_exception");
MLUSIM_API int mlusim_acquire_guard(void *guard) __asm__("__cxa_guard_acquire");
MLUSIM_API void mlusim_release_guard(void *guard) __asm__("__cxa_guard_release");
MLUSIM_API void mlusim_abort_guard(void *guard) __asm__("__cxa_guard_abort");
}

void mlusim_throw(void *object, std::type_info *type, void (*destroy)(void *)) {
  if (core_with_stack(__builtin_return_address(0)) != nullptr) {
    g_place = __builtin_return_address(0);
    g_object = object;
  }
  g_throw.get()(object, type, destroy);
  __builtin_unreachable();
}

void *mlusim_allocate_exception(std::size_t bytes) {
  const bool on_core = core_with_stack(__builtin_return_address(0)) != nullptr;
  auto *const object = static_cast<char *>(g_allocate.get()(bytes));
  if (on_core) g_known[g_made++ % kMostKnown] = {object, object + bytes};
  return object;
}

int mlusim_acquire_guard(void *guard) {
  const void *const pc = __builtin_return_address(0);
  Core *const core = core_with_stack(pc);
  if (core == nullptr) return g_acquire.get()(guard);
  if (holds(core->constructions, guard)) {
    end_kernel("the constructor of a static variable needs the variable itself", pc);
  }
  core->intrinsic_pc = pc;
  while (any_other_constructs(*core, guard)) {  // waits here: the C++ runtime would wait for its own thread
    if (stop_reasons() != 0) stop_launch(pc);
    yield_core(*core);
  }
  const int mine = g_acquire.get()(guard);
  Constructions &own = core->constructions;
  if (mine != 0 && own.count < Constructions::kMost) own.guards[own.count++] = guard;
  return mine;
}

void mlusim_release_guard(void *guard) {
  if (Core *const core = current_core()) remove(core->constructions, guard);
  g_release.get()(guard);
}

void mlusim_abort_guard(void *guard) {
  if (Core *const core = current_core()) remove(core->constructions, guard);
  g_abort.get()(guard);
}
