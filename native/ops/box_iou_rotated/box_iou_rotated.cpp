#include "ops/box_iou_rotated/box_iou_rotated.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

constexpr int kNumbers = 5;

struct Tensors {
  TensorArgument bbox1;
  TensorArgument bbox2;
  TensorArgument ious;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t, int mode) {
  MLUOPS_TRY(need_float(entry, t.bbox1));
  MLUOPS_TRY(need_same_dtype(entry, t.bbox2, t.bbox1));
  MLUOPS_TRY(need_same_dtype(entry, t.ious, t.bbox1));
  return need_between(entry, "mode", mode, 0, 1);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, bool aligned) {
  MLUOPS_TRY(need_rank(entry, t.bbox1, 2, "[N, 5]"));
  MLUOPS_TRY(need_rank(entry, t.bbox2, 2, "[M, 5]"));
  for (const TensorArgument &boxes : {t.bbox1, t.bbox2}) {
    if (boxes.desc->dims[0] != 0) MLUOPS_TRY(need_dim(entry, boxes, 1, "x, y, width, height and angle", kNumbers));
  }
  MLUOPS_TRY(need_rank(entry, t.ious, aligned ? 1 : 2, aligned ? "[N]" : "[N, M]"));
  MLUOPS_TRY(need_same_dim(entry, t.ious, 0, t.bbox1, 0));
  return aligned ? need_same_dim(entry, t.bbox2, 0, t.bbox1, 0) : need_same_dim(entry, t.ious, 1, t.bbox2, 0);
}

}  // namespace

mluOpStatus_t box_iou_rotated(const Entry &entry, mluOpHandle_t handle, int mode, bool aligned,
                              const TensorArgument &bbox1, const TensorArgument &bbox2, const TensorArgument &ious) {
  const Tensors t{bbox1, bbox2, ious};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(check_types(entry, t, mode));
  MLUOPS_TRY(check_shapes(entry, t, aligned));
  MLUOPS_TRY(need_packed(entry, {t.bbox1, t.bbox2, t.ious}));
  if (t.ious.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_indexable(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(need_data(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(require_no_overlap(entry, {t.ious}, {t.bbox1, t.bbox2}));

  BoxIouRotatedProblem problem;
  problem.function = entry.function;
  problem.of_first = mode == 1;
  problem.aligned = aligned;
  problem.is_double = t.bbox1.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.first_count = t.bbox1.desc->dims[0];
  problem.second_count = t.bbox2.desc->dims[0];
  problem.first = t.bbox1.data;
  problem.second = t.bbox2.data;
  problem.ious = const_cast<void *>(t.ious.data);
  return launch_box_iou_rotated(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(BoxIouRotated);

mluOpStatus_t MLUOP_WIN_API mluOpBoxIouRotated(mluOpHandle_t handle, const int mode, const bool aligned,
                                               const mluOpTensorDescriptor_t bbox1_desc, const void *bbox1,
                                               const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
                                               const mluOpTensorDescriptor_t ious_desc, void *ious) {
  return mluops::guarded("mluOpBoxIouRotated", [&] {
    return mluops::box_iou_rotated({"mluOpBoxIouRotated"}, handle, mode, aligned, {"bbox1", bbox1_desc, bbox1},
                                   {"bbox2", bbox2_desc, bbox2}, {"ious", ious_desc, ious});
  });
}
