// Vector arithmetic, logic, bit operations and functions of one operand. All operands lie in NRAM;
// counts are elements.
#ifndef MLUSIM_ELEMENTWISE_H_
#define MLUSIM_ELEMENTWISE_H_

#include "mlusim/types.h"

// dst[i] = src0[i] op src1[i]
#define MLUSIM_BINARY(T, name) MLUSIM_API void name(T *dst, const T *src0, const T *src1, int elem_count)
// dst[i] = src[i] op value
#define MLUSIM_SCALAR(T, name) MLUSIM_API void name(T *dst, const T *src, T value, int elem_count)
// dst[i] = src[i] op seg[i % seg_elem_count]
#define MLUSIM_CYCLE(T, name) \
  MLUSIM_API void name(T *dst, const T *src, const T *seg, int src_elem_count, int seg_elem_count)
// dst[i] = op src[i]
#define MLUSIM_UNARY(T, name) MLUSIM_API void name(T *dst, const T *src, int elem_count)

// ---- Arithmetic ---------------------------------------------------------------------------------

MLUSIM_REALS(MLUSIM_BINARY, __bang_add);
MLUSIM_REALS(MLUSIM_BINARY, __bang_sub);
MLUSIM_REALS(MLUSIM_BINARY, __bang_mul);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_add_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_sub_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_mul_scalar);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_add);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_sub);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_mul);
// Older spellings.
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_add_const);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_sub_const);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_mul_const);
// Rounded toward zero.
MLUSIM_HALF_FLOAT(MLUSIM_BINARY, __bang_add_tz);
MLUSIM_HALF_FLOAT(MLUSIM_CYCLE, __bang_cycle_add_tz);

#if MLUSIM_SINCE(372)
MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_add);
MLUSIM_BINARY(std::int64_t, __bang_add);
MLUSIM_BINARY(std::uint64_t, __bang_add);
MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_sub);
MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_mul);
MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_add_scalar);
MLUSIM_SCALAR(std::int64_t, __bang_add_scalar);
MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_sub_scalar);
MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_mul_scalar);
MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_add);
MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_sub);
MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_mul);
#endif

// The form with scratch memory computes src0 * (1 / src1) and overwrites `src_addition`.
#define MLUSIM_DIV_SCRATCH(T, name) \
  MLUSIM_API void name(T *dst, const T *src0, const T *src1, T *src_addition, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_DIV_SCRATCH, __bang_div);
#if MLUSIM_SINCE(300) && MLUSIM_NOT(372)
MLUSIM_HALF_FLOAT(MLUSIM_BINARY, __bang_div);
MLUSIM_WORDS(MLUSIM_BINARY, __bang_div);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_div);
MLUSIM_WORDS(MLUSIM_SCALAR, __bang_div);
MLUSIM_WORDS(MLUSIM_BINARY, __bang_rem);
MLUSIM_WORDS(MLUSIM_SCALAR, __bang_rem);
MLUSIM_SCALAR(float, __bang_rem);
#endif

#define MLUSIM_FUSION_VECTORS(T, name)                                                               \
  MLUSIM_API void name(mluFusionOpCode op_code, T *dst, const T *src0, const T *src1, const T *src2, \
                       int dst_src0_elem_count, int src1_src2_elem_count)
#define MLUSIM_FUSION_VECTOR_SCALAR(T, name)                                                                           \
  MLUSIM_API void name(mluFusionOpCode op_code, T *dst, const T *src0, const T *src1, T src2, int dst_src0_elem_count, \
                       int src1_elem_count)
#define MLUSIM_FUSION_SCALAR_VECTOR(T, name)                                                                           \
  MLUSIM_API void name(mluFusionOpCode op_code, T *dst, const T *src0, T src1, const T *src2, int dst_src0_elem_count, \
                       int src2_elem_count)
#define MLUSIM_FUSION_SCALARS(T, name) \
  MLUSIM_API void name(mluFusionOpCode op_code, T *dst, const T *src0, T src1, T src2, int dst_src0_elem_count)
#if MLUSIM_SINCE(300)
MLUSIM_REALS(MLUSIM_FUSION_VECTORS, __bang_fusion);
MLUSIM_REALS(MLUSIM_FUSION_VECTOR_SCALAR, __bang_fusion);
MLUSIM_REALS(MLUSIM_FUSION_SCALAR_VECTOR, __bang_fusion);
MLUSIM_REALS(MLUSIM_FUSION_SCALARS, __bang_fusion);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_FUSION_SCALARS(int, __bang_fusion);
MLUSIM_FUSION_SCALARS(unsigned int, __bang_fusion);
#endif

// ---- Larger and smaller -------------------------------------------------------------------------

