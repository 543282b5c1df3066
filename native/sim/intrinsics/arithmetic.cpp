// __bang_add, __bang_sub, __bang_mul, __bang_div, __bang_rem in all forms; minima and maxima.
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "mlusim/elementwise.h"

MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_add, arithmetic_loops, kAdd);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_sub, arithmetic_loops, kSub);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_mul, arithmetic_loops, kMul);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_add_scalar, arithmetic_loops, kAdd);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_sub_scalar, arithmetic_loops, kSub);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_mul_scalar, arithmetic_loops, kMul);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SCALAR, __bang_add_const, arithmetic_loops, kAdd);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SCALAR, __bang_sub_const, arithmetic_loops, kSub);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SCALAR, __bang_mul_const, arithmetic_loops, kMul);
MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_add, arithmetic_loops, kAdd);
MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_sub, arithmetic_loops, kSub);
MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_mul, arithmetic_loops, kMul);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_BINARY, __bang_add_tz, arithmetic_loops, kAddTowardZero);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_CYCLE, __bang_cycle_add_tz, arithmetic_loops, kAddTowardZero);

MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_add, arithmetic_loops, kAdd);
MLUSIM_DEFINE_BINARY(std::int64_t, __bang_add, arithmetic_loops, kAdd)
MLUSIM_DEFINE_BINARY(std::uint64_t, __bang_add, arithmetic_loops, kAdd)
MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_sub, arithmetic_loops, kSub);
MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_mul, arithmetic_loops, kMul);
MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_add_scalar, arithmetic_loops, kAdd);
MLUSIM_DEFINE_SCALAR(std::int64_t, __bang_add_scalar, arithmetic_loops, kAdd)
MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_sub_scalar, arithmetic_loops, kSub);
MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_mul_scalar, arithmetic_loops, kMul);
MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_add, arithmetic_loops, kAdd);
MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_sub, arithmetic_loops, kSub);
MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_mul, arithmetic_loops, kMul);

#define MLUSIM_DEFINE_NEGATION(T, name, table, op)                                                                 \
  void name(T *dst, const T *src, int elem_count) {                                                                \
    const T value = static_cast<T>(-1);                                                                            \
    ::mlusim::vector_scalar(MLUSIM_CALL(#name), {::mlusim::table(), ::mlusim::Binary::op, ::mlusim::type_of<T>()}, \
                            dst, src, &value, elem_count);                                                         \
  }
MLUSIM_REALS(MLUSIM_DEFINE_NEGATION, __bang_neg, arithmetic_loops, kMul);
MLUSIM_INTEGERS(MLUSIM_DEFINE_NEGATION, __bang_neg, arithmetic_loops, kMul);

MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_div, arithmetic_loops, kDiv);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_div, arithmetic_loops, kDiv);
MLUSIM_WORDS(MLUSIM_DEFINE_BINARY, __bang_div, arithmetic_loops, kDiv);
MLUSIM_WORDS(MLUSIM_DEFINE_SCALAR, __bang_div, arithmetic_loops, kDiv);
MLUSIM_WORDS(MLUSIM_DEFINE_BINARY, __bang_rem, arithmetic_loops, kRem);
MLUSIM_WORDS(MLUSIM_DEFINE_SCALAR, __bang_rem, arithmetic_loops, kRem);
MLUSIM_DEFINE_SCALAR(float, __bang_rem, arithmetic_loops, kRem)

MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_maxequal, arithmetic_loops, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_minequal, arithmetic_loops, kMin);
MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_maxequal, arithmetic_loops, kMax);
MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_minequal, arithmetic_loops, kMin);
MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_maxequal, arithmetic_loops, kMax);
MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_minequal, arithmetic_loops, kMin);
MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_maxeq_scalar, arithmetic_loops, kMax);
MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_mineq_scalar, arithmetic_loops, kMin);
MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_maxequal, arithmetic_loops, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_minequal, arithmetic_loops, kMin);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_maxeq_scalar, arithmetic_loops, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_mineq_scalar, arithmetic_loops, kMin);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_maximum_scalar, arithmetic_loops, kNumberMax);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_minimum_scalar, arithmetic_loops, kNumberMin);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_nan_maximum_scalar, arithmetic_loops, kNanMax);
MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_nan_minimum_scalar, arithmetic_loops, kNanMin);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_nan_maximum, arithmetic_loops, kNanMax);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_nan_minimum, arithmetic_loops, kNanMin);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_CYCLE, __bang_cycle_nan_maximum, arithmetic_loops, kNanMax);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_CYCLE, __bang_cycle_nan_minimum, arithmetic_loops, kNanMin);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_CYCLE, __bang_cycle_maximum, arithmetic_loops, kNumberMax);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_CYCLE, __bang_cycle_minimum, arithmetic_loops, kNumberMin);

namespace mlusim {
namespace {

// ---- With scratch memory ------------------------------------------------------------------------

// Computes src0 times the reciprocal of src1.
void divide_by_reciprocal(const Call &call, Type type, void *dst, const void *src0, const void *src1, void *scratch,
                          int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * size_of(type);
  const std::size_t element = static_cast<std::size_t>(size_of(type));
  check_operands(call,
                 {nram_source("src0", src0, bytes), nram_source("src1", src1, bytes), nram_target("dst", dst, bytes)},
                 {count, bytes});
  // Rounded once: the device's approximation is unknown.
  run_vector(of_card({arithmetic_loops(), Binary::kDiv, type}), dst, src0, src1, count);
  if (g_observers.init) shadow_elements(dst, element, count, {src0, element, count}, {src1, element, count});
  spoil(call, "src_addition", scratch, bytes);
}

void spoiling_binary(const Call &call, Binary op, Type type, void *dst, const void *src0, void *src1, int count) {
  vector_binary(call, {arithmetic_loops(), op, type}, dst, src0, src1, count);
  if (src1 != dst) spoil(call, "src1", src1, count * size_of(type));
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_DIV_SCRATCH(T, name)                                                               \
  void name(T *dst, const T *src0, const T *src1, T *src_addition, int elem_count) {                     \
    mlusim::Call call = MLUSIM_CALL(#name);                                                              \
    call.rule = "__bang_div with scratch";                                                               \
    mlusim::divide_by_reciprocal(call, mlusim::type_of<T>(), dst, src0, src1, src_addition, elem_count); \
  }
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_DIV_SCRATCH, __bang_div);

#define MLUSIM_DEFINE_BINARY_SCRATCH(T, name, op)                                                          \
  void name(T *dst, const T *src0, T *src1, int elem_count) {                                              \
    mlusim::spoiling_binary(MLUSIM_CALL(#name), mlusim::Binary::op, mlusim::type_of<T>(), dst, src0, src1, \
                            elem_count);                                                                   \
  }
MLUSIM_REALS(MLUSIM_DEFINE_BINARY_SCRATCH, __bang_maximum, kNumberMax);
MLUSIM_REALS(MLUSIM_DEFINE_BINARY_SCRATCH, __bang_minimum, kNumberMin);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_BINARY_SCRATCH, __bang_mininum, kNumberMin);

void __bang_maximum(half *dst, const half *src, int distance, int size) {
  const mlusim::BinaryWork work = {mlusim::arithmetic_loops(), mlusim::Binary::kNumberMax, mlusim::Type::kHalf};
  mlusim::vector_binary(MLUSIM_CALL("__bang_maximum"), work, dst, src, src + distance, size);
}
