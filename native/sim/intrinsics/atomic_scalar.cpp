// __cn_scalar_atomic_*: atomic changes of one element of GDRAM by the scalar unit, memory cores
// included.
#include "check/align.h"
#include "intrinsics/atomic_value.h"
#include "mlusim/atomic.h"

namespace mlusim {
namespace {

template <typename T>
T begin(const Call &call, T *memory) {
  const Operand operand = memory_operand("a", memory, sizeof(T));
  align_check_element(call, memory, sizeof(T));
  check_place(call, operand);
  if (g_observers.any()) observe({call.core, kScalar, operand.kind, operand.space, operand.region, call.name, call.pc});
  return *memory;
}

template <typename T>
T scalar_change(const Call &call, Atomic op, T *memory, T value) {
  const T old = begin(call, memory);
  change<T>(op, memory, {&value, false}, 1);
  return old;
}

template <typename T>
T scalar_swap(const Call &call, T *memory, T expected, T value) {
  const T old = begin(call, memory);
  if (old == expected) *memory = value;
  return old;
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_SCALAR_ATOMIC(name, operation, T)                                                      \
  T __cn_scalar_atomic_##name(T *a, T b) {                                                                   \
    return mlusim::scalar_change(MLUSIM_CALL("__cn_scalar_atomic_" #name), mlusim::Atomic::operation, a, b); \
  }
#define MLUSIM_DEFINE_SCALAR_CAS(name, operation, T)                               \
  T __cn_scalar_atomic_##name(T *a, T b, T c) {                                    \
    return mlusim::scalar_swap(MLUSIM_CALL("__cn_scalar_atomic_" #name), a, b, c); \
  }
MLUSIM_SCALAR_ATOMICS(MLUSIM_DEFINE_SCALAR_ATOMIC)
MLUSIM_SCALAR_ATOMIC_INTEGERS(MLUSIM_DEFINE_SCALAR_CAS, cas, )
