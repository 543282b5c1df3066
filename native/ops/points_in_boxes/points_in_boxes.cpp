#include "ops/points_in_boxes/points_in_boxes.h"

#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/points_in_boxes.h"

namespace mluops {
namespace {

constexpr int kCoordinates = 3, kBoxNumbers = 7;
constexpr double kMargin = 1e-5;  // of mluOpPointsInBoxes

PointsInBoxesProblem problem_of(const Entry &entry, const TensorArgument &points, const TensorArgument &boxes,
                                double margin, bool centred) {
  PointsInBoxesProblem problem;
  problem.function = entry.function;
  problem.batches = points.desc->dims[0];
  problem.points = points.desc->dims[1];
  problem.boxes = boxes.desc->dims[1];
  problem.margin = margin;
  problem.centred = centred;
  problem.half = points.desc->dtype == MLUOP_DTYPE_HALF;
  problem.is_double = points.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.xyz = points.data;
  problem.rows = boxes.data;
  problem.first = problem.all = nullptr;
  return problem;
}

std::int32_t *integers(const TensorArgument &tensor) {
  return static_cast<std::int32_t *>(const_cast<void *>(tensor.data));
}

}  // namespace

mluOpStatus_t points_in_boxes(const Entry &entry, mluOpHandle_t handle, const TensorArgument &points,
                              const TensorArgument &boxes, const TensorArgument &indices) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {points, boxes, indices}));
  MLUOPS_TRY(need_rank(entry, points, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, boxes, 3, "[B, M, 7]"));
  MLUOPS_TRY(need_rank(entry, indices, 2, "[B, N]"));
  for (const TensorArgument &tensor : {points, boxes}) MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(need_dtype(entry, indices, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {points, boxes, indices})
    MLUOPS_TRY(need_layout(entry, tensor, MLUOP_LAYOUT_ARRAY));
  for (const TensorArgument &tensor : {boxes, indices}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, points, 0));
  MLUOPS_TRY(need_same_dim(entry, indices, 1, points, 1));
  MLUOPS_TRY(need_dim(entry, points, 2, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(entry, boxes, 2, "x, y, z, dx, dy, dz, heading", kBoxNumbers));
  MLUOPS_TRY(need_packed(entry, {points, boxes, indices}));
  MLUOPS_TRY(need_indexable(entry, {points, boxes}));
  for (const TensorArgument &tensor : {points, boxes, indices}) {
    if (tensor.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_data(entry, {points, boxes, indices}));
  MLUOPS_TRY(require_no_overlap(entry, {indices}, {points, boxes}));
  PointsInBoxesProblem problem = problem_of(entry, points, boxes, kMargin, true);
  problem.first = integers(indices);
  return launch_points_in_boxes(handle, problem);
}

namespace {

// `all` tells which of the two functions it is.
mluOpStatus_t points_in_boxes_extension(const Entry &entry, mluOpHandle_t handle, const TensorArgument &boxes,
                                        const TensorArgument &points, double margin, bool centred,
                                        const TensorArgument &result, bool all) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {boxes, points, result}));
  MLUOPS_REQUIRE(std::fabs(margin) <= std::numeric_limits<float>::max(), MLUOP_STATUS_BAD_PARAM, entry, "margin",
                 "a number that is finite in float", Text::format("%g", margin));
  MLUOPS_TRY(need_rank(entry, boxes, 3, "[B, M, 7]"));
  MLUOPS_TRY(need_rank(entry, points, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, result, all ? 3 : 2, all ? "[B, N, M]" : "[B, N]"));
  for (const TensorArgument &tensor : {points, result}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, boxes, 0));
  MLUOPS_TRY(need_same_dim(entry, result, 1, points, 1));
  if (all) MLUOPS_TRY(need_same_dim(entry, result, 2, boxes, 1));
  MLUOPS_TRY(need_dim(entry, boxes, 2, "x, y, z, dx, dy, dz, heading", kBoxNumbers));
  MLUOPS_TRY(need_dim(entry, points, 2, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_packed(entry, {boxes, points, result}));
  if (boxes.desc->dtype != MLUOP_DTYPE_DOUBLE) MLUOPS_TRY(need_float_or_half(entry, boxes));
  MLUOPS_TRY(need_same_dtype(entry, points, boxes));
  MLUOPS_TRY(need_dtype(entry, result, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {boxes, points}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {boxes, points}));  // the result may be larger
  MLUOPS_TRY(need_data(entry, {boxes, points, result}));
  MLUOPS_TRY(require_no_overlap(entry, {result}, {boxes, points}));
  PointsInBoxesProblem problem = problem_of(entry, points, boxes, margin, centred);
  (all ? problem.all : problem.first) = integers(result);
  return launch_points_in_boxes(handle, problem);
}

}  // namespace
}  // namespace mluops

MLUOPS_IN_DOUBLE(PointsInBoxes);

mluOpStatus_t MLUOP_WIN_API mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                               const void *points, const mluOpTensorDescriptor_t boxes_desc,
                                               const void *boxes, const mluOpTensorDescriptor_t points_indices_desc,
                                               void *points_indices) {
  return mluops::guarded("mluOpPointsInBoxes", [&] {
    return mluops::points_in_boxes({"mluOpPointsInBoxes"}, handle, {"points", points_desc, points},
                                   {"boxes", boxes_desc, boxes},
                                   {"points_indices", points_indices_desc, points_indices});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInBoxesPart(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                                       const void *boxes, const mluOpTensorDescriptor_t points_desc,
                                                       const void *points, const double margin, const bool centred,
                                                       const mluOpTensorDescriptor_t points_indices_desc,
                                                       void *points_indices) {
  return mluops::guarded("mluopsExtPointsInBoxesPart", [&] {
    return mluops::points_in_boxes_extension({"mluopsExtPointsInBoxesPart"}, handle, {"boxes", boxes_desc, boxes},
                                             {"points", points_desc, points}, margin, centred,
                                             {"points_indices", points_indices_desc, points_indices}, false);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInBoxesAll(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                                      const void *boxes, const mluOpTensorDescriptor_t points_desc,
                                                      const void *points, const double margin, const bool centred,
                                                      const mluOpTensorDescriptor_t points_inside_desc,
                                                      void *points_inside) {
  return mluops::guarded("mluopsExtPointsInBoxesAll", [&] {
    return mluops::points_in_boxes_extension({"mluopsExtPointsInBoxesAll"}, handle, {"boxes", boxes_desc, boxes},
                                             {"points", points_desc, points}, margin, centred,
                                             {"points_inside", points_inside_desc, points_inside}, true);
  });
}
