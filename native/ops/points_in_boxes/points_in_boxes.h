// PointsInBoxes: which upright boxes hold each point.
#ifndef MLUOPS_OPS_POINTS_IN_BOXES_POINTS_IN_BOXES_H_
#define MLUOPS_OPS_POINTS_IN_BOXES_POINTS_IN_BOXES_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// A box is (x, y, z, dx, dy, dz, heading), z of its centre if `centred`, else of its bottom. It
// holds a point that is less than dx / 2 + margin and dy / 2 + margin away from its centre along
// its own axes, and at most dz / 2 above or below it; a NaN height counts as such. Every extent is
// at least 1.
struct PointsInBoxesProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t batches;
  std::int64_t points;
  std::int64_t boxes;
  double margin;
  bool centred;
  bool half;  // type of points and boxes: half, double, or float
  bool is_double;
  const void *xyz;      // [batches, points, 3]
  const void *rows;     // [batches, boxes, 7]
  std::int32_t *first;  // [batches, points]: the first box that holds the point, or -1; or NULL
  std::int32_t *all;    // [batches, points, boxes]: 1 if the box holds the point, else 0; or NULL
};

mluOpStatus_t launch_points_in_boxes(mluOpHandle_t handle, const PointsInBoxesProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_POINTS_IN_BOXES_POINTS_IN_BOXES_H_
