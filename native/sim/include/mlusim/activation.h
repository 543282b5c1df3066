// Functions of one operand that devices compute with tables, or with the first terms of a Taylor
// series.
#ifndef MLUSIM_ACTIVATION_H_
#define MLUSIM_ACTIVATION_H_

#include "mlusim/elementwise.h"

MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_gelu);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_gelup);
MLUSIM_HALF_FLOAT(MLUSIM_UNARY, __bang_active_sigmoid_hp);

// Both temporaries, as large as src, are overwritten.
#define MLUSIM_TAYLOR(T, name) MLUSIM_API void name(T *dst, const T *src, T *tmp1, T *tmp2, int elem_count)
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor3_sin);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor3_cos);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor3_tanh);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor3_sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor3_softplus);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor4_sin);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor4_cos);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor4_tanh);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor4_sigmoid);
MLUSIM_HALF_FLOAT(MLUSIM_TAYLOR, __bang_taylor4_softplus);

// Uniformly distributed random numbers.
MLUSIM_API void __bang_rand(short *dst, int elem_count);

#endif  // MLUSIM_ACTIVATION_H_
