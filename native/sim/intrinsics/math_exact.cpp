// The functions of __cn_scalar_* and __cn_vector_* with an exact result, or a rounding mode in the
// name: arithmetic, casts, predicates.
#include <cmath>

#include "intrinsics/map.h"
#include "intrinsics/round_value.h"
#include "mlusim/math.h"

namespace mlusim {
namespace {

// ---- Rounded once -------------------------------------------------------------------------------

// Returns a double that rounds to the same float as the exact result: if the result is inexact, its
// last bit is set. `error` has the sign of the exact result minus `nearest`.
double sticky(double nearest, double error) {
  if (!(error < 0 || error > 0) || !std::isfinite(nearest)) return nearest;
  std::uint64_t bits = any_cpu::double_to_bits(nearest);
  if (bits % 2 == 0) bits = (error > 0) == (nearest > 0) ? bits + 1 : bits - 1;
  double result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

double add(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  return sticky(sum, (x - (sum - part)) + (y - part));
}
double sub(double x, double y) { return add(x, -y); }
double mul(double x, double y) { return x * y; }  // exact for two floats
double div(double x, double y) {
  const double quotient = x / y;
  const double rest = std::fma(-quotient, y, x);
  return sticky(quotient, y < 0 ? -rest : rest);
}
double rcp(double x) { return div(1, x); }

template <typename T>
T rounded(const char *name, double value) {
  return any_cpu::convert_value<T>(rounding_of(name), value);
}

// ---- Integers -----------------------------------------------------------------------------------

template <typename T>
T wrapped(std::make_unsigned_t<T> value) {
  return static_cast<T>(value);
}

template <typename T>
struct Integers {
  using Unsigned = std::make_unsigned_t<T>;
  static T add(T x, T y) { return wrapped<T>(static_cast<Unsigned>(x) + static_cast<Unsigned>(y)); }
  static T sub(T x, T y) { return wrapped<T>(static_cast<Unsigned>(x) - static_cast<Unsigned>(y)); }
  static T mul(T x, T y) { return wrapped<T>(static_cast<Unsigned>(x) * static_cast<Unsigned>(y)); }
  // Like __bang_div: division by 0 gives 0, and the negation of the most negative number is that
  // number.
  static T div(T x, T y) {
    if (y == 0) return 0;
    return std::is_signed<T>::value && y == static_cast<T>(-1) ? sub(0, x) : static_cast<T>(x / y);
  }
  static T max(T x, T y) { return y > x ? y : x; }
  static T min(T x, T y) { return y < x ? y : x; }
};

// ---- Casts --------------------------------------------------------------------------------------

float toward_zero(std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int bits = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  const int dropped = bits > 24 ? bits - 24 : 0;
  const float result = std::ldexp(static_cast<float>(magnitude >> dropped), dropped);
  return value < 0 ? -result : result;
}

std::int64_t saturated(double value) {
  if (!(value < 9223372036854775808.0)) return value != value ? 0 : INT64_MAX;
  return value < -9223372036854775808.0 ? INT64_MIN : static_cast<std::int64_t>(value);
}

template <typename To, typename From>
To cast(const char *name, From value) {
  if constexpr (std::is_integral<To>::value && std::is_integral<From>::value) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same<From, std::int64_t>::value) {
    return toward_zero(value);
  } else if constexpr (std::is_same<To, std::int64_t>::value) {
    return saturated(any_cpu::value_of(value));
  } else {
    return rounded<To>(name, any_cpu::value_of(value));
  }
}

// ---- The rest -----------------------------------------------------------------------------------

bool isinf(double x) { return std::isinf(x); }
bool isnan(double x) { return std::isnan(x); }

// Rounds to nearest. A value beyond the range of double is also beyond the range of the type.
template <typename T>
T scalbn(T x, int y) {
  return any_cpu::convert_value<T>(Rounding::kNearestEven, std::scalbn(any_cpu::value_of(x), y));
}

}  // namespace
}  // namespace mlusim

// Defines a scalar and a vector function by one expression.
#define MLUSIM_DEFINE_OF_ONE(name, To, From, expression)                                                         \
  To __cn_scalar_##name(From x) { return expression; }                                                           \
  void __cn_vector_##name(int n, To *dst, const From *src) {                                                     \
    mlusim::map_vector(MLUSIM_CALL("__cn_vector_" #name), dst, src, n, [](From x) -> To { return expression; }); \
  }
#define MLUSIM_DEFINE_OF_TWO(name, T, Second, expression)                      \
  T __cn_scalar_##name(T x, Second y) { return expression; }                   \
  void __cn_vector_##name(int n, T *dst, const T *src0, const Second *src1) {  \
    mlusim::map_vectors(MLUSIM_CALL("__cn_vector_" #name), dst, src0, src1, n, \
                        [](T x, Second y) -> T { return expression; });        \
  }
#define MLUSIM_VALUE(x) mlusim::any_cpu::value_of(x)
#define MLUSIM_DEFINE_ROUNDED(name, operation, T) \
  MLUSIM_DEFINE_OF_TWO(name, T, T, mlusim::rounded<T>(#name, mlusim::operation(MLUSIM_VALUE(x), MLUSIM_VALUE(y))))
#define MLUSIM_DEFINE_RECIPROCAL(name, operation, T) \
  MLUSIM_DEFINE_OF_ONE(name, T, T, mlusim::rounded<T>(#name, mlusim::operation(MLUSIM_VALUE(x))))
#define MLUSIM_DEFINE_INTEGER(name, operation, T) MLUSIM_DEFINE_OF_TWO(name, T, T, mlusim::Integers<T>::operation(x, y))
#define MLUSIM_DEFINE_CAST(name, To, From) MLUSIM_DEFINE_OF_ONE(name, To, From, (mlusim::cast<To, From>(#name, x)))
#define MLUSIM_DEFINE_SCALBN(name, T) MLUSIM_DEFINE_OF_TWO(name, T, int, mlusim::scalbn(x, y))
MLUSIM_MATH_ALL_ROUNDED(MLUSIM_DEFINE_ROUNDED)
MLUSIM_MATH_RECIPROCALS(MLUSIM_DEFINE_RECIPROCAL)
MLUSIM_MATH_INTEGERS(MLUSIM_DEFINE_INTEGER)
MLUSIM_MATH_CASTS(MLUSIM_DEFINE_CAST)
MLUSIM_DEFINE_OF_ONE(isinf_f16, short, half, mlusim::isinf(MLUSIM_VALUE(x)))
MLUSIM_DEFINE_OF_ONE(isinf_f32, int, float, mlusim::isinf(MLUSIM_VALUE(x)))
MLUSIM_DEFINE_OF_ONE(isnan_f16, short, half, mlusim::isnan(MLUSIM_VALUE(x)))
MLUSIM_DEFINE_OF_ONE(isnan_f32, int, float, mlusim::isnan(MLUSIM_VALUE(x)))
MLUSIM_DEFINE_SCALBN(scalbn_f16, half)
MLUSIM_DEFINE_SCALBN(scalbn_f32, float)

void __cn_vector_cast_f32_to_s32(int n, int *dst, const float *src) {
  mlusim::map_vector(MLUSIM_CALL("__cn_vector_cast_f32_to_s32"), dst, src, n,
                     [](float x) { return mlusim::cast<int, float>("cast_f32_to_s32", x); });
}
