#include "ops/roi_point_pool3d/roi_point_pool3d.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

constexpr int kCoordinates = 3, kBoxNumbers = 7;

struct Tensors {
  TensorArgument points;
  TensorArgument features;
  TensorArgument boxes;
  TensorArgument pooled;
  TensorArgument empty;
};

struct Sizes {
  int batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num;
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Sizes &sizes) {
  MLUOPS_TRY(need_rank(entry, t.points, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.features, 3, "[B, N, C]"));
  MLUOPS_TRY(need_rank(entry, t.boxes, 3, "[B, M, 7]"));
  MLUOPS_TRY(need_rank(entry, t.pooled, 4, "[B, M, S, 3 + C]"));
  MLUOPS_TRY(need_rank(entry, t.empty, 2, "[B, M]"));
  MLUOPS_TRY(need_dim(entry, t.points, 2, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(entry, t.boxes, 2, "x, y, z, dx, dy, dz, heading", kBoxNumbers));
  for (const TensorArgument &tensor : {t.pooled, t.points, t.features, t.boxes, t.empty})
    MLUOPS_TRY(need_dim(entry, tensor, 0, "batch_size", sizes.batch_size));
  for (const TensorArgument &tensor : {t.boxes, t.pooled, t.empty})
    MLUOPS_TRY(need_dim(entry, tensor, 1, "boxes_num", sizes.boxes_num));
  for (const TensorArgument &tensor : {t.points, t.features})
    MLUOPS_TRY(need_dim(entry, tensor, 1, "pts_num", sizes.pts_num));
  MLUOPS_TRY(need_dim(entry, t.features, 2, "feature_in_len", sizes.feature_in_len));
  MLUOPS_TRY(need_dim(entry, t.pooled, 2, "sampled_pts_num", sizes.sampled_pts_num));
  return need_dim(entry, t.pooled, 3, "3 + feature_in_len", std::int64_t{kCoordinates} + sizes.feature_in_len);
}

// `need_real` checks the type of one of the real tensors, and that it is the same as that of the
// result.
template <typename NeedReal>
mluOpStatus_t check_tensors(const Entry &entry, const Tensors &t, const Sizes &sizes, const NeedReal &need_real) {
  MLUOPS_TRY(check_shapes(entry, t, sizes));
  MLUOPS_TRY(need_packed(entry, {t.points, t.features, t.boxes, t.pooled, t.empty}));
  MLUOPS_TRY(need_real(t.points));
  MLUOPS_TRY(need_dtype(entry, t.empty, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.features, t.boxes, t.pooled})
    MLUOPS_TRY(need_same_dtype(entry, tensor, t.points));
  return MLUOP_STATUS_SUCCESS;
}

// The kernel works in the caches of the CPU. The function in double asks here as well.
mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const Tensors &t, const Sizes &sizes,
                             std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.points, t.features, t.boxes, t.pooled, t.empty}));
  MLUOPS_TRY(need_pointer(entry, "size", size));
  MLUOPS_TRY(check_tensors(entry, t, sizes, [&](const TensorArgument &tensor) {
    return tensor.desc->dtype == MLUOP_DTYPE_DOUBLE ? MLUOP_STATUS_SUCCESS : need_float_or_half(entry, tensor);
  }));
  MLUOPS_TRY(need_indexable(entry, {t.points, t.features, t.boxes, t.pooled, t.empty}));
  for (const TensorArgument &tensor : {t.points, t.features, t.boxes, t.pooled, t.empty})
    MLUOPS_TRY(need_elements(entry, tensor));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t roi_point_pool3d(const Entry &entry, mluOpHandle_t handle, int batch_size, int pts_num, int boxes_num,
                               int feature_in_len, int sampled_pts_num, const TensorArgument &points,
                               const TensorArgument &point_features, const TensorArgument &boxes3d, void *workspace,
                               std::size_t workspace_size, const TensorArgument &pooled_features,
                               const TensorArgument &pooled_empty_flag) {
  const Tensors t{points, point_features, boxes3d, pooled_features, pooled_empty_flag};
  const Sizes sizes{batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {points, point_features, boxes3d, pooled_features, pooled_empty_flag}));
  MLUOPS_TRY(
      check_tensors(entry, t, sizes, [&](const TensorArgument &tensor) { return need_float_or_half(entry, tensor); }));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  for (const TensorArgument &tensor : {points, point_features, boxes3d, pooled_features, pooled_empty_flag})
    MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {points, point_features, boxes3d, pooled_features, pooled_empty_flag}));
  MLUOPS_TRY(need_data(entry, {points, point_features, boxes3d, pooled_features, pooled_empty_flag}));
  MLUOPS_TRY(require_no_overlap(entry, {pooled_features, pooled_empty_flag}, {points, point_features, boxes3d}));
  const RoiPointPool3dProblem problem{entry.function,
                                      batch_size,
                                      pts_num,
                                      boxes_num,
                                      feature_in_len,
                                      sampled_pts_num,
                                      points.desc->dtype == MLUOP_DTYPE_HALF,
                                      points.desc->dtype == MLUOP_DTYPE_DOUBLE,
                                      points.data,
                                      point_features.data,
                                      boxes3d.data,
                                      const_cast<void *>(pooled_features.data),
                                      static_cast<std::int32_t *>(const_cast<void *>(pooled_empty_flag.data))};
  return launch_roi_point_pool3d(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(RoiPointPool3d);

mluOpStatus_t MLUOP_WIN_API mluOpGetRoiPointPool3dWorkspaceSize(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc,
    const mluOpTensorDescriptor_t point_features_desc, const mluOpTensorDescriptor_t boxes3d_desc,
    const mluOpTensorDescriptor_t pooled_features_desc, const mluOpTensorDescriptor_t pooled_empty_flag_desc,
    size_t *size) {
  return mluops::guarded("mluOpGetRoiPointPool3dWorkspaceSize", [&] {
    const mluops::Tensors tensors{{"points", points_desc, nullptr},
                                  {"point_features", point_features_desc, nullptr},
                                  {"boxes3d", boxes3d_desc, nullptr},
                                  {"pooled_features", pooled_features_desc, nullptr},
                                  {"pooled_empty_flag", pooled_empty_flag_desc, nullptr}};
    return mluops::workspace_size({"mluOpGetRoiPointPool3dWorkspaceSize"}, handle, tensors,
                                  {batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num}, size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiPointPool3d(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t point_features_desc, const void *point_features,
    const mluOpTensorDescriptor_t boxes3d_desc, const void *boxes3d, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features,
    const mluOpTensorDescriptor_t pooled_empty_flag_desc, void *pooled_empty_flag) {
  return mluops::guarded("mluOpRoiPointPool3d", [&] {
    return mluops::roi_point_pool3d({"mluOpRoiPointPool3d"}, handle, batch_size, pts_num, boxes_num, feature_in_len,
                                    sampled_pts_num, {"points", points_desc, points},
                                    {"point_features", point_features_desc, point_features},
                                    {"boxes3d", boxes3d_desc, boxes3d}, workspace, workspace_size,
                                    {"pooled_features", pooled_features_desc, pooled_features},
                                    {"pooled_empty_flag", pooled_empty_flag_desc, pooled_empty_flag});
  });
}
