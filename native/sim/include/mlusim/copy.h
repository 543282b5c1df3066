// Copies and fills. Sizes and strides are in bytes; a segment count is the number of segments minus
// one.
#ifndef MLUSIM_COPY_H_
#define MLUSIM_COPY_H_

#include "mlusim/types.h"

// ---- Copies -------------------------------------------------------------------------------------

MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir);
MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride, int src_stride,
                         int segnum);
MLUSIM_API void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir);
MLUSIM_API void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride,
                               int src_stride, int segnum);
MLUSIM_API void __memcpy_nram_to_nram(void *dst, const void *src, int size, int dst_stride, int src_stride, int segnum);
#if MLUSIM_SINCE(300)
MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0,
                         int dst_segnum1, int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1,
                         int src_stride1, int src_segnum2);
MLUSIM_API void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0,
                               int dst_segnum1, int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1,
                               int src_stride1, int src_segnum2);
#endif

// SRAM2SRAM: dst is an address in the core's own SRAM, and stands for the same place in the SRAM of
// another cluster.
MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int id_dst_cluster);
MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride, int src_stride,
                         int segnum, int id_dst_cluster);
#if MLUSIM_SINCE(300)
MLUSIM_API void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0,
                         int dst_segnum1, int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1,
                         int src_stride1, int src_segnum2, int id_dst_cluster);
#endif

#if MLUSIM_SINCE(372)
// NRAM to NRAM, in order with compute instructions.
MLUSIM_API void __bang_move(void *dst, const void *src, int size);
MLUSIM_API void __bang_move(void *dst, const void *src, int size, int dst_stride, int src_stride, int segnum);

// Piece i comes from src + offset[i] (gather) or goes to dst + offset[i] (scatter), where bit i of
// the mask is set.
#define MLUSIM_GATHER(Offset, name, stride)                                                                           \
  MLUSIM_API void name(void *dst, const void *src, const Offset *offset, int transfer_size, mluMemcpyDirection_t dir, \
                       int stride, int num);                                                                          \
  MLUSIM_API void name(void *dst, const void *src, const Offset *offset, const void *bitmask, int transfer_size,      \
                       mluMemcpyDirection_t dir, int stride, int num)
#define MLUSIM_GATHERS(Offset)                       \
  MLUSIM_GATHER(Offset, __gather, dst_stride);       \
  MLUSIM_GATHER(Offset, __gather_async, dst_stride); \
  MLUSIM_GATHER(Offset, __scatter, src_stride);      \
  MLUSIM_GATHER(Offset, __scatter_async, src_stride)
MLUSIM_GATHERS(unsigned int);
#if MLUSIM_SINCE(592)
MLUSIM_GATHERS(unsigned short);
MLUSIM_GATHERS(unsigned char);
#endif
#undef MLUSIM_GATHERS
#undef MLUSIM_GATHER
#endif
#if MLUSIM_SINCE(592)
MLUSIM_API void __bang_gather_async(void *dst, const void *src, const unsigned int *offset, const void *bitmask,
                                    int transfer_size, int dst_stride, int num);
#endif

// ---- Fills --------------------------------------------------------------------------------------

// Fills `elem_count` elements of the value's type.
#define MLUSIM_FILL(T, name) MLUSIM_API void name(void *dst, int elem_count, T value)
// Fills that run iter1 + 1 times, and repeats all of it iter2 + 1 times.
#define MLUSIM_FILL_3D(T, name) \
  MLUSIM_API void name(void *dst, int elem_count, T value, int stride0, int iter1, int stride1, int iter2)
#define MLUSIM_LONGS(form, ...)    \
  form(std::int64_t, __VA_ARGS__); \
  form(std::uint64_t, __VA_ARGS__)
#define MLUSIM_FILL_TYPES(form, ...) \
  MLUSIM_BYTES(form, __VA_ARGS__);   \
  MLUSIM_WORDS(form, __VA_ARGS__);   \
  MLUSIM_REALS(form, __VA_ARGS__)
#define MLUSIM_FILL_3D_TYPES(form, ...) \
  form(char, __VA_ARGS__);              \
  form(short, __VA_ARGS__);             \
  form(int, __VA_ARGS__);               \
  MLUSIM_REALS(form, __VA_ARGS__)

MLUSIM_FILL_TYPES(MLUSIM_FILL, __bang_write_value);
MLUSIM_LONGS(MLUSIM_FILL, __bang_write_value);
MLUSIM_FILL_TYPES(MLUSIM_FILL, __memset_nram);
MLUSIM_FILL_TYPES(MLUSIM_FILL, __nramset);
MLUSIM_FILL_TYPES(MLUSIM_FILL, __gdramset);
MLUSIM_FILL_TYPES(MLUSIM_FILL, __ldramset);
MLUSIM_FILL_TYPES(MLUSIM_FILL, __sramset);
#if MLUSIM_SINCE(300)
MLUSIM_FILL_TYPES(MLUSIM_FILL_3D, __bang_write_value);
MLUSIM_FILL_3D_TYPES(MLUSIM_FILL_3D, __nramset);
MLUSIM_FILL_3D_TYPES(MLUSIM_FILL_3D, __gdramset);
MLUSIM_FILL_3D_TYPES(MLUSIM_FILL_3D, __ldramset);
MLUSIM_FILL_3D_TYPES(MLUSIM_FILL_3D, __sramset);
#endif
#if MLUSIM_SINCE(372)
// Fills the run segnum + 1 times, on the pipe of on-chip copies.
MLUSIM_API void __nramset_async(void *dst, int elem_count, float value, int stride, int segnum);
#endif

// Older spellings.
#define MLUSIM_TYPED_FILL(T, name) MLUSIM_API void name(T *dst, int elem_count, T value)
MLUSIM_TYPED_FILL(half, __nramset_half);
MLUSIM_TYPED_FILL(float, __nramset_float);
MLUSIM_TYPED_FILL(short, __nramset_short);
MLUSIM_TYPED_FILL(unsigned short, __nramset_unsigned_short);
MLUSIM_TYPED_FILL(int, __nramset_int);
MLUSIM_TYPED_FILL(unsigned int, __nramset_unsigned_int);

#define MLUSIM_WRITE_ZERO(T, name) MLUSIM_API void name(T *dst, int elem_count)
MLUSIM_WRITE_ZERO(signed char, __bang_write_zero);
MLUSIM_WRITE_ZERO(unsigned char, __bang_write_zero);
MLUSIM_WORDS(MLUSIM_WRITE_ZERO, __bang_write_zero);
MLUSIM_LONGS(MLUSIM_WRITE_ZERO, __bang_write_zero);
MLUSIM_REALS(MLUSIM_WRITE_ZERO, __bang_write_zero);

#endif  // MLUSIM_COPY_H_
