// Sets of nine points in a plane: their convex hulls against quadrilaterals, and the smallest
// rectangles around them.
#ifndef MLUOPS_OPS_POINT_SETS_POINT_SETS_H_
#define MLUOPS_OPS_POINT_SETS_POINT_SETS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Of all pairs of a set and a quadrilateral.
struct ConvexIouProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;        // type of all arrays: float or double
  std::int64_t sets;
  std::int64_t polygons_count;
  const void *pointsets;  // [sets, 18]
  const void *polygons;   // [polygons_count, 8]
  void *ious;             // [sets, polygons_count]
};

// Of the rows in the same place.
struct ConvexGiouProblem {
  const char *function;
  bool is_double;
  std::int64_t sets;
  const void *pointsets;  // [sets, 18]
  const void *polygons;   // [sets, 8]
  void *gious;            // [sets]
  void *gradients;        // [sets, 18]
};

struct MinAreaPolygonsProblem {
  const char *function;
  bool is_double;
  std::int64_t sets;
  const void *pointsets;  // [sets, 18]
  void *polygons;         // [sets, 8]
};

mluOpStatus_t launch_convex_iou(mluOpHandle_t handle, const ConvexIouProblem &problem);
mluOpStatus_t launch_convex_giou(mluOpHandle_t handle, const ConvexGiouProblem &problem);
mluOpStatus_t launch_min_area_polygons(mluOpHandle_t handle, const MinAreaPolygonsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_POINT_SETS_H_
