// __bang_active_gelu and related functions, __bang_taylor3_*, __bang_taylor4_*: computed in double
// and rounded once.
#include "mlusim/activation.h"

#include <cmath>
#include <type_traits>

#include "check/domain.h"
#include "intrinsics/map.h"
#include "intrinsics/vector.h"

namespace mlusim {
namespace {

// The value that a device gives below the range of its table.
double gelu(double x) {
  if (x < -3.875) return -5.9604644775390625e-8;
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <typename T>
void activate(const Call &call, double (*function)(double), T *dst, const T *src, int count) {
  if (!call.core.is_mpu() && count > 0) {
    check_place(call, nram_source("src", src, count * std::int64_t{sizeof(T)}));
    domain_check(call, std::is_same_v<T, half>, src, count, read_element<T>);
  }
  map_vector(call, dst, src, count, [function](T x) { return static_cast<T>(function(static_cast<double>(x))); });
  if (!call.core.is_mpu()) drop_zero_signs(type_of<T>(), dst, count);
}

template <typename T>
void taylor(const Call &call, double (*function)(double), T *dst, const T *src, T *tmp1, T *tmp2, int count) {
  activate(call, function, dst, src, count);
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  spoil(call, "tmp1", tmp1, bytes);
  spoil(call, "tmp2", tmp2, bytes);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_ACTIVATION(T, name, function)                               \
  void name(T *dst, const T *src, int elem_count) {                               \
    mlusim::activate(MLUSIM_CALL(#name), mlusim::function, dst, src, elem_count); \
  }
#define MLUSIM_DEFINE_TAYLOR(T, name, function)                                             \
  void name(T *dst, const T *src, T *tmp1, T *tmp2, int elem_count) {                       \
    mlusim::taylor(MLUSIM_CALL(#name), mlusim::function, dst, src, tmp1, tmp2, elem_count); \
  }
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_ACTIVATION, __bang_active_gelu, gelu);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_ACTIVATION, __bang_active_gelup, gelu);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_ACTIVATION, __bang_active_sigmoid_hp, sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor3_sin, sine);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor3_cos, cosine);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor3_tanh, hyperbolic_tangent);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor3_sigmoid, sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor3_softplus, softplus);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor4_sin, sine);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor4_cos, cosine);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor4_tanh, hyperbolic_tangent);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor4_sigmoid, sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_TAYLOR, __bang_taylor4_softplus, softplus);