MLUSIM_REALS(MLUSIM_BINARY, __bang_maxequal);
MLUSIM_REALS(MLUSIM_BINARY, __bang_minequal);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_maxequal);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_minequal);
// dst[i] = the larger one of src[i] and src[i + distance]
MLUSIM_API void __bang_maximum(half *dst, const half *src, int distance, int size);
#if MLUSIM_SINCE(300)
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_maxeq_scalar);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_mineq_scalar);
MLUSIM_HALF_FLOAT(MLUSIM_BINARY, __bang_nan_maximum);
MLUSIM_HALF_FLOAT(MLUSIM_BINARY, __bang_nan_minimum);
MLUSIM_HALF_FLOAT(MLUSIM_CYCLE, __bang_cycle_nan_maximum);
MLUSIM_HALF_FLOAT(MLUSIM_CYCLE, __bang_cycle_nan_minimum);
// src1 may be overwritten.
#define MLUSIM_BINARY_SCRATCH(T, name) MLUSIM_API void name(T *dst, const T *src0, T *src1, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_BINARY_SCRATCH, __bang_maximum);
MLUSIM_HALF_FLOAT(MLUSIM_BINARY_SCRATCH, __bang_minimum);
// The toolchain also has this spelling.
MLUSIM_HALF_FLOAT(MLUSIM_BINARY_SCRATCH, __bang_mininum);
MLUSIM_HALF_FLOAT(MLUSIM_CYCLE, __bang_cycle_maximum);
MLUSIM_HALF_FLOAT(MLUSIM_CYCLE, __bang_cycle_minimum);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_maxequal);
MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_minequal);
MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_maxequal);
MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_minequal);
MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_maxeq_scalar);
MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_mineq_scalar);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_BINARY(bfloat16_t, __bang_nan_maximum);
MLUSIM_BINARY(bfloat16_t, __bang_nan_minimum);
MLUSIM_BINARY_SCRATCH(bfloat16_t, __bang_maximum);
MLUSIM_BINARY_SCRATCH(bfloat16_t, __bang_minimum);
MLUSIM_SCALAR(bfloat16_t, __bang_maxeq_scalar);
MLUSIM_SCALAR(bfloat16_t, __bang_mineq_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_maximum_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_minimum_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_nan_maximum_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_nan_minimum_scalar);
#endif

// ---- Logic: 1 or 0 of the operands' type --------------------------------------------------------

MLUSIM_REALS(MLUSIM_BINARY, __bang_and);
MLUSIM_REALS(MLUSIM_BINARY, __bang_or);
MLUSIM_REALS(MLUSIM_BINARY, __bang_xor);
MLUSIM_REALS(MLUSIM_UNARY, __bang_not);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_and);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_or);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_xor);

#define MLUSIM_LOGIC_INTEGERS(form, ...) \
  form(int, __VA_ARGS__);                \
  form(short, __VA_ARGS__);              \
  form(char, __VA_ARGS__)
#if MLUSIM_SINCE(300)
MLUSIM_REALS(MLUSIM_SCALAR, __bang_and_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_or_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_xor_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_BINARY, __bang_and);
MLUSIM_LOGIC_INTEGERS(MLUSIM_BINARY, __bang_or);
MLUSIM_LOGIC_INTEGERS(MLUSIM_BINARY, __bang_xor);
MLUSIM_LOGIC_INTEGERS(MLUSIM_UNARY, __bang_not);
MLUSIM_LOGIC_INTEGERS(MLUSIM_CYCLE, __bang_cycle_and);
MLUSIM_LOGIC_INTEGERS(MLUSIM_CYCLE, __bang_cycle_or);
MLUSIM_LOGIC_INTEGERS(MLUSIM_CYCLE, __bang_cycle_xor);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_and_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_or_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_xor_scalar);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_UNARY(unsigned int, __bang_not);
#endif

// ---- Bits ---------------------------------------------------------------------------------------

MLUSIM_BINARY(char, __bang_band);
MLUSIM_BINARY(char, __bang_bor);
MLUSIM_BINARY(char, __bang_bxor);
MLUSIM_UNARY(char, __bang_bnot);
MLUSIM_CYCLE(char, __bang_cycle_band);
MLUSIM_CYCLE(char, __bang_cycle_bor);
MLUSIM_CYCLE(char, __bang_cycle_bxor);

#define MLUSIM_BIT_INTEGERS(form, ...) \
  form(int, __VA_ARGS__);              \
  form(short, __VA_ARGS__)
