// Voxelization: the points of each cell of a regular grid, and the cell of each point.
#ifndef MLUOPS_OPS_VOXELIZATION_VOXELIZATION_H_
#define MLUOPS_OPS_VOXELIZATION_VOXELIZATION_H_

#include <cstddef>
#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// A point is a row whose first three columns are x, y and z. Along each axis the grid has
// round((highest - lowest) / size) cells, halves rounded away from zero, and a point lies in cell
// floor((place - lowest) / size), all in the type of the points. An axis whose size or range is not
// positive or not finite has no cells. A point in no cell is left out.
struct VoxelGrid {
  std::int64_t points;
  std::int64_t features;  // columns, at least 3
  const void *rows;       // [points, features]
  const void *size;       // [3]: x, y, z
  const void *range;      // [6]: lowest x, y, z, highest x, y, z
  bool half = false;      // type of these arrays: half, double, or float
  bool is_double = false;
};

// The first point of a cell opens a voxel, the next number, until there are max_voxels; points of
// other cells are left out then. The first max_points points of a voxel are copied, in order; what
// remains of the outputs is zeros. There is at least one voxel, one point in each, and one point.
struct VoxelizationProblem {
  const char *function;  // of the entry point, for messages
  VoxelGrid grid;
  std::int64_t max_points;
  std::int64_t max_voxels;
  void *workspace;
  void *voxels;          // [max_voxels, max_points, features]
  std::int32_t *coors;   // [max_voxels, 3]: z, y, x
  std::int32_t *counts;  // [max_voxels]: points copied
  std::int32_t *voxel_num;
};

// coors[i] is the cell (z, y, x) of point i, or -1 three times.
struct DynamicVoxelizeProblem {
  const char *function;
  VoxelGrid grid;
  std::int32_t *coors;  // [points, 3]
};

// Slots of the table of voxels: a power of two, of which half or more stay free.
std::int64_t voxel_slots(std::int64_t points, std::int64_t max_voxels);
std::size_t workspace_voxelization(std::int64_t points, std::int64_t max_voxels);
mluOpStatus_t launch_voxelization(mluOpHandle_t handle, const VoxelizationProblem &problem);
mluOpStatus_t launch_dynamic_voxelize(mluOpHandle_t handle, const DynamicVoxelizeProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_VOXELIZATION_VOXELIZATION_H_
