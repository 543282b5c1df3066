// StackThreeInterpolate: each row is the weighted sum of three rows of features.
#ifndef MLUOPS_OPS_STACK_THREE_INTERPOLATE_STACK_THREE_INTERPOLATE_H_
#define MLUOPS_OPS_STACK_THREE_INTERPOLATE_STACK_THREE_INTERPOLATE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Forward: result[n] is the sum over i of weights[n, i] * source[indices[n, i]], in the order of i.
// Backward: result[m] is the sum over n, then i, with indices[n, i] == m, of weights[n, i] *
// source[n]. An index that is no row adds nothing. Every extent is at least 1.
struct StackThreeInterpolateProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // half, float or double
  std::int64_t sources;  // M
  std::int64_t targets;  // N
  std::int64_t channels;
  const void *source;           // features [sources, channels], or gradients [targets, channels]
  const std::int32_t *indices;  // [targets, 3]
  const void *weights;          // [targets, 3]
  void *result;                 // [targets, channels], or [sources, channels]
};

mluOpStatus_t launch_stack_three_interpolate_forward(mluOpHandle_t handle, const StackThreeInterpolateProblem &problem);
mluOpStatus_t launch_stack_three_interpolate_backward(mluOpHandle_t handle,
                                                      const StackThreeInterpolateProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_STACK_THREE_INTERPOLATE_STACK_THREE_INTERPOLATE_H_
