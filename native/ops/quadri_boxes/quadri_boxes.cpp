#include "ops/quadri_boxes/quadri_boxes.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/quadri_boxes.h"

namespace mluops {
namespace {

mluOpStatus_t need_float_or_double(const char *function, const TensorArgument &tensor) {
  return need_float({function, tensor.desc->dtype == MLUOP_DTYPE_DOUBLE}, tensor);
}

mluOpStatus_t need_boxes(const char *function, const TensorArgument &boxes, const char *meaning) {
  MLUOPS_TRY(need_rank(function, boxes, 2, meaning));
  return need_dim(function, boxes, 1, "x and y of four corners", 8);
}

struct Pairs {
  TensorArgument bbox1;
  TensorArgument bbox2;
  TensorArgument ious;
};

mluOpStatus_t check_pairs(const char *function, mluOpHandle_t handle, int mode, bool aligned, const Pairs &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(need_between(function, "mode", mode, 0, 3));
  MLUOPS_TRY(need_boxes(function, t.bbox1, "[N, 8]"));
  MLUOPS_TRY(need_boxes(function, t.bbox2, "[M, 8]"));
  MLUOPS_TRY(need_rank(function, t.ious, aligned ? 1 : 2, aligned ? "[N]" : "[N, M]"));
  MLUOPS_TRY(need_same_dim(function, t.ious, 0, t.bbox1, 0));
  MLUOPS_TRY(aligned ? need_same_dim(function, t.bbox2, 0, t.bbox1, 0)
                     : need_same_dim(function, t.ious, 1, t.bbox2, 0));
  MLUOPS_TRY(need_packed(function, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(need_float_or_double(function, t.bbox1));
  for (const TensorArgument &tensor : {t.bbox2, t.ious}) MLUOPS_TRY(need_same_dtype(function, tensor, t.bbox1));
  return need_indexable(function, {t.bbox1, t.bbox2, t.ious});
}

mluOpStatus_t overlaps(mluOpHandle_t handle, int mode, bool aligned, const Pairs &t) {
  constexpr const char *kFunction = "mluopsExtBoxIouQuadri";
  MLUOPS_TRY(check_pairs(kFunction, handle, mode, aligned, t));
  if (t.ious.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(require_no_overlap(kFunction, {t.ious}, {t.bbox1, t.bbox2}));
  BoxIouQuadriProblem problem;
  problem.function = kFunction;
  problem.of_first = mode % 2 == 1;
  problem.by_mmcv = mode >= 2;
  problem.aligned = aligned;
  problem.is_double = t.bbox1.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.first_count = t.bbox1.desc->dims[0];
  problem.second_count = t.bbox2.desc->dims[0];
  problem.first = t.bbox1.data;
  problem.second = t.bbox2.data;
  problem.ious = const_cast<void *>(t.ious.data);
  return launch_box_iou_quadri(handle, problem);
}

mluOpStatus_t need_number(const char *function, const char *name, const void *number) {
  MLUOPS_TRY(need_pointer(function, name, number));
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(number) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 function, name, "an address aligned to 4 bytes", Text::format("%p", number));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_apart(const char *function, const char *name, const void *number,
                         std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_TRY(require_no_overlap(function, name, number, sizeof(std::int32_t), tensor.name, tensor.data,
                                  tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

QuadriSuppressionProblem problem_of(const char *function, double threshold, const TensorArgument &boxes,
                                    const TensorArgument &output, void *number) {
  QuadriSuppressionProblem problem;
  problem.function = function;
  problem.iou_threshold = threshold;
  problem.is_double = boxes.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.count = boxes.desc->dims[0];
  problem.columns = boxes.desc->dims[1];
  problem.boxes = boxes.data;
  problem.kept = static_cast<std::int32_t *>(const_cast<void *>(output.data));
  problem.kept_count = static_cast<std::int32_t *>(number);
  return problem;
}

mluOpStatus_t keep_boxes(mluOpHandle_t handle, double iou_threshold, const TensorArgument &boxes,
                         const TensorArgument &scores, const TensorArgument &output, std::int32_t *result_num) {
  constexpr const char *kFunction = "mluopsExtNmsQuadri";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {boxes, scores, output}));
  MLUOPS_TRY(need_boxes(kFunction, boxes, "[N, 8]"));
  for (const TensorArgument &tensor : {scores, output}) {
    MLUOPS_TRY(need_rank(kFunction, tensor, 1, "[N]"));
    MLUOPS_TRY(need_same_dim(kFunction, tensor, 0, boxes, 0));
  }
  MLUOPS_TRY(need_packed(kFunction, {boxes, scores, output}));
  MLUOPS_TRY(need_float_or_double(kFunction, boxes));
  MLUOPS_TRY(need_same_dtype(kFunction, scores, boxes));
  MLUOPS_TRY(need_dtype(kFunction, output, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_indexable(kFunction, {boxes}));
  MLUOPS_TRY(need_number(kFunction, "result_num", result_num));
  if (boxes.desc->dims[0] == 0) {
    *result_num = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_data(kFunction, {boxes, scores, output}));
  MLUOPS_TRY(require_no_overlap(kFunction, {output}, {boxes, scores}));
  MLUOPS_TRY(need_apart(kFunction, "result_num", result_num, {boxes, scores, output}));
  QuadriSuppressionProblem problem = problem_of(kFunction, iou_threshold, boxes, output, result_num);
  problem.scored = false;
  problem.scores = scores.data;
  return launch_quadri_suppression(handle, problem);
}

mluOpStatus_t need_scored(const Entry &entry, const TensorArgument &boxes) {
  MLUOPS_TRY(need_rank(entry, boxes, 2, "[N, 9]"));
  return need_dim(entry, boxes, 1, "x and y of four corners, and the score", 9);
}

}  // namespace

mluOpStatus_t poly_nms(const Entry &entry, mluOpHandle_t handle, const TensorArgument &boxes, double iou_threshold,
                       void *workspace, std::size_t workspace_size, const TensorArgument &output, void *output_size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {boxes, output}));
  MLUOPS_TRY(need_number(entry, "output_size", output_size));
  MLUOPS_TRY(need_float(entry, boxes));
  MLUOPS_TRY(need_dtype(entry, output, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_layout(entry, boxes, MLUOP_LAYOUT_ARRAY));
  MLUOPS_TRY(need_scored(entry, boxes));
  MLUOPS_TRY(need_rank(entry, output, 1, "[N]"));
  MLUOPS_TRY(need_same_dim(entry, output, 0, boxes, 0));
  MLUOPS_TRY(need_packed(entry, {boxes, output}));
  MLUOPS_TRY(need_indexable(entry, {boxes}));
  if (boxes.desc->dims[0] == 0) {
    *static_cast<std::int32_t *>(output_size) = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_data(entry, {boxes, output}));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(require_no_overlap(entry, {output}, {boxes}));
  MLUOPS_TRY(need_apart(entry, "output_size", output_size, {boxes, output}));
  QuadriSuppressionProblem problem = problem_of(entry.function, iou_threshold, boxes, output, output_size);
  problem.scored = true;
  problem.scores = nullptr;
  return launch_quadri_suppression(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(PolyNms);

mluOpStatus_t MLUOP_WIN_API mluOpGetPolyNmsWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                                         size_t *size) {
  return mluops::guarded("mluOpGetPolyNmsWorkspaceSize", [&] {
    const mluops::Entry entry{"mluOpGetPolyNmsWorkspaceSize"};
    const mluops::TensorArgument boxes{"boxes", boxes_desc, nullptr};
    MLUOPS_TRY(mluops::need_handle(entry, handle));
    MLUOPS_TRY(mluops::need_descriptors(entry, {boxes}));
    MLUOPS_TRY(mluops::need_pointer(entry, "size", size));
    MLUOPS_TRY(mluops::need_scored(entry, boxes));
    *size = 0;
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpPolyNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                         const void *boxes, const float iou_threshold, void *workspace,
                                         size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output,
                                         void *output_size) {
  return mluops::guarded("mluOpPolyNms", [&] {
    return mluops::poly_nms({"mluOpPolyNms"}, handle, {"boxes", boxes_desc, boxes}, iou_threshold, workspace,
                            workspace_size, {"output", output_desc, output}, output_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxIouQuadri(mluOpHandle_t handle, const int mode, const bool aligned,
                                                  const mluOpTensorDescriptor_t bbox1_desc, const void *bbox1,
                                                  const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
                                                  const mluOpTensorDescriptor_t ious_desc, void *ious) {
  return mluops::guarded("mluopsExtBoxIouQuadri", [&] {
    return mluops::overlaps(handle, mode, aligned,
                            {{"bbox1", bbox1_desc, bbox1}, {"bbox2", bbox2_desc, bbox2}, {"ious", ious_desc, ious}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtNmsQuadri(mluOpHandle_t handle, const double iou_threshold,
                                               const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                               const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                               const mluOpTensorDescriptor_t output_desc, void *output,
                                               int32_t *result_num) {
  return mluops::guarded("mluopsExtNmsQuadri", [&] {
    return mluops::keep_boxes(handle, iou_threshold, {"boxes", boxes_desc, boxes}, {"scores", scores_desc, scores},
                              {"output", output_desc, output}, result_num);
  });
}
