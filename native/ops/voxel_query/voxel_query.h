// VoxelQuery: the points in the cells around a centre that lie in a ball around it.
#ifndef MLUOPS_OPS_VOXEL_QUERY_VOXEL_QUERY_H_
#define MLUOPS_OPS_VOXEL_QUERY_VOXEL_QUERY_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Cells are visited from the lowest to the highest place, along z, then y, then x. Every extent is
// at least 1.
struct VoxelQueryProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t centres;
  std::int64_t points;
  std::int64_t batches;
  std::int64_t size[3];   // of the grid, along z, y and x
  std::int64_t range[3];  // cells on each side of the centre's own
  std::int64_t nsample;
  double radius;
  bool is_double;                  // type of the points: float or double
  const void *new_xyz;             // [centres, 3]
  const void *xyz;                 // [points, 3]
  const std::int32_t *new_coords;  // [centres, 4]: batch, and the centre's cell along z, y and x
  const std::int32_t *cells;       // [batches, size]: the point in each cell, another number for none
  std::int32_t *idx;               // [centres, nsample]
};

mluOpStatus_t launch_voxel_query(mluOpHandle_t handle, const VoxelQueryProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_VOXEL_QUERY_VOXEL_QUERY_H_
