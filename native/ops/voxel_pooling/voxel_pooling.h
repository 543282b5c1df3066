// VoxelPooling: the sum of the features of all points in each column of a grid, seen from above,
// and the gradient of the features.
#ifndef MLUOPS_OPS_VOXEL_POOLING_VOXEL_POOLING_H_
#define MLUOPS_OPS_VOXEL_POOLING_VOXEL_POOLING_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct VoxelPoolingGeometry {
  std::int64_t batches;
  std::int64_t points;  // of a batch
  std::int64_t channels;
  std::int64_t width, height;
};

// A point whose cell (x, y, z) lies in the grid is added to pixel (y, x) of its batch, in the order
// of the points. `memo` is (batch, y, x) then, else -1 three times. Every extent is at least 1.
struct VoxelPoolingForwardProblem {
  const char *function;  // of the entry point, for messages
  VoxelPoolingGeometry geometry;
  std::int64_t depth;        // cells along z
  bool is_double;            // type of the features: float or double
  const std::int32_t *geom;  // [batches, points, 3]
  const void *input;         // [batches, points, channels]
  void *output;              // [batches, height, width, channels]
  std::int32_t *memo;        // [batches, points, 3]
};

// A point gets the gradient of the pixel (batch, y, x) that its memo names, 0 if there is none.
// Every extent is at least 1.
struct VoxelPoolingBackwardProblem {
  const char *function;
  VoxelPoolingGeometry geometry;
  std::int64_t item_size;    // bytes of a value
  const void *grad_output;   // [batches, height, width, channels]
  const std::int32_t *memo;  // [batches, points, 3]
  void *grad_input;          // [batches, points, channels]
};

mluOpStatus_t launch_voxel_pooling_forward(mluOpHandle_t handle, const VoxelPoolingForwardProblem &problem);
mluOpStatus_t launch_voxel_pooling_backward(mluOpHandle_t handle, const VoxelPoolingBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_VOXEL_POOLING_VOXEL_POOLING_H_
