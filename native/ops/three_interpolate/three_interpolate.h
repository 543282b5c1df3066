// ThreeInterpolate: each target point is the weighted sum of three source points.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_THREE_INTERPOLATE_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_THREE_INTERPOLATE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kNeighbours = 3;

struct ThreeInterpolateGeometry {
  std::int64_t batches;
  std::int64_t channels;
  std::int64_t sources;    // M
  std::int64_t targets;    // N
  bool half;               // type of features, weights and results: half (held as 16 bits) or float
  bool is_double = false;  // double instead
};

// output[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]]; an index
// outside [0, M) adds nothing.
struct ThreeInterpolateForwardProblem {
  const char *function;  // of the entry point, for messages
  ThreeInterpolateGeometry geometry;
  const void *features;         // [batches, channels, sources]
  const std::int32_t *indices;  // [batches, targets, kNeighbours]
  const void *weights;          // [batches, targets, kNeighbours]
  void *output;                 // [batches, channels, targets]
};

// grad_features[b, c, m] = sum over n, then i, with indices[b, n, i] == m, of weights[b, n, i] *
// grad_output[b, c, n].
struct ThreeInterpolateBackwardProblem {
  const char *function;  // of the entry point, for messages
  ThreeInterpolateGeometry geometry;
  const void *grad_output;
  const std::int32_t *indices;
  const void *weights;
  void *grad_features;
};

mluOpStatus_t launch_three_interpolate_forward(mluOpHandle_t handle, const ThreeInterpolateForwardProblem &problem);
mluOpStatus_t launch_three_interpolate_backward(mluOpHandle_t handle, const ThreeInterpolateBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_THREE_INTERPOLATE_H_
