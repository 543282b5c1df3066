#include "ops/boxes3d/boxes3d.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/boxes3d.h"

namespace mluops {
namespace {

mluOpStatus_t need_float_or_double(const char *function, const TensorArgument &tensor) {
  return need_float({function, tensor.desc->dtype == MLUOP_DTYPE_DOUBLE}, tensor);
}

mluOpStatus_t need_boxes(const char *function, const TensorArgument &boxes) {
  MLUOPS_TRY(need_rank(function, boxes, 2, "[N, 7]"));
  return need_dim(function, boxes, 1, "x, y, z, dx, dy, dz and heading", kBoxNumbers);
}

struct Pairs {
  TensorArgument boxes_a;
  TensorArgument boxes_b;
  TensorArgument values;
};

mluOpStatus_t check_pairs(const char *function, mluOpHandle_t handle, bool aligned, const Pairs &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.boxes_a, t.boxes_b, t.values}));
  MLUOPS_TRY(need_boxes(function, t.boxes_a));
  MLUOPS_TRY(need_boxes(function, t.boxes_b));
  MLUOPS_TRY(need_rank(function, t.values, aligned ? 1 : 2, aligned ? "[N]" : "[N, M]"));
  MLUOPS_TRY(need_same_dim(function, t.values, 0, t.boxes_a, 0));
  MLUOPS_TRY(aligned ? need_same_dim(function, t.boxes_b, 0, t.boxes_a, 0)
                     : need_same_dim(function, t.values, 1, t.boxes_b, 0));
  MLUOPS_TRY(need_packed(function, {t.boxes_a, t.boxes_b, t.values}));
  MLUOPS_TRY(need_float_or_double(function, t.boxes_a));
  for (const TensorArgument &tensor : {t.boxes_b, t.values}) MLUOPS_TRY(need_same_dtype(function, tensor, t.boxes_a));
  return need_indexable(function, {t.boxes_a, t.boxes_b, t.values});
}

mluOpStatus_t values_of_pairs(const char *function, mluOpHandle_t handle, BoxesValue value, bool aligned,
                              const Pairs &t) {
  MLUOPS_TRY(check_pairs(function, handle, aligned, t));
  if (t.values.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.boxes_a, t.boxes_b, t.values}));
  MLUOPS_TRY(require_no_overlap(function, {t.values}, {t.boxes_a, t.boxes_b}));
  BoxesValuesProblem problem;
  problem.function = function;
  problem.value = value;
  problem.aligned = aligned;
  problem.is_double = t.boxes_a.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.first_count = t.boxes_a.desc->dims[0];
  problem.second_count = t.boxes_b.desc->dims[0];
  problem.first = t.boxes_a.data;
  problem.second = t.boxes_b.data;
  problem.values = const_cast<void *>(t.values.data);
  return launch_boxes_values(handle, problem);
}

struct Suppressed {
  TensorArgument boxes;
  TensorArgument scores;
  TensorArgument output;
};

