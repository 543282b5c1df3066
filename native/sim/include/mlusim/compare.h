// Comparisons of vectors: the result is 1 or 0 of the operands' type, or one bit per element.
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
#define MLUSIM_INTEGER_COMPARISON(name)                   \
  MLUSIM_INTEGERS(MLUSIM_BINARY, __bang_##name);          \
  MLUSIM_INTEGERS(MLUSIM_SCALAR, __bang_##name##_scalar); \
  MLUSIM_INTEGERS(MLUSIM_CYCLE, __bang_cycle_##name)
MLUSIM_INTEGER_COMPARISON(eq);
MLUSIM_INTEGER_COMPARISON(ne);
MLUSIM_INTEGER_COMPARISON(lt);
MLUSIM_INTEGER_COMPARISON(le);
MLUSIM_INTEGER_COMPARISON(gt);
MLUSIM_INTEGER_COMPARISON(ge);
#endif

// Writes bit i % 8 of byte i / 8 of dst; dst may start at the address of a source.
MLUSIM_REALS(MLUSIM_BINARY, __bang_eq_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ne_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_lt_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_le_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_gt_bitindex);
MLUSIM_REALS(MLUSIM_BINARY, __bang_ge_bitindex);

// Also 1 if one operand is NaN.
#if MLUSIM_SINCE(392)
#define MLUSIM_UNORDERED_COMPARISON(name)              \
  MLUSIM_REALS(MLUSIM_BINARY, __bang_##name);          \
  MLUSIM_REALS(MLUSIM_SCALAR, __bang_##name##_scalar); \
  MLUSIM_REALS(MLUSIM_CYCLE, __bang_cycle_##name);     \
  MLUSIM_REALS(MLUSIM_BINARY, __bang_##name##_bitindex)
MLUSIM_UNORDERED_COMPARISON(equ);
MLUSIM_UNORDERED_COMPARISON(neu);
MLUSIM_UNORDERED_COMPARISON(ltu);
MLUSIM_UNORDERED_COMPARISON(leu);
MLUSIM_UNORDERED_COMPARISON(gtu);
MLUSIM_UNORDERED_COMPARISON(geu);
#endif

#endif  // MLUSIM_COMPARE_H_
