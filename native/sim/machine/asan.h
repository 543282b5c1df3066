// Tells the address sanitizer about changes of stacks; does nothing in other builds.
#ifndef MLUSIM_MACHINE_ASAN_H_
#define MLUSIM_MACHINE_ASAN_H_

#include "machine/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define MLUSIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MLUSIM_ASAN 1
#endif
#endif

#ifdef MLUSIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace mlusim {

// The running code is about to leave this stack for `target`; without a `state`, for good.
inline void asan_leave([[maybe_unused]] void **state, [[maybe_unused]] const Range &target) {
#ifdef MLUSIM_ASAN
  __sanitizer_start_switch_fiber(state, target.begin, target.size());
#endif
}

// This stack continues with the `state` that was saved when it was left, or begins with null.
// `*origin` becomes the stack that was left.
inline void asan_arrived([[maybe_unused]] void *state, [[maybe_unused]] Range *origin) {
#ifdef MLUSIM_ASAN
  const void *bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(state, &bottom, &size);
  char *begin = static_cast<char *>(const_cast<void *>(bottom));
  if (origin != nullptr) *origin = {begin, begin + size};
#endif
}

inline void asan_clear([[maybe_unused]] const Range &stack) {
#ifdef MLUSIM_ASAN
  __asan_unpoison_memory_region(stack.begin, stack.size());
#endif
}

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ASAN_H_
