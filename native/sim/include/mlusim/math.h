// The math library of the toolchain: functions of numbers, and of vectors in NRAM.
#ifndef MLUSIM_MATH_H_
#define MLUSIM_MATH_H_

#include "mlusim/types.h"

// MLUSIM_MATH_UNARY(form) is form(name) for each function of one operand, and so on.
#define MLUSIM_MATH_UNARY(form)                                                                               \
  form(abs) form(acos) form(asin) form(atan) form(ceil) form(cos) form(cosh) form(erf) form(exp) form(exp10)  \
      form(exp2) form(expm1) form(floor) form(log) form(log10) form(log1p) form(log2) form(round) form(rsqrt) \
          form(sin) form(sinh) form(sqrt) form(tan) form(tanh) form(trunc)
#define MLUSIM_MATH_BINARY(form) form(atan2) form(hypot) form(pow)

#define MLUSIM_DECLARE_UNARY(name)                                             \
  MLUSIM_API half __cn_scalar_##name##_f16(half x);                            \
  MLUSIM_API float __cn_scalar_##name##_f32(float x);                          \
  MLUSIM_API void __cn_vector_##name##_f16(int n, half *dst, const half *src); \
  MLUSIM_API void __cn_vector_##name##_f32(int n, float *dst, const float *src);
#define MLUSIM_DECLARE_BINARY(name)                                                               \
  MLUSIM_API half __cn_scalar_##name##_f16(half x, half y);                                       \
  MLUSIM_API float __cn_scalar_##name##_f32(float x, float y);                                    \
  MLUSIM_API void __cn_vector_##name##_f16(int n, half *dst, const half *src0, const half *src1); \
  MLUSIM_API void __cn_vector_##name##_f32(int n, float *dst, const float *src0, const float *src1);
MLUSIM_MATH_UNARY(MLUSIM_DECLARE_UNARY)
MLUSIM_MATH_BINARY(MLUSIM_DECLARE_BINARY)

#if MLUSIM_SINCE(372)
MLUSIM_API void __cn_vector_cast_f32_to_s32(int n, int *dst, const float *src);
MLUSIM_API void __cn_vector_mod_scalar_u64(int n, std::uint64_t *dst, const std::uint64_t *src, std::uint64_t divisor);
#endif

#endif  // MLUSIM_MATH_H_
