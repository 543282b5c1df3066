// Correlation: products of patches of two maps at several displacements, and the gradients of both.
#ifndef MLUOPS_OPS_CORRELATION_CORRELATION_H_
#define MLUOPS_OPS_CORRELATION_CORRELATION_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kMostOfNumber = 32767;  // so that no place overflows

// What there is of everything along an axis.
struct CorrelationAxis {
  std::int64_t size;    // of the maps
  std::int64_t result;  // of the result
  std::int64_t kernel;
  std::int64_t patch;  // displacements
  std::int64_t stride;
  std::int64_t pad;
  std::int64_t dilation;  // of the kernel
  std::int64_t dilation_patch;
  std::int64_t displacement(std::int64_t number) const {
    return number * dilation_patch - dilation_patch * (patch - 1) / 2;
  }
};

// Every extent is at least 1.
struct CorrelationGeometry {
  mluOpDataType_t type;  // of all arrays: half, float or double
  std::int64_t batches;
  std::int64_t channels;
  CorrelationAxis y;
  CorrelationAxis x;
};

// Maps are [batches, channels, y.size, x.size], the result and its gradient [batches, y.patch,
// x.patch, y.result, x.result].
struct CorrelationForwardProblem {
  const char *function;  // of the entry point, for messages
  CorrelationGeometry geometry;
  const void *input1;
  const void *input2;
  void *output;
};

struct CorrelationBackwardProblem {
  const char *function;
  CorrelationGeometry geometry;
  const void *grad_output;
  const void *input1;
  const void *input2;
  void *grad_input1;
  void *grad_input2;
};

mluOpStatus_t launch_correlation_forward(mluOpHandle_t handle, const CorrelationForwardProblem &problem);
mluOpStatus_t launch_correlation_backward(mluOpHandle_t handle, const CorrelationBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_CORRELATION_CORRELATION_H_
