// DynamicPointToVoxel: the voxels that points with given places make, and the sum, mean or largest
// value of their features in each; and the gradient of the features.
#ifndef MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_DYNAMIC_POINT_TO_VOXEL_H_
#define MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_DYNAMIC_POINT_TO_VOXEL_H_

#include <cstddef>
#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// The distinct rows of `coors` without a negative number are the voxels, in ascending order. A
// point of any other row belongs to none. Features are added in the order of the points and divided
// by their number afterwards; of a maximum NaN is no part, so that it may be -infinity. There is at
// least one point and one channel.
struct ScatterForwardProblem {
  const char *function;  // of the entry point, for messages
  mluOpReduceMode_t reduce;
  std::int64_t points;
  std::int64_t channels;
  std::int64_t rows;          // of the outputs of voxels
  bool is_double;             // type of the features: float or double
  const void *feats;          // [points, channels]
  const std::int32_t *coors;  // [points, 3]
  std::int32_t *marked;       // NULL, or `coors`: rows with a negative number become -1
  void *workspace;
  void *voxel_feats;          // [rows, channels]: behind the voxels 0, or -infinity for a maximum
  std::int32_t *voxel_coors;  // [rows, 3]: behind the voxels -1
  std::int32_t *map;          // [points]: the voxel of each point, or -1
  std::int32_t *counts;       // [rows]: points of each voxel, behind the voxels 0
  std::int32_t *voxel_num;
  // If there are more voxels than rows, their number is set and nothing is written.
  std::int64_t *needed;
};

// A gradient of a sum goes to all points of the voxel, that of a mean divided by their number, that
// of a maximum to the first point that has it in this channel. Points whose voxel is none of the
// first `voxels` get 0, and so do channels of maxima that no point has. There is at least one point
// and one channel.
struct ScatterBackwardProblem {
  const char *function;
  mluOpReduceMode_t reduce;
  std::int64_t points;
  std::int64_t channels;
  std::int64_t rows;              // of the arrays of voxels
  const std::int32_t *voxel_num;  // NULL: as many voxels as rows
  bool is_double;
  const void *grad_voxel_feats;  // [rows, channels]
  const void *feats;             // [points, channels]
  const void *voxel_feats;       // [rows, channels]
  const std::int32_t *map;       // [points]
  const std::int32_t *counts;    // [rows]
  void *workspace;
  void *grad_feats;  // [points, channels]
};

std::size_t workspace_scatter_forward(std::int64_t points);
std::size_t workspace_scatter_backward(std::int64_t points, std::int64_t rows);
mluOpStatus_t launch_scatter_forward(mluOpHandle_t handle, const ScatterForwardProblem &problem);
mluOpStatus_t launch_scatter_backward(mluOpHandle_t handle, const ScatterBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_DYNAMIC_POINT_TO_VOXEL_H_
