// Vector functions of one operand: __bang_abs, __bang_sqrt, __bang_active_exp and others.
#include <type_traits>

#include "check/domain.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "mlusim/elementwise.h"

MLUSIM_REALS(MLUSIM_DEFINE_UNARY, __bang_square, kSquare);
MLUSIM_REALS(MLUSIM_DEFINE_UNARY, __bang_relu, kRelu);
MLUSIM_REALS(MLUSIM_DEFINE_UNARY, __bang_abs, kAbs);
MLUSIM_DEFINE_UNARY(int, __bang_abs, kAbs)
MLUSIM_DEFINE_UNARY(float, __bang_recip, kRecip)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_recip, kRecip)
MLUSIM_DEFINE_UNARY(float, __bang_sqrt, kSqrt)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_sqrt, kSqrt)
MLUSIM_DEFINE_UNARY(float, __bang_rsqrt, kRsqrt)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_rsqrt, kRsqrt)
MLUSIM_DEFINE_UNARY(float, __bang_pow2, kPow2)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_pow2, kPow2)
MLUSIM_DEFINE_UNARY(float, __bang_log, kLog2)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_log, kLog2)
MLUSIM_DEFINE_UNARY(float, __bang_log2, kLog2)
MLUSIM_DEFINE_UNARY(float, __bang_sin, kSin)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_sin, kSin)
MLUSIM_DEFINE_UNARY(float, __bang_cos, kCos)
MLUSIM_DEFINE_UNARY(bfloat16_t, __bang_cos, kCos)
MLUSIM_DEFINE_UNARY(float, __bang_floor, kFloor)
MLUSIM_DEFINE_UNARY(float, __bang_round, kRound)
MLUSIM_DEFINE_UNARY(float, __bang_nearbyint, kRound)

MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_abs, kAbs);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_sign, kSign);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_relu, kRelu);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_recip, kRecip);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_reciphp, kRecip);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_recip_greater_1, kRecip);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_sqrt, kSqrt);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_sqrthp, kSqrt);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_rsqrt, kRsqrt);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_rsqrthp, kRsqrt);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_log, kLog);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_loghp, kLog);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_pow2, kPow2);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_tanh, kTanh);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_sin, kSin);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_UNARY, __bang_active_cos, kCos);

namespace mlusim {
namespace {

// The results of a table outside of its range.
struct Bounds {
  float lowest;  // smaller operands give `below`
  float below;
  float highest;  // larger operands give `above`
  float above;
};

constexpr float kSmallestHalf = 5.9604645e-8f;
constexpr float kInfinity = __builtin_inff();

template <typename T>
void apply(const Bounds &bounds, T *dst, const T *results, const T *values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(values[i]);
    dst[i] = value < bounds.lowest    ? static_cast<T>(bounds.below)
             : value > bounds.highest ? static_cast<T>(bounds.above)
                                      : results[i];
  }
}

// Works in blocks, so that dst may be src.
template <typename T>
void bounded_unary(const Call &call, Unary op, const Bounds &bounds, T *dst, const T *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, bytes)}, {count, bytes});
  if (!std::is_same_v<T, bfloat16_t>) domain_check(call, std::is_same_v<T, half>, src, count, read_element<T>);
  constexpr std::int64_t kBlock = 512;
  T results[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = count - first < kBlock ? count - first : kBlock;
    run_unary(op, type_of<T>(), results, src + first, block);
    apply(bounds, dst + first, results, src + first, block);
  }
  if (g_observers.init) shadow_elements(dst, sizeof(T), count, {src, sizeof(T), count});
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_BOUNDED(T, name, op, ...)                                                           \
  void name(T *dst, const T *src, int elem_count) {                                                       \
    mlusim::bounded_unary<T>(MLUSIM_CALL(#name), mlusim::Unary::op, {__VA_ARGS__}, dst, src, elem_count); \
  }
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_BOUNDED, __bang_active_exp, kExp, -7.75f, mlusim::kSmallestHalf, mlusim::kInfinity, 0);
MLUSIM_REALS(MLUSIM_DEFINE_BOUNDED, __bang_active_exp_less_0, kExp, -15.5f, mlusim::kSmallestHalf, mlusim::kInfinity,
             0);
MLUSIM_DEFINE_BOUNDED(half, __bang_active_exphp, kExp, -7.75f, mlusim::kSmallestHalf, mlusim::kInfinity, 0)
MLUSIM_DEFINE_BOUNDED(float, __bang_active_exphp, kExp, -15.0f, 3e-7f, mlusim::kInfinity, 0)
MLUSIM_REALS(MLUSIM_DEFINE_BOUNDED, __bang_active_sigmoid, kSigmoid, -7.75f, 0, 7.75f, 1);

// min(max(src, 0), nvalue)
#define MLUSIM_DEFINE_RELUN(T, name)                                                                  \
  void name(T *dst, const T *src, int elem_count, T nvalue) {                                         \
    const mlusim::Bounds bounds = {0, 0, static_cast<float>(nvalue), static_cast<float>(nvalue)};     \
    mlusim::bounded_unary<T>(MLUSIM_CALL(#name), mlusim::Unary::kRelu, bounds, dst, src, elem_count); \
  }
MLUSIM_REALS(MLUSIM_DEFINE_RELUN, __bang_relun);