mluOpStatus_t check_suppression(const char *function, mluOpHandle_t handle, const Suppressed &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(need_boxes(function, t.boxes));
  for (const TensorArgument &tensor : {t.scores, t.output}) {
    MLUOPS_TRY(need_rank(function, tensor, 1, "[N]"));
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.boxes, 0));
  }
  MLUOPS_TRY(need_packed(function, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(need_float_or_double(function, t.boxes));
  MLUOPS_TRY(need_same_dtype(function, t.scores, t.boxes));
  MLUOPS_TRY(need_dtype(function, t.output, MLUOP_DTYPE_INT32));
  return need_indexable(function, {t.boxes});
}

mluOpStatus_t need_number(const char *function, const std::int32_t *result_num) {
  MLUOPS_TRY(need_pointer(function, "result_num", result_num));
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(result_num) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 function, "result_num", "an address aligned to 4 bytes",
                 Text::format("%p", static_cast<const void *>(result_num)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_memory(const char *function, const Suppressed &t, const std::int32_t *result_num) {
  MLUOPS_TRY(need_data(function, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(require_no_overlap(function, {t.output}, {t.boxes, t.scores}));
  for (const TensorArgument &tensor : {t.boxes, t.scores, t.output}) {
    MLUOPS_TRY(require_no_overlap(function, "result_num", result_num, sizeof *result_num, tensor.name, tensor.data,
                                  tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t keep_boxes(const char *function, mluOpHandle_t handle, double iou_threshold, bool upright,
                         const Suppressed &t, std::int32_t *result_num) {
  MLUOPS_TRY(check_suppression(function, handle, t));
  MLUOPS_TRY(need_number(function, result_num));
  if (t.boxes.desc->dims[0] == 0) {
    *result_num = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(check_memory(function, t, result_num));
  BoxesSuppressionProblem problem;
  problem.function = function;
  problem.iou_threshold = iou_threshold;
  problem.upright = upright;
  problem.is_double = t.boxes.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.count = t.boxes.desc->dims[0];
  problem.boxes = t.boxes.data;
  problem.scores = t.scores.data;
  problem.kept = static_cast<std::int32_t *>(const_cast<void *>(t.output.data));
  problem.kept_count = result_num;
  return launch_boxes_suppression(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesOverlapBev(mluOpHandle_t handle, const bool aligned,
                                                     const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
                                                     const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b,
                                                     const mluOpTensorDescriptor_t overlaps_desc, void *overlaps) {
  return mluops::guarded("mluopsExtBoxesOverlapBev", [&] {
    return mluops::values_of_pairs("mluopsExtBoxesOverlapBev", handle, mluops::BoxesValue::kOverlapBev, aligned,
                                   {{"boxes_a", boxes_a_desc, boxes_a},
                                    {"boxes_b", boxes_b_desc, boxes_b},
                                    {"overlaps", overlaps_desc, overlaps}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesIouBev(mluOpHandle_t handle, const bool aligned,
                                                 const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
                                                 const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b,
                                                 const mluOpTensorDescriptor_t ious_desc, void *ious) {
  return mluops::guarded("mluopsExtBoxesIouBev", [&] {
    return mluops::values_of_pairs(
        "mluopsExtBoxesIouBev", handle, mluops::BoxesValue::kIouBev, aligned,
        {{"boxes_a", boxes_a_desc, boxes_a}, {"boxes_b", boxes_b_desc, boxes_b}, {"ious", ious_desc, ious}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesIou3d(mluOpHandle_t handle, const bool aligned,
                                                const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
                                                const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b,
                                                const mluOpTensorDescriptor_t ious_desc, void *ious) {
  return mluops::guarded("mluopsExtBoxesIou3d", [&] {
    return mluops::values_of_pairs(
        "mluopsExtBoxesIou3d", handle, mluops::BoxesValue::kIou3d, aligned,
        {{"boxes_a", boxes_a_desc, boxes_a}, {"boxes_b", boxes_b_desc, boxes_b}, {"ious", ious_desc, ious}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtNms3d(mluOpHandle_t handle, const double iou_threshold,
                                           const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                           const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                           const mluOpTensorDescriptor_t output_desc, void *output,
                                           int32_t *result_num) {
  return mluops::guarded("mluopsExtNms3d", [&] {
    return mluops::keep_boxes(
        "mluopsExtNms3d", handle, iou_threshold, false,
        {{"boxes", boxes_desc, boxes}, {"scores", scores_desc, scores}, {"output", output_desc, output}}, result_num);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtNms3dNormal(mluOpHandle_t handle, const double iou_threshold,
                                                 const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                                 const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                                 const mluOpTensorDescriptor_t output_desc, void *output,
                                                 int32_t *result_num) {
  return mluops::guarded("mluopsExtNms3dNormal", [&] {
    return mluops::keep_boxes(
        "mluopsExtNms3dNormal", handle, iou_threshold, true,
        {{"boxes", boxes_desc, boxes}, {"scores", scores_desc, scores}, {"output", output_desc, output}}, result_num);
  });
}
