// The math library of the toolchain: functions of scalars, and of vectors in NRAM.
#ifndef MLUSIM_MATH_H_
#define MLUSIM_MATH_H_

#include "mlusim/types.h"

// MLUSIM_MATH_UNARY(form) expands to form(name) for each function of one operand; the others
// likewise.
#define MLUSIM_MATH_UNARY(form)                                                                                   \
  form(abs) form(acos) form(asin) form(atan) form(ceil) form(cos) form(cosh) form(erf) form(erfcinv) form(erfinv) \
      form(exp) form(exp10) form(exp2) form(expm1) form(floor) form(log) form(log10) form(log1p) form(log2)       \
          form(round) form(rsqrt) form(sin) form(sinh) form(sqrt) form(tan) form(tanh) form(trunc)
#define MLUSIM_MATH_BINARY(form) form(atan2) form(hypot) form(max) form(min) form(mod) form(pow)

#define MLUSIM_DECLARE_UNARY_OF(name, T) \
  MLUSIM_API T __cn_scalar_##name(T x);  \
  MLUSIM_API void __cn_vector_##name(int n, T *dst, const T *src);
#define MLUSIM_DECLARE_BINARY_OF(name, T)    \
  MLUSIM_API T __cn_scalar_##name(T x, T y); \
  MLUSIM_API void __cn_vector_##name(int n, T *dst, const T *src0, const T *src1);
#define MLUSIM_DECLARE_UNARY(name)          \
  MLUSIM_DECLARE_UNARY_OF(name##_f16, half) \
  MLUSIM_DECLARE_UNARY_OF(name##_f32, float)
#define MLUSIM_DECLARE_BINARY(name)          \
  MLUSIM_DECLARE_BINARY_OF(name##_f16, half) \
  MLUSIM_DECLARE_BINARY_OF(name##_f32, float)
MLUSIM_MATH_UNARY(MLUSIM_DECLARE_UNARY)
MLUSIM_MATH_BINARY(MLUSIM_DECLARE_BINARY)

// The last part of the name gives the rounding: form(name_<type>_<rounding>, operation, type).
#define MLUSIM_MATH_ROUNDED(form, name, operation)                                                                     \
  form(name##_f16_dn, operation, half) form(name##_f16_rn, operation, half) form(name##_f16_tz, operation, half)       \
      form(name##_f16_up, operation, half) form(name##_f32_dn, operation, float) form(name##_f32_rn, operation, float) \
          form(name##_f32_tz, operation, float) form(name##_f32_up, operation, float)
#define MLUSIM_MATH_ALL_ROUNDED(form) \
  MLUSIM_MATH_ROUNDED(form, add, add) \
  MLUSIM_MATH_ROUNDED(form, sub, sub) \
  MLUSIM_MATH_ROUNDED(form, mul, mul) \
  MLUSIM_MATH_ROUNDED(form, div, div)
#define MLUSIM_MATH_RECIPROCALS(form) MLUSIM_MATH_ROUNDED(form, rcp, rcp)
// Integers wrap.
#define MLUSIM_MATH_OF_32_BITS(form, operation) \
  form(operation##_s32, operation, std::int32_t) form(operation##_u32, operation, std::uint32_t)
#define MLUSIM_MATH_OF_64_BITS(form, operation) \
  form(operation##_s64, operation, std::int64_t) form(operation##_u64, operation, std::uint64_t)
#define MLUSIM_MATH_INTEGERS(form)  \
  MLUSIM_MATH_OF_32_BITS(form, add) \
  MLUSIM_MATH_OF_32_BITS(form, sub) \
  MLUSIM_MATH_OF_32_BITS(form, mul) \
  MLUSIM_MATH_OF_32_BITS(form, div) \
  MLUSIM_MATH_OF_32_BITS(form, max) \
  MLUSIM_MATH_OF_32_BITS(form, min) MLUSIM_MATH_OF_64_BITS(form, add) MLUSIM_MATH_OF_64_BITS(form, max)
#define MLUSIM_DECLARE_UNARY_NAMED(name, operation, T) MLUSIM_DECLARE_UNARY_OF(name, T)
#define MLUSIM_DECLARE_BINARY_NAMED(name, operation, T) MLUSIM_DECLARE_BINARY_OF(name, T)
MLUSIM_MATH_ALL_ROUNDED(MLUSIM_DECLARE_BINARY_NAMED)
MLUSIM_MATH_RECIPROCALS(MLUSIM_DECLARE_UNARY_NAMED)
MLUSIM_MATH_INTEGERS(MLUSIM_DECLARE_BINARY_NAMED)

// form(name, type of the result, type of the operand)
#define MLUSIM_MATH_CASTS(form)                                                                                      \
  form(cast_f16_to_f32, float, half) form(cast_f32_to_f16_rn, half, float) form(cast_f32_to_s32_dn, int, float)      \
      form(cast_f32_to_s32_rn, int, float) form(cast_f32_to_s32_tz, int, float) form(cast_f32_to_s32_up, int, float) \
          form(cast_f32_to_s64_tz, std::int64_t, float) form(cast_f32_to_u32_rn, unsigned int, float)                \
              form(cast_s32_to_f32_rn, float, int) form(cast_s32_to_s64, std::int64_t, int)                          \
                  form(cast_s64_to_f32_tz, float, std::int64_t) form(cast_u32_to_f32_rn, float, unsigned int)        \
                      form(cast_u32_to_u64, std::uint64_t, unsigned int)                                             \
                          form(cast_u8_to_s64, std::int64_t, unsigned char)
// 1 or 0, as an integer as wide as the operand.
#define MLUSIM_MATH_QUESTIONS(form) \
  form(isinf_f16, short, half) form(isinf_f32, int, float) form(isnan_f16, short, half) form(isnan_f32, int, float)
#define MLUSIM_DECLARE_CHANGE(name, To, From) \
  MLUSIM_API To __cn_scalar_##name(From x);   \
  MLUSIM_API void __cn_vector_##name(int n, To *dst, const From *src);
MLUSIM_MATH_CASTS(MLUSIM_DECLARE_CHANGE)
MLUSIM_MATH_QUESTIONS(MLUSIM_DECLARE_CHANGE)

// x * 2^y
#define MLUSIM_DECLARE_SCALBN(name, T)         \
  MLUSIM_API T __cn_scalar_##name(T x, int y); \
  MLUSIM_API void __cn_vector_##name(int n, T *dst, const T *src0, const int *src1);
MLUSIM_DECLARE_SCALBN(scalbn_f16, half)
MLUSIM_DECLARE_SCALBN(scalbn_f32, float)

#if MLUSIM_SINCE(372)
MLUSIM_API void __cn_vector_cast_f32_to_s32(int n, int *dst, const float *src);
MLUSIM_API void __cn_vector_mod_scalar_u64(int n, std::uint64_t *dst, const std::uint64_t *src, std::uint64_t divisor);
#endif

#endif  // MLUSIM_MATH_H_
