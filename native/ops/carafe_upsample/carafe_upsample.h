// Carafe: a map enlarged by a whole factor, each new cell a weighted sum of a window of old ones.
#ifndef MLUOPS_OPS_CARAFE_UPSAMPLE_CARAFE_UPSAMPLE_H_
#define MLUOPS_OPS_CARAFE_UPSAMPLE_CARAFE_UPSAMPLE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct CarafeGeometry {
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t kernel;
  std::int64_t groups;
  std::int64_t scale;
  mluOpDataType_t dtype;

  std::int64_t cells() const { return kernel * kernel; }
  std::int64_t masks() const { return groups * cells(); }
};

struct CarafeForwardProblem {
  const char *function;  // of the entry point, for messages
  CarafeGeometry geometry;
  const void *input;
  const void *mask;
  void *output;
};

struct CarafeBackwardProblem {
  const char *function;  // of the entry point, for messages
  CarafeGeometry geometry;
  const void *input;
  const void *mask;
  const void *grad_output;
  void *grad_input;
  void *grad_mask;
};

mluOpStatus_t launch_carafe_forward(mluOpHandle_t handle, const CarafeForwardProblem &problem);
mluOpStatus_t launch_carafe_backward(mluOpHandle_t handle, const CarafeBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_CARAFE_UPSAMPLE_CARAFE_UPSAMPLE_H_
