// The scalar unit of a core: its place, the kind of an address, single elements, bits, and printed
// text.
#ifndef MLUSIM_SCALAR_H_
#define MLUSIM_SCALAR_H_

#include <cassert>
#include <type_traits>

#include "mlusim/types.h"

MLUSIM_API bool __is_ipu();
MLUSIM_API bool __is_mpu();
MLUSIM_API bool __is_nram(const void *ptr);
MLUSIM_API bool __is_wram(const void *ptr);
MLUSIM_API bool __is_sram(const void *ptr);
#if MLUSIM_SINCE(372)
MLUSIM_API bool __is_dram(const void *ptr);  // GDRAM or LDRAM
#endif

// ---- Single elements ----------------------------------------------------------------------------

#if MLUSIM_SINCE(372)
#define MLUSIM_LOAD(T, name) MLUSIM_API T name(const T *p)
#define MLUSIM_STORE(T, name) MLUSIM_API void name(T *p, T value)
MLUSIM_LOAD(int, __load_nram);
MLUSIM_HALF_FLOAT(MLUSIM_LOAD, __load_nram);
MLUSIM_HALF_FLOAT(MLUSIM_LOAD, __load_sram);
MLUSIM_HALF_FLOAT(MLUSIM_LOAD, __load_gdram);
MLUSIM_HALF_FLOAT(MLUSIM_STORE, __store_sram);
MLUSIM_HALF_FLOAT(MLUSIM_STORE, __store_gdram);
#endif

// The device has these functions without `std::`. Declarations of a source or a namespace with the
// same names take precedence.
namespace mlusim {
template <typename T>
constexpr bool is_number() {
  return std::is_arithmetic<T>::value || std::is_same<T, half>::value;
}
}  // namespace mlusim
template <typename A, typename... B>
constexpr std::enable_if_t<sizeof...(B) == 1 && ::mlusim::is_number<A>() && (::mlusim::is_number<B>() && ...),
                           std::common_type_t<A, B...>>
min(A a, B... others) {
  const std::common_type_t<A, B...> first = a, second = (others, ...);
  return second < first ? second : first;
}
template <typename A, typename... B>
constexpr std::enable_if_t<sizeof...(B) == 1 && ::mlusim::is_number<A>() && (::mlusim::is_number<B>() && ...),
                           std::common_type_t<A, B...>>
max(A a, B... others) {
  const std::common_type_t<A, B...> first = a, second = (others, ...);
  return first < second ? second : first;
}

inline unsigned char __popcnt(unsigned char value) { return static_cast<unsigned char>(__builtin_popcount(value)); }
inline unsigned short __popcnt(unsigned short value) { return static_cast<unsigned short>(__builtin_popcount(value)); }
inline unsigned int __popcnt(unsigned int value) { return static_cast<unsigned int>(__builtin_popcount(value)); }

// ---- Text ---------------------------------------------------------------------------------------

extern "C" MLUSIM_API int mlusim_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

namespace mlusim {
// Converts a value for printf.
template <typename T>
auto printable(T value) {
  if constexpr (std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value || std::is_same<T, float>::value) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}
}  // namespace mlusim

// printf; a half is printed as a floating-point number.
template <typename... Values>
int __bang_printf(const char *format, Values... values) {
  static_assert(sizeof...(Values) <= 16, "__bang_printf takes at most 16 values");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  return mlusim_printf(format, ::mlusim::printable(values)...);
#pragma GCC diagnostic pop
}

// The C library has functions of the same names, which end the process; assert() calls one of them.
// In a kernel, __assert prints and continues; __assert_fail prints and ends the launch.
#define __assert mlusim_assert
#define __assert_fail mlusim_assert_fail
extern "C" MLUSIM_API void mlusim_assert(const char *assertion, const char *file, int line);
extern "C" [[noreturn]] MLUSIM_API void mlusim_assert_fail(const char *message, const char *file, unsigned int line,
                                                           const char *function) noexcept;

#endif  // MLUSIM_SCALAR_H_
