// Bit masks, lowest bit first: masked moves of bytes, conversions between bits and elements, and
// comparisons that select elements.
#ifndef MLUSIM_BITS_H_
#define MLUSIM_BITS_H_

#include "mlusim/types.h"

// Copies the bytes of src with a set bit to dst; other bytes of dst stay unchanged.
#define MLUSIM_MASKMOVE(T, name) MLUSIM_API void name(T *dst, const T *src, const T *mask, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_MASKMOVE, __bang_maskmove);
// An older name of __bang_collect_bitindex.
#define MLUSIM_MASKMOVE_BITS(T, name) MLUSIM_API void name(T *dst, const T *src, const void *bitmask, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_MASKMOVE_BITS, __bang_maskmove_bitindex);
#if MLUSIM_SINCE(392)
MLUSIM_MASKMOVE(bfloat16_t, __bang_maskmove);
MLUSIM_MASKMOVE_BITS(bfloat16_t, __bang_maskmove_bitindex);

// Converts each bit to an element, 1 or 0, or each element to a bit, 1 unless the element is zero.
// The size of the innermost dim is in bytes of elements.
#define MLUSIM_BEXPAND(T, name)                                                                       \
  MLUSIM_API void name(T *dst, const unsigned char *src, int dst_dim_n, int dst_dim_h, int dst_dim_w, \
                       int byte_of_dst_dim_c)
#define MLUSIM_BREDUCE(T, name)                                                                       \
  MLUSIM_API void name(unsigned char *dst, const T *src, int src_dim_n, int src_dim_h, int src_dim_w, \
                       int byte_of_src_dim_c)
MLUSIM_BEXPAND(char, __bang_bexpand);
MLUSIM_BEXPAND(short, __bang_bexpand);
MLUSIM_BEXPAND(int, __bang_bexpand);
MLUSIM_BREDUCE(char, __bang_breduce);
MLUSIM_BREDUCE(short, __bang_breduce);
MLUSIM_BREDUCE(int, __bang_breduce);
#endif

#if MLUSIM_SINCE(300)
// Selects the elements of src0 for which the comparison with src1 holds, without gaps.
#define MLUSIM_FCMPFILTER(T, name)                                                              \
  MLUSIM_API void name(CompareMode mode, T *dst, const T *src0, const T *src1, int elem_count); \
  MLUSIM_API void name(CompareMode mode, T *dst, const T *src0, T src1, int elem_count)
MLUSIM_REALS(MLUSIM_FCMPFILTER, __bang_fcmpfilter);
#endif

#endif  // MLUSIM_BITS_H_
