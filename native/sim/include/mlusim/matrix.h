// The tensor unit: products with a filter in WRAM. Row r of the filter lies in lane r % 64, and the
// rows of a lane are contiguous.
#ifndef MLUSIM_MATRIX_H_
#define MLUSIM_MATRIX_H_

#include "mlusim/types.h"

// dst[m][n] = sum over k of src[m][k] * filter[n][k].
#if MLUSIM_SINCE(372)
#define MLUSIM_MATMUL(T, S, name) MLUSIM_API void name(T *dst, const S *src, const S *filter, int m, int k, int n)
MLUSIM_MATMUL(float, float, __bang_matmul);
MLUSIM_MATMUL(half, half, __bang_matmul);
MLUSIM_MATMUL(float, half, __bang_matmul);
#if MLUSIM_SINCE(392)
MLUSIM_MATMUL(bfloat16_t, bfloat16_t, __bang_matmul);
MLUSIM_MATMUL(float, bfloat16_t, __bang_matmul);
#endif
#endif

// The same of integers, times 2^fix_position.
#define MLUSIM_MATMUL_FIXED(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const F *filter, int m, int k, int n, int fix_position)
#define MLUSIM_MATMUL_PRODUCTS(form, name) \
  form(half, int8, int8, name);            \
  form(half, int16, int8, name);           \
  form(half, int16, int16, name);          \
  form(float, int8, int8, name);           \
  form(float, int16, int8, name);          \
  form(float, int16, int16, name)
MLUSIM_MATMUL_PRODUCTS(MLUSIM_MATMUL_FIXED, __bang_matmul);

// The types of dst, src and filter. Products of integers are scaled by 2^fix_position.
#define MLUSIM_FIXED_PRODUCTS(form, name) \
  form(half, int8, int8, name);           \
  form(half, int16, int8, name);          \
  form(half, int16, int16, name);         \
  form(float, int8, int8, name);          \
  form(float, int16, int8, name);         \
  form(float, int16, int16, name);        \
  form(half, int4x2_t, int4x2_t, name);   \
  form(half, int8, int4x2_t, name);       \
  form(half, int16, int4x2_t, name);      \
  form(float, int4x2_t, int4x2_t, name);  \
  form(float, int8, int4x2_t, name);      \
  form(float, int16, int4x2_t, name)
#define MLUSIM_INT16_PRODUCTS(form, name) \
  form(int16, int8, int8, name);          \
  form(int16, int16, int8, name);         \
  form(int16, int16, int16, name)
#define MLUSIM_NEWER_FIXED_PRODUCTS(form, name) \
  form(half, int4x2_t, int8, name);             \
  form(half, int4x2_t, int16, name);            \
  form(float, int4x2_t, int8, name);            \
  form(float, int4x2_t, int16, name)
#define MLUSIM_REAL_PRODUCTS(form, name) \
  form(float, float, float, name);       \
  form(float, half, half, name);         \
  form(float, float, half, name);        \
  form(float, half, float, name)
#define MLUSIM_BFLOAT16_PRODUCTS(form, name) \
  form(float, bfloat16_t, bfloat16_t, name); \
  form(float, float, bfloat16_t, name);      \
  form(float, bfloat16_t, float, name)

// An image with height, width and channels, and filters with rows, columns and channels, one for
// each channel of dst. Taps are in_dilation apart in the image, results out_dilation apart in dst.
#define MLUSIM_CONV_SIZES                                                                                             \
  int channel_input, int height, int width, int kernel_height, int kernel_width, int stride_width, int stride_height, \
      int channel_output
#define MLUSIM_CONV_DILATIONS \
  int in_dilation_width = 1, int in_dilation_height = 1, int out_dilation_width = 1, int out_dilation_height = 1
#define MLUSIM_CONV_FIXED(T, S, F, name)                                                           \
  MLUSIM_API void name(T *dst, const S *src, const F *filter, MLUSIM_CONV_SIZES, int fix_position, \
                       MLUSIM_CONV_DILATIONS)
// `more` is a bias for each channel, or a summand for each result.
#define MLUSIM_CONV_FIXED_MORE(T, S, F, name)                                                                     \
  MLUSIM_API void name(T *dst, const S *src, const F *filter, const T *more, MLUSIM_CONV_SIZES, int fix_position, \
                       MLUSIM_CONV_DILATIONS)
#define MLUSIM_CONV_REAL(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const F *filter, MLUSIM_CONV_SIZES, MLUSIM_CONV_DILATIONS)
#define MLUSIM_CONV_REAL_MORE(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const F *filter, const T *more, MLUSIM_CONV_SIZES, MLUSIM_CONV_DILATIONS)

