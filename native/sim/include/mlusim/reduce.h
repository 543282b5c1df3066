// Instructions that reduce vectors: counts, sums, extremes, pools and selections.
#ifndef MLUSIM_REDUCE_H_
#define MLUSIM_REDUCE_H_

#include "mlusim/types.h"

// ---- Counting and finding: nonzero elements -----------------------------------------------------

#define MLUSIM_FIND(T, name) MLUSIM_API void name(unsigned int *dst, const T *src, int elem_count)
MLUSIM_REALS(MLUSIM_FIND, __bang_count);
MLUSIM_REALS(MLUSIM_FIND, __bang_findfirst1);
MLUSIM_REALS(MLUSIM_FIND, __bang_findlast1);
#if MLUSIM_SINCE(372)
#define MLUSIM_FOUND(T, name) MLUSIM_API unsigned int name(const T *src, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_FOUND, __bang_count);
MLUSIM_HALF_FLOAT(MLUSIM_FOUND, __bang_findfirst1);
MLUSIM_HALF_FLOAT(MLUSIM_FOUND, __bang_findlast1);
#endif

// Counts the set bits among elem_count.
MLUSIM_REALS(MLUSIM_FIND, __bang_count_bitindex);

MLUSIM_API int __bang_popcnt(const unsigned int *src, int elem_count);
MLUSIM_API int __bang_popcnt(const unsigned short *src, int elem_count);
MLUSIM_API int __bang_popcnt(const unsigned char *src, int elem_count);

// ---- Sums and extremes --------------------------------------------------------------------------

#define MLUSIM_REDUCE(T, name) MLUSIM_API void name(T *dst, const T *src, int elem_count)
// One sum for every 128 bytes, at their start.
MLUSIM_HALF_FLOAT(MLUSIM_REDUCE, __bang_reduce_sum);
// Gives the value, followed by the place of its first occurrence.
MLUSIM_REALS(MLUSIM_REDUCE, __bang_max);
MLUSIM_REALS(MLUSIM_REDUCE, __bang_min);
#if MLUSIM_SINCE(300)
MLUSIM_REALS(MLUSIM_REDUCE, __bang_argmax);
MLUSIM_REALS(MLUSIM_REDUCE, __bang_argmin);
MLUSIM_REALS(MLUSIM_REDUCE, __bang_fabsmax);
MLUSIM_REALS(MLUSIM_REDUCE, __bang_fabsmin);
#endif
#if MLUSIM_SINCE(392)
#define MLUSIM_SUM(T, name) MLUSIM_API T name(const T *src, int elem_count)
MLUSIM_REALS(MLUSIM_SUM, __bang_sum);
#endif

// ---- Keeping what a mask selects ----------------------------------------------------------------

#define MLUSIM_MASKED(T, name) MLUSIM_API void name(T *dst, const T *src, const T *mask, int elem_count)
#define MLUSIM_BIT_MASKED(T, name) MLUSIM_API void name(T *dst, const T *src, const void *bitmask, int elem_count)
// Writes to the front of dst.
MLUSIM_HALF_FLOAT(MLUSIM_MASKED, __bang_collect);
MLUSIM_HALF_FLOAT(MLUSIM_BIT_MASKED, __bang_collect_bitindex);
// Writes the number to dst[0] as an unsigned int, and the elements from byte 128 on.
MLUSIM_HALF_FLOAT(MLUSIM_MASKED, __bang_select);
MLUSIM_HALF_FLOAT(MLUSIM_BIT_MASKED, __bang_select_bitindex);
#if MLUSIM_SINCE(372)
// Writes to the front of dst; returns the number.
#define MLUSIM_FILTER(T, name) MLUSIM_API int name(T *dst, const T *src, const T *mask, int elem_count)
#define MLUSIM_BIT_FILTER(T, name) MLUSIM_API int name(T *dst, const T *src, const void *bitmask, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_FILTER, __bang_filter);
MLUSIM_HALF_FLOAT(MLUSIM_BIT_FILTER, __bang_filter_bitindex);
#endif

// ---- Pools over an image whose channels lie together --------------------------------------------

// Without strides the windows are adjacent.
#define MLUSIM_POOL(T, name) \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width)
#define MLUSIM_POOL_STRIDES(T, name)                                                                                  \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width, \
                       int stride_width, int stride_height)
