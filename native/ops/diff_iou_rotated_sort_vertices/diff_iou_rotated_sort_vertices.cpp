#include "ops/diff_iou_rotated_sort_vertices/diff_iou_rotated_sort_vertices.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument vertices;
  TensorArgument mask;
  TensorArgument num_valid;
  TensorArgument idx;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.vertices, 4, "[B, N, 24, 2]"));
  MLUOPS_TRY(need_rank(entry, t.mask, 3, "[B, N, 24]"));
  MLUOPS_TRY(need_rank(entry, t.num_valid, 2, "[B, N]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 3, "[B, N, 9]"));
  MLUOPS_TRY(need_packed(entry, {t.vertices, t.mask, t.num_valid, t.idx}));
  MLUOPS_TRY(need_float(entry, t.vertices));
  MLUOPS_TRY(need_dtype(entry, t.mask, MLUOP_DTYPE_BOOL));
  MLUOPS_TRY(need_dtype(entry, t.num_valid, MLUOP_DTYPE_INT32));
  return need_dtype(entry, t.idx, MLUOP_DTYPE_INT32);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  for (int dim = 0; dim < 2; ++dim) {
    for (const TensorArgument &tensor : {t.mask, t.num_valid, t.idx})
      MLUOPS_TRY(need_same_dim(entry, tensor, dim, t.vertices, dim));
  }
  for (const TensorArgument &tensor : {t.vertices, t.mask})
    MLUOPS_TRY(need_dim(entry, tensor, 2, "number of vertices", kPolygonVertices));
  MLUOPS_TRY(need_dim(entry, t.vertices, 3, "x and y", 2));
  return need_dim(entry, t.idx, 2, "number of places", kPolygonPlaces);
}

}  // namespace

mluOpStatus_t diff_iou_rotated_sort_vertices_forward(const Entry &entry, mluOpHandle_t handle,
                                                     const TensorArgument &vertices, const TensorArgument &mask,
                                                     const TensorArgument &num_valid, const TensorArgument &idx) {
  const Tensors t{vertices, mask, num_valid, idx};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.vertices, t.mask, t.num_valid, t.idx}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_indexable(entry, {t.vertices, t.mask, t.num_valid, t.idx}));
  if (t.vertices.desc->dims[1] == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_elements(entry, t.vertices));
  MLUOPS_TRY(need_data(entry, {t.vertices, t.mask, t.num_valid, t.idx}));
  MLUOPS_TRY(require_no_overlap(entry, {t.idx}, {t.vertices, t.mask, t.num_valid}));

  SortVerticesProblem problem;
  problem.function = entry.function;
  problem.is_double = t.vertices.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.polygons = t.num_valid.desc->count;
  problem.vertices = t.vertices.data;
  problem.mask = static_cast<const unsigned char *>(t.mask.data);
  problem.counts = static_cast<const std::int32_t *>(t.num_valid.data);
  problem.order = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  return launch_sort_vertices(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(DiffIouRotatedSortVerticesForward);

mluOpStatus_t MLUOP_WIN_API mluOpDiffIouRotatedSortVerticesForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t vertices_desc, const void *vertices,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t num_valid_desc,
    const void *num_valid, const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluOpDiffIouRotatedSortVerticesForward", [&] {
    return mluops::diff_iou_rotated_sort_vertices_forward(
        {"mluOpDiffIouRotatedSortVerticesForward"}, handle, {"vertices", vertices_desc, vertices},
        {"mask", mask_desc, mask}, {"num_valid", num_valid_desc, num_valid}, {"idx", idx_desc, idx});
  });
}
