#include "ops/nms_rotated/nms_rotated.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument boxes;
  TensorArgument scores;
  TensorArgument output;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_float(entry, t.boxes));
  MLUOPS_TRY(need_same_dtype(entry, t.scores, t.boxes));
  return need_dtype(entry, t.output, MLUOP_DTYPE_INT32);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_same_dim(entry, t.scores, 0, t.boxes, 0));
  MLUOPS_TRY(need_same_dim(entry, t.output, 0, t.boxes, 0));
  const long long columns = t.boxes.desc->dims[1];
  MLUOPS_REQUIRE(columns == 5 || columns == 6, MLUOP_STATUS_BAD_PARAM, entry, "boxes_desc", "[N, 5] or [N, 6]",
                 Text::format("%lld columns", columns));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_memory(const Entry &entry, const Tensors &t, const void *workspace, std::size_t workspace_size,
                           const std::int32_t *result_num) {
  MLUOPS_TRY(need_data(entry, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(need_pointer(entry, "result_num", result_num));
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(result_num) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 entry, "result_num", "an address aligned to 4 bytes",
                 Text::format("%p", static_cast<const void *>(result_num)));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(require_no_overlap(entry, {t.output}, {t.boxes, t.scores}));
  MLUOPS_TRY(require_no_overlap(entry, "result_num", result_num, sizeof *result_num, "workspace", workspace,
                                static_cast<std::int64_t>(workspace_size)));
  for (const TensorArgument &tensor : {t.boxes, t.scores, t.output}) {
    MLUOPS_TRY(require_no_overlap(entry, "workspace", workspace, static_cast<std::int64_t>(workspace_size), tensor.name,
                                  tensor.data, tensor.desc->bytes()));
    MLUOPS_TRY(require_no_overlap(entry, "result_num", result_num, sizeof *result_num, tensor.name, tensor.data,
                                  tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const TensorArgument &boxes, std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {boxes}));
  MLUOPS_TRY(need_pointer(entry, "workspace_size", size));
  MLUOPS_TRY(need_rank(entry, boxes, 2, "[N, 5] or [N, 6]"));
  *size = nms_rotated_workspace_size(boxes.desc->dims[0], boxes.desc->dtype == MLUOP_DTYPE_DOUBLE);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

// Two places in the order, the box as it is compared, a flag; and the rest of cache lines.
std::size_t nms_rotated_workspace_size(std::int64_t count, bool is_double) {
  constexpr std::size_t kFloatBox = 104, kDoubleBox = 120, kLines = 5 * 64;
  return static_cast<std::size_t>(count) * (is_double ? kDoubleBox : kFloatBox) + kLines;
}

mluOpStatus_t nms_rotated(const Entry &entry, mluOpHandle_t handle, double iou_threshold, const TensorArgument &boxes,
                          const TensorArgument &scores, void *workspace, std::size_t workspace_size,
                          const TensorArgument &output, std::int32_t *result_num) {
  const Tensors t{boxes, scores, output};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(need_rank(entry, t.boxes, 2, "[N, 5] or [N, 6]"));
  MLUOPS_TRY(need_rank(entry, t.scores, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.output, 1, "[N]"));
  MLUOPS_TRY(need_packed(entry, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_indexable(entry, {t.boxes}));
  if (t.boxes.desc->dims[0] == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(entry, t, workspace, workspace_size, result_num));

  NmsRotatedProblem problem;
  problem.function = entry.function;
  problem.iou_threshold = iou_threshold;
  problem.is_double = t.boxes.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.count = t.boxes.desc->dims[0];
  problem.columns = t.boxes.desc->dims[1];
  problem.boxes = t.boxes.data;
  problem.scores = t.scores.data;
  problem.workspace = workspace;
  problem.workspace_size = static_cast<std::int64_t>(workspace_size);
  problem.kept = static_cast<std::int32_t *>(const_cast<void *>(t.output.data));
  problem.kept_count = result_num;
  return launch_nms_rotated(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(NmsRotated);

mluOpStatus_t MLUOP_WIN_API mluOpGetNmsRotatedWorkspaceSize(mluOpHandle_t handle,
                                                            const mluOpTensorDescriptor_t boxes_desc,
                                                            size_t *workspace_size) {
  return mluops::guarded("mluOpGetNmsRotatedWorkspaceSize", [&] {
    return mluops::workspace_size({"mluOpGetNmsRotatedWorkspaceSize"}, handle, {"boxes", boxes_desc, nullptr},
                                  workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpNmsRotated(mluOpHandle_t handle, const float iou_threshold,
                                            const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                            const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                            void *workspace, size_t workspace_size,
                                            const mluOpTensorDescriptor_t output_desc, void *output,
                                            int32_t *result_num) {
  return mluops::guarded("mluOpNmsRotated", [&] {
    return mluops::nms_rotated({"mluOpNmsRotated"}, handle, iou_threshold, {"boxes", boxes_desc, boxes},
                               {"scores", scores_desc, scores}, workspace, workspace_size,
                               {"output", output_desc, output}, result_num);
  });
}
