// Atomic changes of GDRAM, element by element.
#ifndef MLUSIM_ATOMIC_H_
#define MLUSIM_ATOMIC_H_

#include "mlusim/types.h"

// dst[i] (NRAM) = src1[i] (GDRAM), and src1[i] = src1[i] op src2.
#define MLUSIM_ATOMIC(T, name)                                 \
  MLUSIM_API void name(T *dst, T *src1, T src2, int size = 1); \
  MLUSIM_API void name(T *dst, T *src1, const T *src2, int size)
#define MLUSIM_ATOMIC_CAS(T, name) MLUSIM_API void name(T *dst, T *src1, T src2, T src3)
// The same without the old values: dst is in GDRAM.
#define MLUSIM_ATOMIC_REDUCE(T, name)                 \
  MLUSIM_API void name(T *dst, T src1, int size = 1); \
  MLUSIM_API void name(T *dst, const T *src1, int size)
#define MLUSIM_ATOMIC_REDUCE_CAS(T, name) MLUSIM_API void name(T *dst, T src1, T src2)

MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_add);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_max);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_min);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_and);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_or);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_xor);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_inc);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_dec);
MLUSIM_WORDS(MLUSIM_ATOMIC, __bang_atomic_exch);
MLUSIM_WORDS(MLUSIM_ATOMIC_CAS, __bang_atomic_cas);
MLUSIM_REALS(MLUSIM_ATOMIC, __bang_atomic_add);
MLUSIM_REALS(MLUSIM_ATOMIC, __bang_atomic_max);
MLUSIM_REALS(MLUSIM_ATOMIC, __bang_atomic_min);
MLUSIM_REALS(MLUSIM_ATOMIC, __bang_atomic_exch);
#if MLUSIM_SINCE(392)
MLUSIM_REALS(MLUSIM_ATOMIC_CAS, __bang_atomic_cas);
#endif

#if MLUSIM_SINCE(300)
#define MLUSIM_ATOMIC_INTEGERS(form, ...) \
  form(short, __VA_ARGS__);               \
  form(int, __VA_ARGS__)
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_add);
MLUSIM_WORDS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_max);
MLUSIM_WORDS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_min);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_and);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_or);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_xor);
MLUSIM_WORDS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_inc);
MLUSIM_WORDS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_dec);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_exch);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_ATOMIC_REDUCE_CAS, __bang_atomic_reduce_cas);
MLUSIM_REALS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_add);
MLUSIM_REALS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_max);
MLUSIM_REALS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_min);
MLUSIM_REALS(MLUSIM_ATOMIC_REDUCE, __bang_atomic_reduce_exch);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_REALS(MLUSIM_ATOMIC_REDUCE_CAS, __bang_atomic_reduce_cas);
#endif
#if MLUSIM_SINCE(592)
// (segnum1 + 1) * (segnum2 + 1) segments of elem_count elements, strides in bytes.
MLUSIM_API void __bang_atomic_reduce_add(float *dst, const float *src, int elem_count, int segnum1, int segnum2,
                                         int dst_stride1, int dst_stride2, int src_stride1, int src_stride2);
#endif