MLUSIM_POOL(half, __bang_sumpool);
MLUSIM_POOL(half, __bang_maxpool);
MLUSIM_POOL(half, __bang_minpool);
MLUSIM_POOL(half, __bang_avgpool);
MLUSIM_REALS(MLUSIM_POOL_STRIDES, __bang_sumpool);
MLUSIM_REALS(MLUSIM_POOL_STRIDES, __bang_maxpool);
MLUSIM_REALS(MLUSIM_POOL_STRIDES, __bang_minpool);
MLUSIM_REALS(MLUSIM_POOL_STRIDES, __bang_avgpool);

// Gives the place of the extreme element in its window, as an integer of the element's size.
// Without strides the windows are adjacent.
#define MLUSIM_POOL_INDEX(T, Index, name)                                                               \
  MLUSIM_API void name(Index *dst, const T *src, int channel, int height, int width, int kernel_height, \
                       int kernel_width);                                                               \
  MLUSIM_API void name(Index *dst, const T *src, int channel, int height, int width, int kernel_height, \
                       int kernel_width, int stride_width, int stride_height)
MLUSIM_POOL_INDEX(half, unsigned short, __bang_maxpool_index);
MLUSIM_POOL_INDEX(float, unsigned int, __bang_maxpool_index);
MLUSIM_POOL_INDEX(half, unsigned short, __bang_minpool_index);
MLUSIM_POOL_INDEX(float, unsigned int, __bang_minpool_index);
#if MLUSIM_SINCE(392)
MLUSIM_POOL_INDEX(bfloat16_t, unsigned short, __bang_maxpool_index);
MLUSIM_POOL_INDEX(bfloat16_t, unsigned short, __bang_minpool_index);
#endif
#if MLUSIM_SINCE(372)
// Gives the values and, at a distance in bytes, the places. The places of a window, and the
// results, may have gaps.
#define MLUSIM_POOL_BOTH(T, name)                                                                                     \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width, \
                       int stride_width, int stride_height, int value_index_stride);                                  \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width, \
                       int stride_width, int stride_height, int value_index_stride, int in_dilation_height,           \
                       int in_dilation_width, int out_dilation_height, int out_dilation_width)
MLUSIM_REALS(MLUSIM_POOL_BOTH, __bang_maxpool_value_index);
MLUSIM_REALS(MLUSIM_POOL_BOTH, __bang_minpool_value_index);

#endif

// From the results of a pool back to its image, whose size is given. An element of several windows
// gets the sum, or the value of the last window.
typedef enum {
  OVERLAP_ACC,
  OVERLAP_COVER
} mluPoolBPOverlap;
#define MLUSIM_POOL_SIZES \
  int channel, int height, int width, int kernel_height, int kernel_width, int stride_width, int stride_height
// Writes each window's element to place `index` of the window, and zeros to its other places.
#define MLUSIM_UNPOOL(T, name) MLUSIM_API void name(T *dst, const T *src, MLUSIM_POOL_SIZES, int index)
#define MLUSIM_AVGPOOL_BP(T, name) \
  MLUSIM_API void name(T *dst, const T *src, MLUSIM_POOL_SIZES, mluPoolBPOverlap overlap = OVERLAP_ACC)
// `mask` holds the places of the largest elements in their windows.
#define MLUSIM_MAXPOOL_BP(T, Index, name)                                          \
  MLUSIM_API void name(T *dst, const T *src, const Index *mask, MLUSIM_POOL_SIZES, \
                       mluPoolBPOverlap overlap = OVERLAP_ACC)
MLUSIM_REALS(MLUSIM_UNPOOL, __bang_unpool);
MLUSIM_REALS(MLUSIM_AVGPOOL_BP, __bang_avgpool_bp);
MLUSIM_MAXPOOL_BP(half, int16, __bang_maxpool_bp);
MLUSIM_MAXPOOL_BP(float, int, __bang_maxpool_bp);
#if MLUSIM_SINCE(392)
MLUSIM_MAXPOOL_BP(bfloat16_t, unsigned short, __bang_maxpool_bp);
#endif

#if MLUSIM_SINCE(372)
// Repeats element i of `size` bytes counts[i] times, without gaps; within NRAM.
MLUSIM_API void __extension(void *dst, const void *src, const unsigned char *counts, int size, mluMemcpyDirection_t dir,
                            int num);
#endif

#endif  // MLUSIM_REDUCE_H_
