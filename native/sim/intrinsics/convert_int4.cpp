// Conversions to and from integers of 4 bits. A byte holds two; the one with the even index is in
// its lower half.
#include <algorithm>
#include <cmath>

#include "intrinsics/operand.h"
#include "intrinsics/round_value.h"
#include "intrinsics/shadow.h"
#include "mlusim/convert.h"

namespace mlusim {
namespace {

constexpr double kSmallestInt4 = -8, kLargestInt4 = 7;

template <typename T>
constexpr bool kIsInt4 = std::is_same<T, int4x2_t>::value;

template <typename T>
std::int64_t bytes_of(std::int64_t count) {
  return kIsInt4<T> ? (count + 1) / 2 : count * std::int64_t{sizeof(T)};
}

int shift_of(std::int64_t i) { return i % 2 == 0 ? 0 : 4; }

void put_half_byte(unsigned char *byte, int shift, unsigned value) {
  *byte = static_cast<unsigned char>((*byte & ~(15u << shift)) | ((value & 15u) << shift));
}

template <typename T>
double load(const T *from, std::int64_t i) {
  if constexpr (kIsInt4<T>) {
    const int bits = (from[i / 2].bits >> shift_of(i)) & 15;
    return bits < 8 ? bits : bits - 16;
  } else {
    return any_cpu::value_of(from[i]);
  }
}

template <typename T>
void store(T *to, std::int64_t i, Rounding rounding, double value) {
  if constexpr (kIsInt4<T>) {
    const double whole = any_cpu::convert_value<double>(rounding, value);
    const int saturated = any_cpu::saturate<int>(whole, kSmallestInt4, kLargestInt4);
    put_half_byte(&to[i / 2].bits, shift_of(i), static_cast<unsigned>(saturated));
  } else {
    to[i] = any_cpu::convert_value<T>(rounding, value);
  }
}

template <typename T>
bool is_defined(const T *from, std::int64_t i) {
  if constexpr (kIsInt4<T>) return ((init_shadow(from)[i / 2] >> shift_of(i)) & 15) == 15;
  return shadow_defined(from + i, sizeof(T));
}

template <typename T>
void set_defined(T *to, std::int64_t i, bool defined) {
  if constexpr (kIsInt4<T>) {
    put_half_byte(init_shadow(to) + i / 2, shift_of(i), defined ? 15 : 0);
  } else {
    shadow_set(to + i, sizeof(T), defined);
  }
}

// The result is src * 2^exponent. dst may start at the address of src: if elements grow, they are
// converted from the last to the first.
template <typename To, typename From>
void convert_int4(const Call &call, Rounding rounding, int exponent, To *dst, const From *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t to_bytes = bytes_of<To>(count), from_bytes = bytes_of<From>(count);
  check_operands(call, {nram_source("src", src, from_bytes), nram_target("dst", dst, to_bytes)},
                 {count, std::max(to_bytes, from_bytes)});
  const double scale = std::ldexp(1.0, exponent);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = kIsInt4<From> ? count - 1 - k : k;
    if (g_observers.init) set_defined(dst, i, is_defined(src, i));
    store(dst, i, rounding, load(src, i) * scale);
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_REAL_TO_INT4(To, From, name)                                                            \
  void name(To *dst, const From *src, int src_count, int fix_position) {                                      \
    mlusim::convert_int4(MLUSIM_CALL(#name), mlusim::rounding_of(#name), -fix_position, dst, src, src_count); \
  }
#define MLUSIM_DEFINE_INT4_TO_REAL(To, From, name)                                                           \
  void name(To *dst, const From *src, int src_count, int fix_position) {                                     \
    mlusim::convert_int4(MLUSIM_CALL(#name), mlusim::rounding_of(#name), fix_position, dst, src, src_count); \
  }
#define MLUSIM_DEFINE_INTEGER_INT4(To, From, name)                                                              \
  void name(To *dst, const From *src, int src_count, int dst_position, int src_position) {                      \
    mlusim::convert_int4(MLUSIM_CALL(#name), mlusim::rounding_of(#name), src_position - dst_position, dst, src, \
                         src_count);                                                                            \
  }
MLUSIM_ALL_INT4_CONVERSIONS(MLUSIM_DEFINE_REAL_TO_INT4, MLUSIM_DEFINE_INT4_TO_REAL, MLUSIM_DEFINE_INTEGER_INT4);
