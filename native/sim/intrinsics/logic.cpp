// __bang_and, __bang_or, __bang_xor, __bang_not and their bitwise counterparts in all forms;
// __bang_srl.
#include "intrinsics/vector.h"
#include "mlusim/elementwise.h"

#define MLUSIM_LOGIC(name, op)                                                          \
  MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_##name, logic_loops, op);                   \
  MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, logic_loops, op);          \
  MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_##name, logic_loops, op);              \
  MLUSIM_LOGIC_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_##name, logic_loops, op);          \
  MLUSIM_LOGIC_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, logic_loops, op); \
  MLUSIM_LOGIC_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_##name, logic_loops, op)
MLUSIM_LOGIC(and, kAnd);
MLUSIM_LOGIC(or, kOr);
MLUSIM_LOGIC(xor, kXor);

MLUSIM_REALS(MLUSIM_DEFINE_UNARY, __bang_not, kNot);
MLUSIM_LOGIC_INTEGERS(MLUSIM_DEFINE_UNARY, __bang_not, kNot);
MLUSIM_DEFINE_UNARY(unsigned int, __bang_not, kNot)

#define MLUSIM_BIT_TYPES(form, ...) \
  form(char, __VA_ARGS__);          \
  form(signed char, __VA_ARGS__);   \
  MLUSIM_BIT_INTEGERS(form, __VA_ARGS__)
#define MLUSIM_BITS(name, op)                                                       \
  MLUSIM_BIT_TYPES(MLUSIM_DEFINE_BINARY, __bang_##name, logic_loops, op);           \
  MLUSIM_BIT_TYPES(MLUSIM_DEFINE_CYCLE, __bang_cycle_##name, logic_loops, op);      \
  MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, logic_loops, op); \
  MLUSIM_LOGIC_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, logic_loops, op)
MLUSIM_BITS(band, kBitAnd);
MLUSIM_BITS(bor, kBitOr);
MLUSIM_BITS(bxor, kBitXor);
MLUSIM_DEFINE_BINARY(float, __bang_band, logic_loops, kBitAnd)
MLUSIM_BIT_TYPES(MLUSIM_DEFINE_UNARY, __bang_bnot, kBitNot);

void __bang_srl(unsigned int *dst, const unsigned int *src, int shift, int elem_count) {
  const mlusim::BinaryWork work = {mlusim::logic_loops(), mlusim::Binary::kShiftRight, mlusim::Type::kUInt32};
  mlusim::vector_scalar(MLUSIM_CALL("__bang_srl"), work, dst, src, &shift, elem_count);
}
