#include "ops/point_sets/point_sets.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/point_sets.h"

namespace mluops {
namespace {

constexpr const char *kCorners = "x and y of four corners";

mluOpStatus_t need_float_or_double(const char *function, const TensorArgument &tensor) {
  return need_float({function, tensor.desc->dtype == MLUOP_DTYPE_DOUBLE}, tensor);
}

mluOpStatus_t need_pointsets(const char *function, const TensorArgument &pointsets) {
  MLUOPS_TRY(need_rank(function, pointsets, 2, "[N, 18]"));
  return need_dim(function, pointsets, 1, "x and y of nine points", 18);
}

// Strides, types and numbers of elements, the same for all functions.
mluOpStatus_t check_arrays(const char *function, const TensorArgument &pointsets,
                           std::initializer_list<TensorArgument> others) {
  MLUOPS_TRY(need_packed(function, {pointsets}));
  MLUOPS_TRY(need_packed(function, others));
  MLUOPS_TRY(need_float_or_double(function, pointsets));
  for (const TensorArgument &tensor : others) MLUOPS_TRY(need_same_dtype(function, tensor, pointsets));
  MLUOPS_TRY(need_indexable(function, {pointsets}));
  return need_indexable(function, others);
}

mluOpStatus_t convex_iou(mluOpHandle_t handle, const TensorArgument &pointsets, const TensorArgument &polygons,
                         const TensorArgument &ious) {
  constexpr const char *kFunction = "mluopsExtConvexIou";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {pointsets, polygons, ious}));
  MLUOPS_TRY(need_pointsets(kFunction, pointsets));
  MLUOPS_TRY(need_rank(kFunction, polygons, 2, "[K, 8]"));
  MLUOPS_TRY(need_dim(kFunction, polygons, 1, kCorners, 8));
  MLUOPS_TRY(need_rank(kFunction, ious, 2, "[N, K]"));
  MLUOPS_TRY(need_same_dim(kFunction, ious, 0, pointsets, 0));
  MLUOPS_TRY(need_same_dim(kFunction, ious, 1, polygons, 0));
  MLUOPS_TRY(check_arrays(kFunction, pointsets, {polygons, ious}));
  if (ious.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {pointsets, polygons, ious}));
  MLUOPS_TRY(require_no_overlap(kFunction, {ious}, {pointsets, polygons}));
  ConvexIouProblem problem;
  problem.function = kFunction;
  problem.is_double = pointsets.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.sets = pointsets.desc->dims[0];
  problem.polygons_count = polygons.desc->dims[0];
  problem.pointsets = pointsets.data;
  problem.polygons = polygons.data;
  problem.ious = const_cast<void *>(ious.data);
  return launch_convex_iou(handle, problem);
}

mluOpStatus_t convex_giou(mluOpHandle_t handle, const TensorArgument &pointsets, const TensorArgument &polygons,
                          const TensorArgument &gious, const TensorArgument &gradients) {
  constexpr const char *kFunction = "mluopsExtConvexGiou";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {pointsets, polygons, gious, gradients}));
  MLUOPS_TRY(need_pointsets(kFunction, pointsets));
  MLUOPS_TRY(need_rank(kFunction, polygons, 2, "[N, 8]"));
  MLUOPS_TRY(need_same_dim(kFunction, polygons, 0, pointsets, 0));
  MLUOPS_TRY(need_dim(kFunction, polygons, 1, kCorners, 8));
  MLUOPS_TRY(need_rank(kFunction, gious, 1, "[N]"));
  MLUOPS_TRY(need_same_dim(kFunction, gious, 0, pointsets, 0));
  MLUOPS_TRY(need_rank(kFunction, gradients, 2, "[N, 18]"));
  MLUOPS_TRY(need_same_shape(kFunction, gradients, pointsets));
  MLUOPS_TRY(check_arrays(kFunction, pointsets, {polygons, gious, gradients}));
  if (pointsets.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {pointsets, polygons, gious, gradients}));
  MLUOPS_TRY(require_no_overlap(kFunction, {gious, gradients}, {pointsets, polygons}));
  ConvexGiouProblem problem;
  problem.function = kFunction;
  problem.is_double = pointsets.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.sets = pointsets.desc->dims[0];
  problem.pointsets = pointsets.data;
  problem.polygons = polygons.data;
  problem.gious = const_cast<void *>(gious.data);
  problem.gradients = const_cast<void *>(gradients.data);
  return launch_convex_giou(handle, problem);
}

mluOpStatus_t min_area_polygons(mluOpHandle_t handle, const TensorArgument &pointsets, const TensorArgument &polygons) {
  constexpr const char *kFunction = "mluopsExtMinAreaPolygons";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {pointsets, polygons}));
  MLUOPS_TRY(need_pointsets(kFunction, pointsets));
  MLUOPS_TRY(need_rank(kFunction, polygons, 2, "[N, 8]"));
  MLUOPS_TRY(need_same_dim(kFunction, polygons, 0, pointsets, 0));
  MLUOPS_TRY(need_dim(kFunction, polygons, 1, kCorners, 8));
  MLUOPS_TRY(check_arrays(kFunction, pointsets, {polygons}));
  if (pointsets.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {pointsets, polygons}));
  MLUOPS_TRY(require_no_overlap(kFunction, {polygons}, {pointsets}));
  MinAreaPolygonsProblem problem;
  problem.function = kFunction;
  problem.is_double = pointsets.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.sets = pointsets.desc->dims[0];
  problem.pointsets = pointsets.data;
  problem.polygons = const_cast<void *>(polygons.data);
  return launch_min_area_polygons(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtConvexIou(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                               const void *pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                               const void *polygons, const mluOpTensorDescriptor_t ious_desc,
                                               void *ious) {
  return mluops::guarded("mluopsExtConvexIou", [&] {
    return mluops::convex_iou(handle, {"pointsets", pointsets_desc, pointsets}, {"polygons", polygons_desc, polygons},
                              {"ious", ious_desc, ious});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtConvexGiou(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                                const void *pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                                const void *polygons, const mluOpTensorDescriptor_t gious_desc,
                                                void *gious, const mluOpTensorDescriptor_t gradients_desc,
                                                void *gradients) {
  return mluops::guarded("mluopsExtConvexGiou", [&] {
    return mluops::convex_giou(handle, {"pointsets", pointsets_desc, pointsets}, {"polygons", polygons_desc, polygons},
                               {"gious", gious_desc, gious}, {"gradients", gradients_desc, gradients});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtMinAreaPolygons(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                                     const void *pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                                     void *polygons) {
  return mluops::guarded("mluopsExtMinAreaPolygons", [&] {
    return mluops::min_area_polygons(handle, {"pointsets", pointsets_desc, pointsets},
                                     {"polygons", polygons_desc, polygons});
  });
}