// *a = *a op b on the scalar unit; returns the old value. form(name_<type>, operation, type)
#define MLUSIM_SCALAR_ATOMIC_UNSIGNED(form, name, operation) \
  form(name##_u16, operation, unsigned short) form(name##_u32, operation, unsigned int)
#define MLUSIM_SCALAR_ATOMIC_INTEGERS(form, name, operation) \
  MLUSIM_SCALAR_ATOMIC_UNSIGNED(form, name, operation)       \
  form(name##_s16, operation, short) form(name##_s32, operation, int)
#define MLUSIM_SCALAR_ATOMIC_NUMBERS(form, name, operation) \
  MLUSIM_SCALAR_ATOMIC_INTEGERS(form, name, operation)      \
  form(name##_f16, operation, half) form(name##_f32, operation, float)
#define MLUSIM_SCALAR_ATOMICS(form)               \
  MLUSIM_SCALAR_ATOMIC_NUMBERS(form, add, kAdd)   \
  MLUSIM_SCALAR_ATOMIC_NUMBERS(form, max, kMax)   \
  MLUSIM_SCALAR_ATOMIC_NUMBERS(form, min, kMin)   \
  MLUSIM_SCALAR_ATOMIC_NUMBERS(form, exch, kExch) \
  MLUSIM_SCALAR_ATOMIC_INTEGERS(form, and, kAnd)  \
  MLUSIM_SCALAR_ATOMIC_INTEGERS(form, or, kOr)    \
  MLUSIM_SCALAR_ATOMIC_INTEGERS(form, xor, kXor)  \
  MLUSIM_SCALAR_ATOMIC_UNSIGNED(form, inc, kInc)  \
  MLUSIM_SCALAR_ATOMIC_UNSIGNED(form, dec, kDec)
#define MLUSIM_DECLARE_SCALAR_ATOMIC(name, operation, T) MLUSIM_API T __cn_scalar_atomic_##name(T *a, T b);
// *a = c if *a == b
#define MLUSIM_DECLARE_SCALAR_CAS(name, operation, T) MLUSIM_API T __cn_scalar_atomic_##name(T *a, T b, T c);
MLUSIM_SCALAR_ATOMICS(MLUSIM_DECLARE_SCALAR_ATOMIC)
MLUSIM_SCALAR_ATOMIC_INTEGERS(MLUSIM_DECLARE_SCALAR_CAS, cas, )

// Changes the elements at src1_base + src1_offset[i] (in bytes) in GDRAM, one after the other;
// dst[i] becomes the old element. With a bit mask, changes only the elements whose bit is set.
// form(type, type of the offsets, name)
#if MLUSIM_SINCE(392)
#define MLUSIM_DISCRETE(T, Offset, name)                                                          \
  MLUSIM_API void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, int size); \
  MLUSIM_API void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, const void *bitmask, int size)
// *a = src3 if *a == src2[i]
#define MLUSIM_DISCRETE_CAS(T, Offset, name)                                                                        \
  MLUSIM_API void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, T src3, int size);           \
  MLUSIM_API void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, const void *bitmask, T src3, \
                       int size)
#define MLUSIM_FOR_OFFSETS(T, form, name) \
  form(T, char, name);                    \
  form(T, short, name);                   \
  form(T, int, name);                     \
  form(T, std::int64_t, name)
#define MLUSIM_DISCRETE_SIGNED(form, name) \
  MLUSIM_FOR_OFFSETS(short, form, name);   \
  MLUSIM_FOR_OFFSETS(int, form, name)
#define MLUSIM_DISCRETE_WORDS(form, name)         \
  MLUSIM_DISCRETE_SIGNED(form, name);             \
  MLUSIM_FOR_OFFSETS(unsigned short, form, name); \
  MLUSIM_FOR_OFFSETS(unsigned int, form, name)
#define MLUSIM_DISCRETE_REALS(form, name) \
  MLUSIM_FOR_OFFSETS(half, form, name);   \
  MLUSIM_FOR_OFFSETS(float, form, name);  \
  MLUSIM_FOR_OFFSETS(bfloat16_t, form, name)
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE, __bang_discrete_atomic_add);
MLUSIM_DISCRETE_REALS(MLUSIM_DISCRETE, __bang_discrete_atomic_add);
MLUSIM_DISCRETE_WORDS(MLUSIM_DISCRETE, __bang_discrete_atomic_max);
MLUSIM_DISCRETE_REALS(MLUSIM_DISCRETE, __bang_discrete_atomic_max);
MLUSIM_DISCRETE_WORDS(MLUSIM_DISCRETE, __bang_discrete_atomic_min);
MLUSIM_DISCRETE_REALS(MLUSIM_DISCRETE, __bang_discrete_atomic_min);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE, __bang_discrete_atomic_and);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE, __bang_discrete_atomic_or);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE, __bang_discrete_atomic_xor);
MLUSIM_DISCRETE_WORDS(MLUSIM_DISCRETE, __bang_discrete_atomic_inc);
MLUSIM_DISCRETE_WORDS(MLUSIM_DISCRETE, __bang_discrete_atomic_dec);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE, __bang_discrete_atomic_exch);
MLUSIM_DISCRETE_REALS(MLUSIM_DISCRETE, __bang_discrete_atomic_exch);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DISCRETE_CAS, __bang_discrete_atomic_cas);
MLUSIM_DISCRETE_REALS(MLUSIM_DISCRETE_CAS, __bang_discrete_atomic_cas);
#endif

#endif  // MLUSIM_ATOMIC_H_
