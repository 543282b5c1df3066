// memcpy, memmove and memset in kernels. GCC reports small ones to the checkers as stores of
// numbers, but not the others.
#ifndef MLUSIM_BYTES_H_
#define MLUSIM_BYTES_H_

#include <cstddef>
#include <cstring>

#include "mlusim/types.h"

#if defined(__GNUC__) && !defined(__clang__)

namespace mlusim {

extern "C" {
MLUSIM_API void *announced_memcpy(void *target, const void *source, std::size_t bytes) __asm__("__tsan_memcpy");
MLUSIM_API void *announced_memmove(void *target, const void *source, std::size_t bytes) __asm__("__tsan_memmove");
MLUSIM_API void *announced_memset(void *target, int value, std::size_t bytes) __asm__("__tsan_memset");
}

}  // namespace mlusim

extern "C" {
// A copy of 1, 2, 4, 8 or 16 bytes is a load and a store.
MLUSIM_INLINED inline void *mlusim_memcpy(void *target, const void *source, std::size_t bytes) {
  const bool is_number = __builtin_constant_p(bytes) && bytes <= 16 && (bytes & (bytes - 1)) == 0;
  return is_number ? __builtin_memcpy(target, source, bytes) : mlusim::announced_memcpy(target, source, bytes);
}
MLUSIM_INLINED inline void *mlusim_memmove(void *target, const void *source, std::size_t bytes) {
  return mlusim::announced_memmove(target, source, bytes);
}
MLUSIM_INLINED inline void *mlusim_memset(void *target, int value, std::size_t bytes) {
  return mlusim::announced_memset(target, value, bytes);
}
}
namespace std {
using ::mlusim_memcpy;
using ::mlusim_memmove;
using ::mlusim_memset;
}  // namespace std

// Macros with arguments, so that the names alone still mean the functions of the C library.
#define memcpy(...) mlusim_memcpy(__VA_ARGS__)
#define memmove(...) mlusim_memmove(__VA_ARGS__)
#define memset(...) mlusim_memset(__VA_ARGS__)

#endif

#endif  // MLUSIM_BYTES_H_
