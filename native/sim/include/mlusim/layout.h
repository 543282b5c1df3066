// Instructions that reorder elements.
#ifndef MLUSIM_LAYOUT_H_
#define MLUSIM_LAYOUT_H_

#include "mlusim/types.h"

#define MLUSIM_LAYOUT_TYPES(form, ...) \
  MLUSIM_BYTES(form, __VA_ARGS__);     \
  MLUSIM_WORDS(form, __VA_ARGS__);     \
  MLUSIM_HALF_FLOAT(form, __VA_ARGS__)

// A matrix with `height` rows and `width` columns.
#define MLUSIM_MATRIX(T, name) MLUSIM_API void name(T *dst, const T *src, int height, int width)
MLUSIM_LAYOUT_TYPES(MLUSIM_MATRIX, __bang_transpose);
MLUSIM_LAYOUT_TYPES(MLUSIM_MATRIX, __bang_rotate90);
MLUSIM_LAYOUT_TYPES(MLUSIM_MATRIX, __bang_rotate180);
MLUSIM_LAYOUT_TYPES(MLUSIM_MATRIX, __bang_rotate270);
MLUSIM_BYTES(MLUSIM_MATRIX, __bang_mirror);
MLUSIM_MATRIX(short, __bang_mirror);
MLUSIM_MATRIX(unsigned short, __bang_mirror);
MLUSIM_MATRIX(unsigned int, __bang_mirror);
MLUSIM_MATRIX(half, __bang_mirror);
#if MLUSIM_SINCE(372)
MLUSIM_MATRIX(float, __bang_mirror);
#endif

// Pads an image with contiguous channels by zeros or another value.
#define MLUSIM_PAD(T, name) \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int pad_height, int pad_width)
#define MLUSIM_PAD_SIDES(T, name)                                                                             \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int pad_top, int pad_bottom, \
                       int pad_left, int pad_right)
MLUSIM_LAYOUT_TYPES(MLUSIM_PAD, __bang_pad);
MLUSIM_LAYOUT_TYPES(MLUSIM_PAD_SIDES, __bang_pad);
#if MLUSIM_SINCE(392)
#define MLUSIM_PAD_VALUE(T, name)                                                                               \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int pad_height, int pad_width, \
                       T pad_value)
#define MLUSIM_PAD_SIDES_VALUE(T, name)                                                                       \
  MLUSIM_API void name(T *dst, const T *src, int channel, int height, int width, int pad_top, int pad_bottom, \
                       int pad_left, int pad_right, T pad_value)
#define MLUSIM_PAD_VALUE_TYPES(form, ...) \
  form(char, __VA_ARGS__);                \
  form(short, __VA_ARGS__);               \
  form(int, __VA_ARGS__);                 \
  MLUSIM_REALS(form, __VA_ARGS__)
MLUSIM_PAD_VALUE_TYPES(MLUSIM_PAD_VALUE, __bang_pad);
MLUSIM_PAD_VALUE_TYPES(MLUSIM_PAD_SIDES_VALUE, __bang_pad);
#endif

#define MLUSIM_RESHAPE(T, name) MLUSIM_API void name(T *dst, const T *src, int n, int h, int w, int c)
MLUSIM_LAYOUT_TYPES(MLUSIM_RESHAPE, __bang_reshape_nchw2nhwc);
MLUSIM_LAYOUT_TYPES(MLUSIM_RESHAPE, __bang_reshape_nhwc2nchw);
// Groups rows of h * w * c elements by their lane of WRAM: row r belongs to lane r % 64.
MLUSIM_LAYOUT_TYPES(MLUSIM_RESHAPE, __bang_reshape_filter);
#if MLUSIM_SINCE(392)
MLUSIM_RESHAPE(bfloat16_t, __bang_reshape_filter);
#endif

// Moves units of the given number of bits, 64 bytes in all, from one walk to another, in steps of
// 64 bytes: n1 times by s1, all of that n2 times by s2; s6 and s7 likewise for dst.
#define MLUSIM_TILING_2D(name) \
  MLUSIM_API void name(void *dst, const void *src, int n2, int s2, int n1, int s1, int n7, int s7, int n6, int s6)
MLUSIM_TILING_2D(__bang_tiling_2d_b8);
MLUSIM_TILING_2D(__bang_tiling_2d_b16);
MLUSIM_TILING_2D(__bang_tiling_2d_b32);
MLUSIM_TILING_2D(__bang_tiling_2d_b64);
MLUSIM_TILING_2D(__bang_tiling_2d_b128);
MLUSIM_TILING_2D(__bang_tiling_2d_b256);
// Moves any number of units of 1024 bits; `op` is 0.
MLUSIM_API void __bang_tiling_3d_b1024(void *dst, const void *src, int n5, int s5, int n4, int s4, int n3, int s3,
                                       int n10, int s10, int n9, int s9, int n8, int s8, int op);

#endif  // MLUSIM_LAYOUT_H_
