#include "ops/roi_aware_pool3d/roi_aware_pool3d.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"
#include "ops/roi_aware_pool3d/checks.h"

namespace mluops {
namespace {

constexpr int kCoordinates = 3, kBoxNumbers = 7;

mluOpStatus_t check_forward_shapes(const Entry &entry, const RoiAwareForwardTensors &t, const RoiAwareSizes &s) {
  MLUOPS_TRY(need_rank(entry, t.rois, 2, "[boxes_num, 7]"));
  MLUOPS_TRY(need_rank(entry, t.pts, 2, "[pts_num, 3]"));
  MLUOPS_TRY(need_rank(entry, t.features, 2, "[pts_num, channels]"));
  MLUOPS_TRY(need_rank(entry, t.indices, 5, "[boxes_num, out_x, out_y, out_z, max_pts_each_voxel]"));
  MLUOPS_TRY(need_rank(entry, t.pooled, 5, "[boxes_num, out_x, out_y, out_z, channels]"));
  MLUOPS_TRY(need_dim(entry, t.rois, 0, "boxes_num", s.boxes));
  MLUOPS_TRY(need_dim(entry, t.rois, 1, "x, y, z, dx, dy, dz, heading", kBoxNumbers));
  MLUOPS_TRY(need_dim(entry, t.pts, 0, "pts_num", s.points));
  MLUOPS_TRY(need_dim(entry, t.pts, 1, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(entry, t.features, 0, "pts_num", s.points));
  MLUOPS_TRY(need_dim(entry, t.features, 1, "channels", s.channels));
  MLUOPS_TRY(need_voxels(entry, t.indices, s, "max_pts_each_voxel", s.slots));
  return need_voxels(entry, t.pooled, s, "channels", s.channels);
}

mluOpStatus_t check_argmax(const Entry &entry, const RoiAwareForwardTensors &t, const RoiAwareSizes &s) {
  MLUOPS_TRY(need_rank(entry, t.argmax, 5, "[boxes_num, out_x, out_y, out_z, channels]"));
  MLUOPS_TRY(need_voxels(entry, t.argmax, s, "channels", s.channels));
  MLUOPS_TRY(need_dtype(entry, t.argmax, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_indexable(entry, {t.argmax}));
  return need_data(entry, {t.argmax});
}

mluOpStatus_t check_forward(const Entry &entry, const RoiAwareForwardTensors &t, const RoiAwareSizes &s,
                            const void *workspace, std::size_t workspace_size) {
  MLUOPS_TRY(check_forward_shapes(entry, t, s));
  MLUOPS_TRY(need_float_or_half(entry, t.rois));
  for (const TensorArgument &tensor : {t.pts, t.features}) MLUOPS_TRY(need_same_dtype(entry, tensor, t.rois));
  MLUOPS_TRY(need_dtype(entry, t.indices, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(entry, t.pooled, t.rois));
  MLUOPS_TRY(check_numbers(entry, s));
  MLUOPS_TRY(need_packed(entry, {t.rois, t.pts, t.features, t.argmax, t.indices, t.pooled}));
  MLUOPS_TRY(check_limits(entry, s));
  MLUOPS_TRY(need_indexable(entry, {t.rois, t.pts, t.features, t.indices, t.pooled}));
  MLUOPS_REQUIRE(std::int64_t{s.boxes} * s.points < std::int64_t{1} << 31, MLUOP_STATUS_NOT_SUPPORTED, entry,
                 "boxes_num", "boxes_num * pts_num below 2^31", Text::format("%d * %d", s.boxes, s.points));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(need_data(entry, {t.rois, t.pts, t.features, t.indices, t.pooled}));
  return check_argmax(entry, t, s);
}

mluOpStatus_t check_backward(const Entry &entry, const RoiAwareBackwardTensors &t, const RoiAwareSizes &s) {
  MLUOPS_TRY(need_rank(entry, t.indices, 5, "[boxes_num, out_x, out_y, out_z, max_pts_each_voxel]"));
  MLUOPS_TRY(need_rank(entry, t.argmax, 5, "[boxes_num, out_x, out_y, out_z, channels]"));
  MLUOPS_TRY(need_rank(entry, t.grad_out, 5, "[boxes_num, out_x, out_y, out_z, channels]"));
  MLUOPS_TRY(need_rank(entry, t.grad_in, 2, "[P, channels]"));
  MLUOPS_TRY(need_voxels(entry, t.indices, s, "max_pts_each_voxel", s.slots));
  for (const TensorArgument &tensor : {t.argmax, t.grad_out})
    MLUOPS_TRY(need_voxels(entry, tensor, s, "channels", s.channels));
  MLUOPS_TRY(need_dim(entry, t.grad_in, 1, "channels", s.channels));
  for (const TensorArgument &tensor : {t.indices, t.argmax}) MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_float_or_half(entry, t.grad_out));
  MLUOPS_TRY(need_same_dtype(entry, t.grad_in, t.grad_out));
  MLUOPS_TRY(check_numbers(entry, s));
  MLUOPS_TRY(need_nonzero_dim(entry, t.grad_in, 0, "P"));
  MLUOPS_TRY(need_packed(entry, {t.indices, t.argmax, t.grad_out, t.grad_in}));
  MLUOPS_TRY(check_limits(entry, s));
  MLUOPS_TRY(need_indexable(entry, {t.indices, t.argmax, t.grad_out, t.grad_in}));
  MLUOPS_TRY(need_data(entry, {t.indices, t.argmax, t.grad_out, t.grad_in}));
  return require_no_overlap(entry, {t.grad_in}, {t.indices, t.argmax, t.grad_out});
}

}  // namespace

// The size does not depend on `rois` and `pts`, whose descriptors may be NULL.
mluOpStatus_t roi_aware_workspace_size(const char *function, mluOpHandle_t handle, mluOpTensorDescriptor_t rois_desc,
                                       mluOpTensorDescriptor_t pts_desc, mluOpTensorDescriptor_t pts_feature_desc,
                                       std::size_t *size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors_or_null(function, {{"rois", rois_desc, nullptr}, {"pts", pts_desc, nullptr}}));
  MLUOPS_TRY(need_descriptors(function, {{"pts_feature", pts_feature_desc, nullptr}}));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t roi_aware_pool3d_forward(const Entry &entry, mluOpHandle_t handle, int pool_method, int boxes_num,
                                       int pts_num, int channels, const TensorArgument &rois, const TensorArgument &pts,
                                       const TensorArgument &pts_feature, void *workspace, std::size_t workspace_size,
                                       int max_pts_each_voxel, int out_x, int out_y, int out_z,
                                       const TensorArgument &argmax, const TensorArgument &pts_idx_of_voxels,
                                       const TensorArgument &pooled_features) {
  const RoiAwareForwardTensors t{rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features};
  const RoiAwareSizes sizes{pool_method, boxes_num, pts_num, channels, max_pts_each_voxel, out_x, out_y, out_z};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features}));
  MLUOPS_TRY(check_forward(entry, t, sizes, workspace, workspace_size));
  MLUOPS_TRY(require_no_overlap(entry, {argmax, pts_idx_of_voxels, pooled_features}, {rois, pts, pts_feature}));
  const RoiAwareForwardProblem problem{entry.function,
                                       geometry_of(sizes, rois),
                                       rois.data,
                                       pts.data,
                                       pts_feature.data,
                                       static_cast<std::int32_t *>(const_cast<void *>(argmax.data)),
                                       static_cast<std::int32_t *>(const_cast<void *>(pts_idx_of_voxels.data)),
                                       const_cast<void *>(pooled_features.data)};
  return launch_roi_aware_forward(handle, problem);
}

