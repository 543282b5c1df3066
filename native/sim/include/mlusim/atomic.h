// Atomic changes of GDRAM, one element after the other.
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

#endif  // MLUSIM_ATOMIC_H_
