// DiffIouRotatedSortVertices: the corners of polygons in the order of a walk around them.
#ifndef MLUOPS_OPS_DIFF_IOU_ROTATED_SORT_VERTICES_DIFF_IOU_ROTATED_SORT_VERTICES_H_
#define MLUOPS_OPS_DIFF_IOU_ROTATED_SORT_VERTICES_DIFF_IOU_ROTATED_SORT_VERTICES_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kPolygonVertices = 24;  // that two rectangles may have in common: 8 corners, 16 crossings
constexpr int kPolygonCorners = 8;    // that their common polygon has at most
constexpr int kPolygonPlaces = 9;     // the corners, and the first one again

// Of each polygon, the masked vertices by their angle around the origin; `counts` of them, at most
// 8 and none if there are fewer than 3. The first one follows again, then the number of the first
// crossing that is not masked, or 0.
struct SortVerticesProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;        // type of the vertices: float or double
  std::int64_t polygons;
  const void *vertices;        // [polygons, 24, 2]
  const unsigned char *mask;   // [polygons, 24]
  const std::int32_t *counts;  // [polygons]
  std::int32_t *order;         // [polygons, 9]
};

mluOpStatus_t launch_sort_vertices(mluOpHandle_t handle, const SortVerticesProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_DIFF_IOU_ROTATED_SORT_VERTICES_DIFF_IOU_ROTATED_SORT_VERTICES_H_
