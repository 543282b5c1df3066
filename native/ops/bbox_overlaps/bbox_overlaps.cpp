#include "ops/bbox_overlaps/bbox_overlaps.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument bbox1;
  TensorArgument bbox2;
  TensorArgument ious;
};

mluOpStatus_t check_boxes(const Entry &entry, const TensorArgument &boxes) {
  if (boxes.desc->dims[0] == 0) return MLUOP_STATUS_SUCCESS;
  return need_dim(entry, boxes, 1, "x1, y1, x2 and y2", 4);
}

// The result of no aligned boxes has a last dim of 1.
mluOpStatus_t check_aligned(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_same_dim(entry, t.bbox2, 0, t.bbox1, 0));
  if (t.bbox1.desc->dims[0] != 0) return need_rank(entry, t.ious, 1, "[N]");
  const int rank = t.ious.desc->rank;
  MLUOPS_REQUIRE(rank > 0 && t.ious.desc->dims[rank - 1] == 1, MLUOP_STATUS_BAD_PARAM, entry, "ious_desc",
                 "a last dimension of 1 without boxes", describe(t.ious.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check(const Entry &entry, const Tensors &t, int mode, bool aligned, int offset) {
  MLUOPS_TRY(need_float_or_half(entry, t.bbox1));
  for (const TensorArgument &tensor : {t.bbox2, t.ious}) MLUOPS_TRY(need_same_dtype(entry, tensor, t.bbox1));
  MLUOPS_TRY(need_rank(entry, t.bbox1, 2, "[N, 4]"));
  MLUOPS_TRY(need_rank(entry, t.bbox2, 2, "[M, 4]"));
  MLUOPS_TRY(need_packed(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(need_between(entry, "mode", mode, 0, 1));
  MLUOPS_TRY(check_boxes(entry, t.bbox1));
  MLUOPS_TRY(check_boxes(entry, t.bbox2));
  MLUOPS_TRY(need_between(entry, "offset", offset, 0, 1));
  MLUOPS_REQUIRE(t.ious.desc->rank > 0, MLUOP_STATUS_BAD_PARAM, entry, "ious_desc", aligned ? "[N]" : "[N, M]",
                 describe(t.ious.desc));
  MLUOPS_TRY(need_same_dim(entry, t.ious, 0, t.bbox1, 0));
  if (aligned) return check_aligned(entry, t);
  MLUOPS_TRY(need_rank(entry, t.ious, 2, "[N, M]"));
  return need_same_dim(entry, t.ious, 1, t.bbox2, 0);
}

}  // namespace

mluOpStatus_t bbox_overlaps(const Entry &entry, mluOpHandle_t handle, int mode, bool aligned, int offset,
                            const TensorArgument &bbox1, const TensorArgument &bbox2, const TensorArgument &ious) {
  const Tensors t{bbox1, bbox2, ious};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(check(entry, t, mode, aligned, offset));
  if (t.ious.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_indexable(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(need_data(entry, {t.bbox1, t.bbox2, t.ious}));
  MLUOPS_TRY(require_no_overlap(entry, {t.ious}, {t.bbox1, t.bbox2}));
  BboxOverlapsProblem problem;
  problem.function = entry.function;
  problem.type = t.bbox1.desc->dtype;
  problem.of_first = mode == 1;
  problem.aligned = aligned;
  problem.offset = offset;
  problem.first_count = t.bbox1.desc->dims[0];
  problem.second_count = t.bbox2.desc->dims[0];
  problem.first = t.bbox1.data;
  problem.second = t.bbox2.data;
  problem.ious = const_cast<void *>(t.ious.data);
  return launch_bbox_overlaps(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(BboxOverlaps);

mluOpStatus_t MLUOP_WIN_API mluOpBboxOverlaps(mluOpHandle_t handle, const int mode, const bool aligned,
                                              const int offset, const mluOpTensorDescriptor_t bbox1_desc,
                                              const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc,
                                              const void *bbox2, const mluOpTensorDescriptor_t ious_desc, void *ious) {
  return mluops::guarded("mluOpBboxOverlaps", [&] {
    return mluops::bbox_overlaps({"mluOpBboxOverlaps"}, handle, mode, aligned, offset, {"bbox1", bbox1_desc, bbox1},
                                 {"bbox2", bbox2_desc, bbox2}, {"ious", ious_desc, ious});
  });
}
