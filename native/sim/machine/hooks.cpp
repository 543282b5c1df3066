// Scalar accesses of kernels. Kernels are compiled with -fsanitize=thread, but without its library:
// these functions take its place. They ignore the host code of the same files.
#include "machine/hooks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "machine/array.h"
#include "machine/fiber.h"
#include "machine/launch.h"
#include "machine/lines.h"
#include "machine/missing_memory.h"
#include "machine/observer.h"
#include "machine/trap.h"
#include "mlusim.h"

namespace mlusim {
namespace {

// The number of polls of memory after which another core gets its turn.
constexpr unsigned kPollsPerTurn = 64;

// Whether the address lies in a segment of a library, with constants, tables or static variables.
// The loader is asked once per page.
bool is_library_address(const void *address) {
  constexpr int kPages = 256;
  static std::uintptr_t known[kPages];
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) >> 12;
  std::uintptr_t &slot = known[page % kPages];
  if (page != 0 && slot == page) return true;
  if (!in_loaded_library(address, nullptr)) return false;
  slot = page;
  return true;
}

// Whether the kernel may store there: into variables of its own library. Those of the host's
// libraries are memory of the host.
// The loader is asked once per page and launch.
bool is_own_variable(const void *address, const void *pc) {
  constexpr int kPages = 64;
  static struct {
    std::uintptr_t page = 0;
    std::uint64_t launch = 0;
  } known[kPages];
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) >> 12;
  auto &slot = known[page % kPages];
  if (slot.page == page && slot.launch == launch_count()) return true;
  if (!same_library(address, pc) && !same_library(address, running_launch()->unit)) return false;
  slot.page = page;
  slot.launch = launch_count();
  return true;
}

Space space_of(const void *address, Kind kind, const void *pc) {
  const Space space = locate(address).space;
  if (space != Space::kHost) return space;
  if (is_argument(address)) return Space::kParam;
  if (constant_near(address) != nullptr) return Space::kCode;
  if (!is_library_address(address)) return Space::kHost;
  return kind == Kind::kRead || is_own_variable(address, pc) ? Space::kCode : Space::kHost;
}

void touch(Core &core, const void *address, std::size_t bytes, Kind kind, const void *pc) {
  if (stop_reasons() != 0) stop_launch(pc);
  if (core.stack.holds(address) || is_exception(address)) return;
  const bool undoing = (attention() & kUndoing) != 0;
  if (undoing) undo_store_before(core, kind);
  if ((attention() & kSteps) != 0 && core.undone_store.place == nullptr) attend(core, pc);
  if (!g_observers.any() && !undoing) return;
  const Unstoppable whole;
  const Space space = core.is_scratch(address) ? Space::kHost : space_of(address, kind, pc);
  if (undoing && will_undo(core, address, bytes, kind, space, pc)) return;
  if (space == Space::kParam || (space == Space::kCode && constant_near(address) == nullptr)) return;
  static constexpr const char *kNames[] = {"scalar load", "scalar store", "scalar atomic"};
  const Region region = Region::plain(address, bytes);
  observe({core, kScalar, kind, space, region, kNames[static_cast<int>(kind)], pc});
}

inline void scalar(const void *address, std::size_t bytes, Kind kind, const void *pc) {
  if (!g_observers.any() && attention() == 0) return;
  Core *core = current_core();
  if (core == nullptr && (attention() & kStackCheck) != 0 && has_left_stack()) end_for_stack(pc);
  if (core == nullptr || bytes == 0) return;
  require_stack(*core, pc);
  core->intrinsic_pc = pc;  // checkers run on the core's stack, and may end the launch here
  touch(*core, address, bytes, kind, pc);
}

// Lets another core run if this one polls memory that the other has to write.
void poll(const void *pc) {
  Core *core = current_core();
  if (core == nullptr || core->undone_store.place != nullptr || ++core->polls % kPollsPerTurn != 0) return;
  core->intrinsic_pc = pc;
  yield_core(*core);
}

// Exchanges a value if it is the expected one; otherwise the expected one becomes the value. Both
// places may lie in the memory of the device.
template <typename T>
bool compare_exchange(volatile T *address, T *expected, T value, bool weak, const void *pc) {
  scalar(expected, sizeof(T), Kind::kRead, pc);
  T seen = *expected;
  scalar(const_cast<T *>(address), sizeof(T), Kind::kAtomic, pc);
  if (__atomic_compare_exchange_n(address, &seen, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
  scalar(expected, sizeof(T), Kind::kWrite, pc);
  *expected = seen;
  return false;
}

}  // namespace

void announce(const void *address, std::size_t bytes, Kind kind, const void *pc) { scalar(address, bytes, kind, pc); }

}  // namespace mlusim

#define MLUSIM_HOOK extern "C" MLUSIM_API void
#define MLUSIM_PC __builtin_return_address(0)
#define MLUSIM_READ mlusim::Kind::kRead
#define MLUSIM_WRITE mlusim::Kind::kWrite

MLUSIM_HOOK __tsan_init(void) {}
MLUSIM_HOOK __tsan_func_entry(void *) {}
MLUSIM_HOOK __tsan_func_exit(void) {}

