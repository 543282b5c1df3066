#include "ops/points_in_polygons/points_in_polygons.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/points_in_polygons.h"

namespace mluops {
namespace {

mluOpStatus_t points_in_polygons(const char *function, mluOpHandle_t handle, const TensorArgument &points,
                                 const TensorArgument &polygons, const TensorArgument &inside) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {points, polygons, inside}));
  MLUOPS_TRY(need_rank(function, points, 2, "[N, 2]"));
  MLUOPS_TRY(need_dim(function, points, 1, "x and y", 2));
  MLUOPS_TRY(need_rank(function, polygons, 2, "[M, 8]"));
  MLUOPS_TRY(need_dim(function, polygons, 1, "x and y of four corners", kPolygonNumbers));
  MLUOPS_TRY(need_rank(function, inside, 2, "[N, M]"));
  MLUOPS_TRY(need_same_dim(function, inside, 0, points, 0));
  MLUOPS_TRY(need_same_dim(function, inside, 1, polygons, 0));
  MLUOPS_TRY(need_packed(function, {points, polygons, inside}));
  MLUOPS_TRY(need_float({function, points.desc->dtype == MLUOP_DTYPE_DOUBLE}, points));
  for (const TensorArgument &tensor : {polygons, inside}) MLUOPS_TRY(need_same_dtype(function, tensor, points));
  MLUOPS_TRY(need_indexable(function, {points, polygons, inside}));
  if (inside.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {points, polygons, inside}));
  MLUOPS_TRY(require_no_overlap(function, {inside}, {points, polygons}));
  PointsInPolygonsProblem problem;
  problem.function = function;
  problem.is_double = points.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.point_count = points.desc->dims[0];
  problem.polygon_count = polygons.desc->dims[0];
  problem.points = points.data;
  problem.polygons = polygons.data;
  problem.inside = const_cast<void *>(inside.data);
  return launch_points_in_polygons(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInPolygons(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                      const void *points, const mluOpTensorDescriptor_t polygons_desc,
                                                      const void *polygons, const mluOpTensorDescriptor_t inside_desc,
                                                      void *inside) {
  return mluops::guarded("mluopsExtPointsInPolygons", [&] {
    return mluops::points_in_polygons("mluopsExtPointsInPolygons", handle, {"points", points_desc, points},
                                      {"polygons", polygons_desc, polygons}, {"inside", inside_desc, inside});
  });
}