MLUSIM_FIXED_PRODUCTS(MLUSIM_CONV_FIXED, __bang_conv);
MLUSIM_FIXED_PRODUCTS(MLUSIM_CONV_FIXED_MORE, __bang_conv);
MLUSIM_INT16_PRODUCTS(MLUSIM_CONV_FIXED, __bang_conv);
MLUSIM_INT16_PRODUCTS(MLUSIM_CONV_FIXED_MORE, __bang_conv);
MLUSIM_CONV_FIXED(float, int, int16, __bang_conv);
MLUSIM_FIXED_PRODUCTS(MLUSIM_CONV_FIXED_MORE, __bang_conv_partial);
#if MLUSIM_SINCE(300)
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_CONV_FIXED, __bang_conv);
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_CONV_FIXED_MORE, __bang_conv);
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_CONV_FIXED_MORE, __bang_conv_partial);
#endif
#if MLUSIM_SINCE(300) && MLUSIM_NOT(322)
MLUSIM_REAL_PRODUCTS(MLUSIM_CONV_REAL, __bang_conv);
MLUSIM_REAL_PRODUCTS(MLUSIM_CONV_REAL_MORE, __bang_conv_partial);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_BFLOAT16_PRODUCTS(MLUSIM_CONV_REAL, __bang_conv);
MLUSIM_BFLOAT16_PRODUCTS(MLUSIM_CONV_REAL_MORE, __bang_conv_partial);
#endif

// dst[h] = sum over w of src[w] * weight[h][w], scaled by 2^fix_position, plus the bias.
#define MLUSIM_MLP_PRODUCTS(form, name) \
  form(half, int8, int8, name);         \
  form(half, int16, int8, name);        \
  form(half, int16, int16, name);       \
  form(float, int8, int8, name);        \
  form(float, int16, int8, name);       \
  form(float, int16, int16, name);      \
  form(int16, int8, int8, name);        \
  form(int16, int16, int8, name);       \
  form(int16, int16, int16, name)
#define MLUSIM_MLP(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const F *weight, int height, int width, int fix_position)
#define MLUSIM_MLP_BIAS(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const T *bias, const F *weight, int height, int width, int fix_position)
MLUSIM_MLP_PRODUCTS(MLUSIM_MLP, __bang_mlp);
MLUSIM_MLP_PRODUCTS(MLUSIM_MLP_BIAS, __bang_mlp);
MLUSIM_MLP_BIAS(float, int, int16, __bang_mlp);
#define MLUSIM_MLP_REAL(T, S, F, name) \
  MLUSIM_API void name(T *dst, const S *src, const F *weight, int height, int width)
#if MLUSIM_SINCE(372)
MLUSIM_MLP_REAL(half, half, half, __bang_mlp);
MLUSIM_MLP_REAL(float, half, half, __bang_mlp);
MLUSIM_MLP_REAL(float, float, float, __bang_mlp);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_MLP_REAL(bfloat16_t, bfloat16_t, bfloat16_t, __bang_mlp);
MLUSIM_MLP_REAL(float, bfloat16_t, bfloat16_t, __bang_mlp);
#endif

#if MLUSIM_SINCE(592)
// dst[r][c] = weight[r] * src[r][c] (+ addend[r][c]); `ones` in WRAM holds ones.
MLUSIM_API void __bang_expand_channel_mul(float *dst, const float *weight, const float *ones, const float *src,
                                          int rows, int channels);
MLUSIM_API void __bang_expand_channel_mul_add(float *dst, const float *weight, const float *ones, const float *src,
                                              const float *addend, int rows, int channels);
#endif

// dst[n] = sum over j <= n of kernel[n][j] * src[j]; a kernel of ones gives prefix sums.
#define MLUSIM_INTEGRAL(T, S, name) MLUSIM_API void name(T *dst, const S *src, const S *kernel, int size)
#define MLUSIM_INTEGRAL_FIXED(T, S, name) \
  MLUSIM_API void name(T *dst, const S *src, const S *kernel, int size, int fix_position = 0)
#if MLUSIM_SINCE(320)
MLUSIM_INTEGRAL(int, char, __bang_integral);
MLUSIM_INTEGRAL(short, char, __bang_integral);
MLUSIM_INTEGRAL_FIXED(float, int8, __bang_integral);
MLUSIM_INTEGRAL_FIXED(half, int8, __bang_integral);
#endif
#if MLUSIM_SINCE(322) && MLUSIM_NOT(392)
MLUSIM_INTEGRAL(int, short, __bang_integral);
MLUSIM_INTEGRAL(short, short, __bang_integral);
MLUSIM_INTEGRAL_FIXED(float, int16, __bang_integral);
MLUSIM_INTEGRAL_FIXED(half, int16, __bang_integral);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_INTEGRAL(float, float, __bang_integral);
MLUSIM_INTEGRAL(float, half, __bang_integral);
#endif

// dst[b] = number of elements equal to the first number of the kernel in lane b, for each of 64
// lanes.
#define MLUSIM_HISTOGRAM(T, S, name) MLUSIM_API void name(T *dst, const S *src, const S *kernel, int size)
#if MLUSIM_SINCE(320)
MLUSIM_HISTOGRAM(int, int8, __bang_histogram);
MLUSIM_HISTOGRAM(half, int8, __bang_histogram);
MLUSIM_HISTOGRAM(float, int8, __bang_histogram);
MLUSIM_HISTOGRAM(int16, int8, __bang_histogram);
#endif
#if !defined(__BANG_ARCH__) || __BANG_ARCH__ == 322 || __BANG_ARCH__ == 372
MLUSIM_HISTOGRAM(half, int16, __bang_histogram);
MLUSIM_HISTOGRAM(float, int16, __bang_histogram);
MLUSIM_HISTOGRAM(int16, int16, __bang_histogram);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_HISTOGRAM(float, half, __bang_histogram);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_HISTOGRAM(float, bfloat16_t, __bang_histogram);
#endif

#endif  // MLUSIM_MATRIX_H_