#define MLUSIM_HOOKS(prefix, bytes)                                                                                   \
  MLUSIM_HOOK __tsan_##prefix##read##bytes(void *address) { mlusim::scalar(address, bytes, MLUSIM_READ, MLUSIM_PC); } \
  MLUSIM_HOOK __tsan_##prefix##write##bytes(void *address) {                                                          \
    mlusim::scalar(address, bytes, MLUSIM_WRITE, MLUSIM_PC);                                                          \
  }                                                                                                                   \
  MLUSIM_HOOK __tsan_##prefix##volatile_read##bytes(void *address) {                                                  \
    mlusim::scalar(address, bytes, MLUSIM_READ, MLUSIM_PC);                                                           \
    mlusim::poll(MLUSIM_PC);                                                                                          \
  }                                                                                                                   \
  MLUSIM_HOOK __tsan_##prefix##volatile_write##bytes(void *address) {                                                 \
    mlusim::scalar(address, bytes, MLUSIM_WRITE, MLUSIM_PC);                                                          \
  }
#define MLUSIM_ALL_HOOKS(bytes) MLUSIM_HOOKS(, bytes) MLUSIM_HOOKS(unaligned_, bytes)
MLUSIM_ALL_HOOKS(1)
MLUSIM_ALL_HOOKS(2)
MLUSIM_ALL_HOOKS(4)
MLUSIM_ALL_HOOKS(8)
MLUSIM_ALL_HOOKS(16)

MLUSIM_HOOK __tsan_read_range(void *address, std::size_t bytes) {
  mlusim::scalar(address, bytes, MLUSIM_READ, MLUSIM_PC);
}
MLUSIM_HOOK __tsan_write_range(void *address, std::size_t bytes) {
  mlusim::scalar(address, bytes, MLUSIM_WRITE, MLUSIM_PC);
}
MLUSIM_HOOK __tsan_vptr_update(void **, void *) {}
MLUSIM_HOOK __tsan_vptr_read(void **) {}

extern "C" MLUSIM_API void *__tsan_memcpy(void *target, const void *source, std::size_t bytes) {
  mlusim::scalar(source, bytes, MLUSIM_READ, MLUSIM_PC);
  mlusim::scalar(target, bytes, MLUSIM_WRITE, MLUSIM_PC);
  return std::memcpy(target, source, bytes);
}
extern "C" MLUSIM_API void *__tsan_memmove(void *target, const void *source, std::size_t bytes) {
  mlusim::scalar(source, bytes, MLUSIM_READ, MLUSIM_PC);
  mlusim::scalar(target, bytes, MLUSIM_WRITE, MLUSIM_PC);
  return std::memmove(target, source, bytes);
}
extern "C" MLUSIM_API void *__tsan_memset(void *target, int value, std::size_t bytes) {
  mlusim::scalar(target, bytes, MLUSIM_WRITE, MLUSIM_PC);
  return std::memset(target, value, bytes);
}

// ---- Atomics of the language: guards of static variables, and <atomic> in kernels ---------------

#define MLUSIM_ATOMIC(address, bytes)                                                                                 \
  mlusim::scalar(const_cast<const void *>(static_cast<const volatile void *>(address)), bytes, mlusim::Kind::kAtomic, \
                 MLUSIM_PC)
#define MLUSIM_ATOMIC_FETCH(bits, type, name)                                                              \
  extern "C" MLUSIM_API type __tsan_atomic##bits##_fetch_##name(volatile type *address, type value, int) { \
    MLUSIM_ATOMIC(address, sizeof(type));                                                                  \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST);                                        \
  }
#define MLUSIM_ATOMICS(bits, type)                                                                                \
  extern "C" MLUSIM_API type __tsan_atomic##bits##_load(const volatile type *address, int) {                      \
    MLUSIM_ATOMIC(address, sizeof(type));                                                                         \
    mlusim::poll(MLUSIM_PC);                                                                                      \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                               \
  MLUSIM_HOOK __tsan_atomic##bits##_store(volatile type *address, type value, int) {                              \
    MLUSIM_ATOMIC(address, sizeof(type));                                                                         \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                               \
  extern "C" MLUSIM_API type __tsan_atomic##bits##_exchange(volatile type *address, type value, int) {            \
    MLUSIM_ATOMIC(address, sizeof(type));                                                                         \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                               \
  extern "C" MLUSIM_API int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, \
                                                                          type value, int, int) {                 \
    return mlusim::compare_exchange(address, expected, value, false, MLUSIM_PC);                                  \
  }                                                                                                               \
  extern "C" MLUSIM_API int __tsan_atomic##bits##_compare_exchange_weak(volatile type *address, type *expected,   \
                                                                        type value, int, int) {                   \
    return mlusim::compare_exchange(address, expected, value, true, MLUSIM_PC);                                   \
  }                                                                                                               \
  extern "C" MLUSIM_API type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected,    \
                                                                        type value, int, int) {                   \
    MLUSIM_ATOMIC(address, sizeof(type));                                                                         \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
    return expected;                                                                                              \
  }                                                                                                               \
  MLUSIM_ATOMIC_FETCH(bits, type, add)                                                                            \
  MLUSIM_ATOMIC_FETCH(bits, type, sub)                                                                            \
  MLUSIM_ATOMIC_FETCH(bits, type, and)                                                                            \
  MLUSIM_ATOMIC_FETCH(bits, type, nand)                                                                           \
  MLUSIM_ATOMIC_FETCH(bits, type, or)                                                                             \
  MLUSIM_ATOMIC_FETCH(bits, type, xor)
MLUSIM_ATOMICS(8, std::uint8_t)
MLUSIM_ATOMICS(16, std::uint16_t)
MLUSIM_ATOMICS(32, std::uint32_t)
MLUSIM_ATOMICS(64, std::uint64_t)

MLUSIM_HOOK __tsan_atomic_thread_fence(int) {}
MLUSIM_HOOK __tsan_atomic_signal_fence(int) {}
