// Loops over two operands, made from an operation on two values. Included by the files that define
// the operations.
#ifndef MLUSIM_INTRINSICS_LOOPS_BINARY_H_
#define MLUSIM_INTRINSICS_LOOPS_BINARY_H_

#include "intrinsics/loops/level.h"

namespace mlusim {
namespace MLUOPS_LEVEL {

// Elements of type T are computed as Wide.
template <typename Op, typename T, typename Wide>
static void binary_vector(void *dst, const void *src0, const void *src1, std::size_t count) {
  T *to = static_cast<T *>(dst);
  const T *a = static_cast<const T *>(src0);
  const T *b = static_cast<const T *>(src1);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(Op::of(static_cast<Wide>(a[i]), static_cast<Wide>(b[i])));
  }
}

template <typename Op, typename T, typename Wide>
static void binary_scalar(void *dst, const void *src0, const void *src1, std::size_t count) {
  T *to = static_cast<T *>(dst);
  const T *a = static_cast<const T *>(src0);
  const Wide b = static_cast<Wide>(*static_cast<const T *>(src1));
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(Op::of(static_cast<Wide>(a[i]), b));
}

// ---- Making tables ------------------------------------------------------------------------------

// Enters the loops for elements of type `type`, stored as T.
template <typename Op, typename T, typename Wide = T>
static constexpr void put(BinaryLoops *loops, Binary op, Type type) {
  loops->vector[static_cast<int>(op)][static_cast<int>(type)] = binary_vector<Op, T, Wide>;
  loops->scalar[static_cast<int>(op)][static_cast<int>(type)] = binary_scalar<Op, T, Wide>;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_LOOPS_BINARY_H_
