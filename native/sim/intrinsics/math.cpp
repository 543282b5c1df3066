// __cn_scalar_*, __cn_vector_*: computed in double and rounded once.
#include "mlusim/math.h"

#include <cmath>
#include <cstring>

#include "intrinsics/error_function.h"
#include "intrinsics/map.h"

namespace mlusim {
namespace {

double exp10(double x) { return std::pow(10.0, x); }
double rsqrt(double x) { return 1.0 / std::sqrt(x); }
using std::abs;
using std::acos;
using std::asin;
using std::atan;
using std::atan2;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::exp;
using std::exp2;
using std::expm1;
using std::floor;
using std::hypot;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::pow;
using std::round;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

double mod(double x, double y) { return std::fmod(x, y); }
// Returns the other operand if one is NaN.
double max(double x, double y) { return y > x || x != x ? y : x; }
double min(double x, double y) { return y < x || x != x ? y : x; }

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_UNARY_OF(name, suffix, T)                                                         \
  T __cn_scalar_##name##_##suffix(T x) { return static_cast<T>(mlusim::name(static_cast<double>(x))); } \
  void __cn_vector_##name##_##suffix(int n, T *dst, const T *src) {                                     \
    mlusim::map_vector(MLUSIM_CALL("__cn_vector_" #name "_" #suffix), dst, src, n,                      \
                       [](T x) { return static_cast<T>(mlusim::name(static_cast<double>(x))); });       \
  }
#define MLUSIM_DEFINE_BINARY_OF(name, suffix, T)                                                          \
  T __cn_scalar_##name##_##suffix(T x, T y) {                                                             \
    return static_cast<T>(mlusim::name(static_cast<double>(x), static_cast<double>(y)));                  \
  }                                                                                                       \
  void __cn_vector_##name##_##suffix(int n, T *dst, const T *src0, const T *src1) {                       \
    mlusim::map_vectors(MLUSIM_CALL("__cn_vector_" #name "_" #suffix), dst, src0, src1, n, [](T x, T y) { \
      return static_cast<T>(mlusim::name(static_cast<double>(x), static_cast<double>(y)));                \
    });                                                                                                   \
  }
#define MLUSIM_DEFINE_UNARY(name)         \
  MLUSIM_DEFINE_UNARY_OF(name, f16, half) \
  MLUSIM_DEFINE_UNARY_OF(name, f32, float)
#define MLUSIM_DEFINE_BINARY(name)         \
  MLUSIM_DEFINE_BINARY_OF(name, f16, half) \
  MLUSIM_DEFINE_BINARY_OF(name, f32, float)
MLUSIM_MATH_UNARY(MLUSIM_DEFINE_UNARY)
MLUSIM_MATH_BINARY(MLUSIM_DEFINE_BINARY)

void __cn_vector_mod_scalar_u64(int n, std::uint64_t *dst, const std::uint64_t *src, std::uint64_t divisor) {
  mlusim::map_vector(MLUSIM_CALL("__cn_vector_mod_scalar_u64"), dst, src, n,
                     [divisor](std::uint64_t x) { return divisor == 0 ? 0 : x % divisor; });
}