mluOpStatus_t roi_aware_pool3d_backward(const Entry &entry, mluOpHandle_t handle, int pool_method, int boxes_num,
                                        int out_x, int out_y, int out_z, int channels, int max_pts_each_voxel,
                                        const TensorArgument &pts_idx_of_voxels, const TensorArgument &argmax,
                                        const TensorArgument &grad_out, const TensorArgument &grad_in) {
  const RoiAwareBackwardTensors t{pts_idx_of_voxels, argmax, grad_out, grad_in};
  constexpr int kSomePoints = 1;  // their number is no argument
  RoiAwareSizes sizes{pool_method, boxes_num, kSomePoints, channels, max_pts_each_voxel, out_x, out_y, out_z};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {pts_idx_of_voxels, argmax, grad_out, grad_in}));
  MLUOPS_TRY(check_backward(entry, t, sizes));
  RoiAwareBackwardProblem problem{entry.function,
                                  geometry_of(sizes, grad_out),
                                  static_cast<const std::int32_t *>(pts_idx_of_voxels.data),
                                  static_cast<const std::int32_t *>(argmax.data),
                                  grad_out.data,
                                  const_cast<void *>(grad_in.data)};
  problem.geometry.points = grad_in.desc->dims[0];
  return launch_roi_aware_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(RoiAwarePool3dForward);
MLUOPS_IN_DOUBLE(RoiAwarePool3dBackward);

mluOpStatus_t MLUOP_WIN_API mluOpGetRoiAwarePool3dForwardWorkspaceSize(mluOpHandle_t handle,
                                                                       const mluOpTensorDescriptor_t rois_desc,
                                                                       const mluOpTensorDescriptor_t pts_desc,
                                                                       const mluOpTensorDescriptor_t pts_feature_desc,
                                                                       size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetRoiAwarePool3dForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::roi_aware_workspace_size(kFunction, handle, rois_desc, pts_desc, pts_feature_desc, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dForward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t pts_desc, const void *pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void *pts_feature, void *workspace, size_t workspace_size,
    const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void *argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void *pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features) {
  return mluops::guarded("mluOpRoiAwarePool3dForward", [&] {
    return mluops::roi_aware_pool3d_forward({"mluOpRoiAwarePool3dForward"}, handle, pool_method, boxes_num, pts_num,
                                            channels, {"rois", rois_desc, rois}, {"pts", pts_desc, pts},
                                            {"pts_feature", pts_feature_desc, pts_feature}, workspace, workspace_size,
                                            max_pts_each_voxel, out_x, out_y, out_z, {"argmax", argmax_desc, argmax},
                                            {"pts_idx_of_voxels", pts_idx_of_voxels_desc, pts_idx_of_voxels},
                                            {"pooled_features", pooled_features_desc, pooled_features});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dBackward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void *pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void *argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void *grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void *grad_in) {
  return mluops::guarded("mluOpRoiAwarePool3dBackward", [&] {
    return mluops::roi_aware_pool3d_backward(
        {"mluOpRoiAwarePool3dBackward"}, handle, pool_method, boxes_num, out_x, out_y, out_z, channels,
        max_pts_each_voxel, {"pts_idx_of_voxels", pts_idx_of_voxels_desc, pts_idx_of_voxels},
        {"argmax", argmax_desc, argmax}, {"grad_out", grad_out_desc, grad_out}, {"grad_in", grad_in_desc, grad_in});
  });
}
