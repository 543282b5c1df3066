// PointsInPolygons: which points lie in which polygons of four corners.
#ifndef MLUOPS_OPS_POINTS_IN_POLYGONS_POINTS_IN_POLYGONS_H_
#define MLUOPS_OPS_POINTS_IN_POLYGONS_POINTS_IN_POLYGONS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kPolygonNumbers = 8;  // x and y of four corners

// inside[n, m] is 1 if a ray from point n to the right crosses the border of polygon m an odd
// number of times, else 0. Edges are looked at from the one that ends in the first corner on, until
// the point lies on one.
struct PointsInPolygonsProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;        // type of all arrays: float or double
  std::int64_t point_count;
  std::int64_t polygon_count;
  const void *points;    // [point_count, 2]
  const void *polygons;  // [polygon_count, 8]
  void *inside;          // [point_count, polygon_count]
};

mluOpStatus_t launch_points_in_polygons(mluOpHandle_t handle, const PointsInPolygonsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_POINTS_IN_POLYGONS_POINTS_IN_POLYGONS_H_
