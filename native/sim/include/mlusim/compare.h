// Comparisons of vectors: 1 or 0 of the operands' type, or one bit for each element.
#ifndef MLUSIM_COMPARE_H_
#define MLUSIM_COMPARE_H_

#include "mlusim/elementwise.h"

MLUSIM_REALS(MLUSIM_BINARY, __bang_eq);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ne);
MLUSIM_REALS(MLUSIM_BINARY, __bang_lt);
MLUSIM_REALS(MLUSIM_BINARY, __bang_le);
MLUSIM_REALS(MLUSIM_BINARY, __bang_gt);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ge);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_eq);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_ne);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_lt);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_le);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_gt);
MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_ge);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_ge_scalar);
MLUSIM_HALF_FLOAT(MLUSIM_SCALAR, __bang_ge_const);
#if MLUSIM_SINCE(300)
MLUSIM_REALS(MLUSIM_SCALAR, __bang_eq_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_ne_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_lt_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_le_scalar);
MLUSIM_REALS(MLUSIM_SCALAR, __bang_gt_scalar);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_BINARY(int, __bang_eq);
MLUSIM_SCALAR(int, __bang_eq_scalar);
MLUSIM_SCALAR(int, __bang_ne_scalar);
MLUSIM_SCALAR(int, __bang_lt_scalar);
MLUSIM_SCALAR(int, __bang_ge_scalar);
MLUSIM_SCALAR(short, __bang_ge_scalar);
#endif

// Bit i % 8 of byte i / 8 of dst; dst may start where a source does.
MLUSIM_REALS(MLUSIM_BINARY, __bang_eq_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ne_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_lt_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_le_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_gt_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ge_bitindex);

#endif  // MLUSIM_COMPARE_H_