#if MLUSIM_SINCE(300)
MLUSIM_BIT_INTEGERS(MLUSIM_BINARY, __bang_band);
MLUSIM_BIT_INTEGERS(MLUSIM_BINARY, __bang_bor);
MLUSIM_BIT_INTEGERS(MLUSIM_BINARY, __bang_bxor);
MLUSIM_BIT_INTEGERS(MLUSIM_UNARY, __bang_bnot);
MLUSIM_BIT_INTEGERS(MLUSIM_CYCLE, __bang_cycle_band);
MLUSIM_BIT_INTEGERS(MLUSIM_CYCLE, __bang_cycle_bor);
MLUSIM_BIT_INTEGERS(MLUSIM_CYCLE, __bang_cycle_bxor);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_band_scalar);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_bor_scalar);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_bxor_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_band_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_bor_scalar);
MLUSIM_LOGIC_INTEGERS(MLUSIM_SCALAR, __bang_bxor_scalar);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_BINARY(float, __bang_band);
MLUSIM_BINARY(signed char, __bang_band);
MLUSIM_BINARY(signed char, __bang_bor);
MLUSIM_BINARY(signed char, __bang_bxor);
MLUSIM_UNARY(signed char, __bang_bnot);
MLUSIM_CYCLE(signed char, __bang_cycle_band);
MLUSIM_CYCLE(signed char, __bang_cycle_bor);
MLUSIM_CYCLE(signed char, __bang_cycle_bxor);
// Logical shift to the right.
MLUSIM_API void __bang_srl(unsigned int *dst, const unsigned int *src, int shift, int elem_count);
#endif

// ---- Functions of one operand -------------------------------------------------------------------

MLUSIM_REALS(MLUSIM_UNARY, __bang_square);
#if MLUSIM_SINCE(300)
MLUSIM_UNARY(float, __bang_recip);
MLUSIM_UNARY(float, __bang_sqrt);
MLUSIM_UNARY(float, __bang_rsqrt);
MLUSIM_UNARY(float, __bang_pow2);
MLUSIM_UNARY(float, __bang_log);  // to base 2
MLUSIM_UNARY(float, __bang_sin);
MLUSIM_UNARY(float, __bang_cos);
MLUSIM_REALS(MLUSIM_UNARY, __bang_relu);
#define MLUSIM_RELUN(T, name) MLUSIM_API void name(T *dst, const T *src, int elem_count, T nvalue)
MLUSIM_REALS(MLUSIM_RELUN, __bang_relun);
#endif
#if MLUSIM_SINCE(301)
MLUSIM_UNARY(float, __bang_floor);
MLUSIM_UNARY(float, __bang_round);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_REALS(MLUSIM_UNARY, __bang_abs);
MLUSIM_UNARY(int, __bang_abs);
MLUSIM_REALS(MLUSIM_UNARY, __bang_neg);
MLUSIM_INTEGERS(MLUSIM_UNARY, __bang_neg);
MLUSIM_UNARY(float, __bang_log2);
MLUSIM_UNARY(bfloat16_t, __bang_sqrt);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_UNARY(bfloat16_t, __bang_recip);
MLUSIM_UNARY(bfloat16_t, __bang_rsqrt);
MLUSIM_UNARY(bfloat16_t, __bang_pow2);
MLUSIM_UNARY(bfloat16_t, __bang_log);
MLUSIM_UNARY(bfloat16_t, __bang_sin);
MLUSIM_UNARY(bfloat16_t, __bang_cos);
MLUSIM_BINARY(bfloat16_t, __bang_div);
MLUSIM_SCALAR(bfloat16_t, __bang_div);
MLUSIM_UNARY(float, __bang_nearbyint);
#endif

// Functions that devices approximate with tables. Here they are exact, within the same bounds as
// the tables.
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_abs);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_sign);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_relu);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_recip);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_reciphp);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_recip_greater_1);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_sqrt);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_sqrthp);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_rsqrt);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_rsqrthp);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_exp);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_exphp);
MLUSIM_REALS(MLUSIM_UNARY, __bang_active_exp_less_0);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_log);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_loghp);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_pow2);
MLUSIM_REALS(MLUSIM_UNARY, __bang_active_sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_tanh);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_sin);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_cos);

// ---- Tables and sequences -----------------------------------------------------------------------

// dst[i] = table[src[i]]
#if MLUSIM_SINCE(300)
MLUSIM_API void __bang_lut_s32(int *dst, const int *src, const int *table, int elem_count, int table_length);
MLUSIM_API void __bang_lut_s16(int16 *dst, const int16 *src, const int16 *table, int elem_count, int table_length);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_API void __bang_lut(int *dst, const unsigned int *idx, const int *table, int elem_count, int table_length);
MLUSIM_API void __bang_lut(short *dst, const unsigned short *idx, const short *table, int elem_count, int table_length);
// dst[i] = i
MLUSIM_API void __bang_incseq(int *dst, int elem_count);
MLUSIM_API void __bang_incseq(std::int64_t *dst, int elem_count);
#endif

// Unsigned numbers wrap.
#if MLUSIM_SINCE(372)
#define MLUSIM_UNSIGNED_SCALAR(T, name) MLUSIM_API void name(T *dst, const T *src, T value, int elem_count)
MLUSIM_UNSIGNED_SCALAR(std::uint64_t, __bang_add_scalar);
MLUSIM_UNSIGNED_SCALAR(std::uint64_t, __bang_sub_scalar);
#endif

#endif  // MLUSIM_ELEMENTWISE_H_
