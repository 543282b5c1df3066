// The functions of mlu_op.h.
#include "ops/dynamic_point_to_voxel/dynamic_point_to_voxel.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/dynamic_point_to_voxel.h"
#include "ops/dynamic_point_to_voxel/checks.h"

namespace mluops {
namespace {

constexpr int kPlace = 3;

mluOpStatus_t check_forward_shapes(const Entry &entry, const ScatterForwardTensors &t) {
  MLUOPS_TRY(need_same_dim(entry, t.coors, 0, t.feats, 0));
  MLUOPS_TRY(need_same_dim(entry, t.map, 0, t.feats, 0));
  MLUOPS_TRY(need_same_dim(entry, t.voxel_coors, 0, t.voxel_feats, 0));
  MLUOPS_TRY(need_same_dim(entry, t.counts, 0, t.voxel_feats, 0));
  MLUOPS_TRY(need_dim(entry, t.voxel_num, 0, "number of voxels", 1));
  MLUOPS_TRY(need_same_dim(entry, t.voxel_feats, 1, t.feats, 1));
  for (const TensorArgument &tensor : {t.coors, t.voxel_coors}) MLUOPS_TRY(need_dim(entry, tensor, 1, "place", kPlace));
  MLUOPS_REQUIRE(t.feats.desc->dims[0] >= t.voxel_feats.desc->dims[0], MLUOP_STATUS_BAD_PARAM, entry,
                 "voxel_feats_desc",
                 Text::format("[V, C] with V at most N=%lld", static_cast<long long>(t.feats.desc->dims[0])),
                 describe(t.voxel_feats.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_forward(const Entry &entry, mluOpReduceMode_t reduce, const ScatterForwardTensors &t) {
  MLUOPS_TRY(need_rank(entry, t.feats, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(entry, t.coors, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.voxel_feats, 2, "[V, C]"));
  MLUOPS_TRY(need_rank(entry, t.voxel_coors, 2, "[V, 3]"));
  MLUOPS_TRY(need_rank(entry, t.map, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.counts, 1, "[V]"));
  MLUOPS_TRY(need_rank(entry, t.voxel_num, 1, "[1]"));
  MLUOPS_TRY(need_packed(entry, {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}));
  for (const TensorArgument &tensor : {t.feats, t.voxel_feats}) MLUOPS_TRY(need_float(entry, tensor));
  for (const TensorArgument &tensor : {t.coors, t.map, t.voxel_coors, t.counts, t.voxel_num})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_REQUIRE(reduce == MLUOP_REDUCE_DMEAN || reduce == MLUOP_REDUCE_DMAX, MLUOP_STATUS_BAD_PARAM, entry,
                 "reduce_type", "MLUOP_REDUCE_DMEAN (1) or MLUOP_REDUCE_DMAX (2)", Text::format("%d", reduce));
  MLUOPS_TRY(check_forward_shapes(entry, t));
  return need_indexable(entry, {t.feats, t.coors});
}

mluOpStatus_t check_backward(const Entry &entry, mluOpReduceMode_t reduce, const ScatterBackwardTensors &t,
                             const TensorArgument &voxel_num) {
  MLUOPS_TRY(
      need_packed(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, voxel_num, t.grad_feats}));
  for (const TensorArgument &tensor : {t.grad_voxel_feats, t.feats, t.voxel_feats, t.grad_feats})
    MLUOPS_TRY(need_float(entry, tensor));
  for (const TensorArgument &tensor : {t.map, t.counts, voxel_num})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.grad_voxel_feats, t.voxel_feats})
    MLUOPS_TRY(need_rank(entry, tensor, 2, "[V, C]"));
  for (const TensorArgument &tensor : {t.feats, t.grad_feats}) MLUOPS_TRY(need_rank(entry, tensor, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(entry, t.map, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.counts, 1, "[V]"));
  MLUOPS_TRY(need_rank(entry, voxel_num, 1, "[1]"));
  for (const TensorArgument &tensor : {t.feats, t.voxel_feats, t.grad_feats})
    MLUOPS_TRY(need_same_dim(entry, tensor, 1, t.grad_voxel_feats, 1));
  for (const TensorArgument &tensor : {t.voxel_feats, t.counts})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.grad_voxel_feats, 0));
  for (const TensorArgument &tensor : {t.map, t.grad_feats}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.feats, 0));
  MLUOPS_TRY(need_dim(entry, voxel_num, 0, "number of voxels", 1));
  MLUOPS_REQUIRE(t.feats.desc->dims[0] >= t.grad_voxel_feats.desc->dims[0], MLUOP_STATUS_BAD_PARAM, entry,
                 "grad_voxel_feats_desc",
                 Text::format("[V, C] with V at most N=%lld", static_cast<long long>(t.feats.desc->dims[0])),
                 describe(t.grad_voxel_feats.desc));
  MLUOPS_REQUIRE(reduce == MLUOP_REDUCE_DMAX, MLUOP_STATUS_BAD_PARAM, entry, "reduce_type", "MLUOP_REDUCE_DMAX (2)",
                 Text::format("%d", reduce));
  return need_indexable(entry, {t.grad_voxel_feats, t.feats});
}

mluOpStatus_t forward_workspace_size(const Entry &entry, mluOpHandle_t handle, const TensorArgument &feats,
                                     const TensorArgument &coors, std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {feats, coors}));
  MLUOPS_TRY(need_pointer(entry, "workspace_size", size));
  *size = feats.desc->count == 0 || coors.desc->count == 0 ? 0 : workspace_scatter_forward(feats.desc->dims[0]);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t backward_workspace_size(const Entry &entry, mluOpHandle_t handle, const ScatterBackwardTensors &t,
                                      const TensorArgument &voxel_num, std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, voxel_num}));
  MLUOPS_TRY(need_pointer(entry, "workspace_size", size));
  *size = workspace_scatter_backward(t.feats.desc->dims[0], t.grad_voxel_feats.desc->dims[0]);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t dynamic_point_to_voxel_forward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                             const TensorArgument &feats, const TensorArgument &coors, void *workspace,
                                             std::size_t workspace_size, const TensorArgument &voxel_feats,
                                             const TensorArgument &voxel_coors, const TensorArgument &map,
                                             const TensorArgument &counts, const TensorArgument &voxel_num) {
  const ScatterForwardTensors t{feats, coors, voxel_feats, voxel_coors, map, counts, voxel_num};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {feats, coors, voxel_feats, voxel_coors, map, counts, voxel_num}));
  MLUOPS_TRY(check_forward(entry, reduce, t));
  if (feats.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(need_data(entry, {feats, coors, voxel_feats, voxel_coors, map, counts, voxel_num}));
  MLUOPS_TRY(check_workspace(entry, workspace, workspace_size, workspace_scatter_forward(feats.desc->dims[0]),
                             {feats, coors, voxel_feats, voxel_coors, map, counts, voxel_num}));
  MLUOPS_TRY(require_no_overlap(entry, {coors, voxel_feats, voxel_coors, map, counts, voxel_num}, {feats}));
  return run_scatter_forward(entry, handle, reduce, t, true, workspace);
}

mluOpStatus_t dynamic_point_to_voxel_backward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                              const TensorArgument &grad_voxel_feats, const TensorArgument &feats,
                                              const TensorArgument &voxel_feats, const TensorArgument &map,
                                              const TensorArgument &counts, const TensorArgument &voxel_num,
                                              void *workspace, std::size_t workspace_size,
                                              const TensorArgument &grad_feats) {
  const ScatterBackwardTensors t{grad_voxel_feats, feats, voxel_feats, map, counts, grad_feats};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {grad_voxel_feats, feats, voxel_feats, map, counts, voxel_num, grad_feats}));
  MLUOPS_TRY(check_backward(entry, reduce, t, voxel_num));
  if (grad_feats.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  for (const TensorArgument &tensor : {grad_voxel_feats, voxel_feats, counts}) {
    if (tensor.desc->count > 0) MLUOPS_TRY(need_data(entry, {tensor}));
  }
  MLUOPS_TRY(need_data(entry, {feats, map, voxel_num, grad_feats}));
  if (grad_voxel_feats.desc->count > 0) {  // else there is nothing to look for
    if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
    const std::size_t needed = workspace_scatter_backward(feats.desc->dims[0], grad_voxel_feats.desc->dims[0]);
    MLUOPS_TRY(check_workspace(entry, workspace, workspace_size, needed,
                               {grad_voxel_feats, feats, voxel_feats, map, counts, voxel_num, grad_feats}));
  }
  MLUOPS_TRY(require_no_overlap(entry, {grad_feats}, {grad_voxel_feats, feats, voxel_feats, map, counts, voxel_num}));
  return run_scatter_backward(entry, handle, reduce, t, voxel_num.data, workspace);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(DynamicPointToVoxelForward);
MLUOPS_IN_DOUBLE(DynamicPointToVoxelBackward);

mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelForwardWorkspaceSize(mluOpHandle_t handle,
                                                                            const mluOpTensorDescriptor_t feats_desc,
                                                                            const mluOpTensorDescriptor_t coors_desc,
                                                                            size_t *workspace_size) {
  return mluops::guarded("mluOpGetDynamicPointToVoxelForwardWorkspaceSize", [&] {
    return mluops::forward_workspace_size({"mluOpGetDynamicPointToVoxelForwardWorkspaceSize"}, handle,
                                          {"feats", feats_desc, nullptr}, {"coors", coors_desc, nullptr},
                                          workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelForward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void *feats, const mluOpTensorDescriptor_t coors_desc, void *coors, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void *voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void *voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num) {
  return mluops::guarded("mluOpDynamicPointToVoxelForward", [&] {
    return mluops::dynamic_point_to_voxel_forward(
        {"mluOpDynamicPointToVoxelForward"}, handle, reduce_type, {"feats", feats_desc, feats},
        {"coors", coors_desc, coors}, workspace, workspace_size, {"voxel_feats", voxel_feats_desc, voxel_feats},
        {"voxel_coors", voxel_coors_desc, voxel_coors}, {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
        {"voxel_points_count", voxel_points_count_desc, voxel_points_count}, {"voxel_num", voxel_num_desc, voxel_num});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelBackwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpReduceMode_t, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const mluOpTensorDescriptor_t feats_desc, const mluOpTensorDescriptor_t voxel_feats_desc,
    const mluOpTensorDescriptor_t point2voxel_map_desc, const mluOpTensorDescriptor_t voxel_points_count_desc,
    const mluOpTensorDescriptor_t voxel_num_desc, size_t *workspace_size) {
  return mluops::guarded("mluOpGetDynamicPointToVoxelBackwardWorkspaceSize", [&] {
    const mluops::ScatterBackwardTensors tensors{{"grad_voxel_feats", grad_voxel_feats_desc, nullptr},
                                                 {"feats", feats_desc, nullptr},
                                                 {"voxel_feats", voxel_feats_desc, nullptr},
                                                 {"point2voxel_map", point2voxel_map_desc, nullptr},
                                                 {"voxel_points_count", voxel_points_count_desc, nullptr},
                                                 {}};
    return mluops::backward_workspace_size({"mluOpGetDynamicPointToVoxelBackwardWorkspaceSize"}, handle, tensors,
                                           {"voxel_num", voxel_num_desc, nullptr}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelBackward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const void *grad_voxel_feats,
    const mluOpTensorDescriptor_t feats_desc, const void *feats, const mluOpTensorDescriptor_t voxel_feats_desc,
    const void *voxel_feats, const mluOpTensorDescriptor_t point2voxel_map_desc, const void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, const void *voxel_num, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_feats_desc, void *grad_feats) {
  return mluops::guarded("mluOpDynamicPointToVoxelBackward", [&] {
    return mluops::dynamic_point_to_voxel_backward(
        {"mluOpDynamicPointToVoxelBackward"}, handle, reduce_type,
        {"grad_voxel_feats", grad_voxel_feats_desc, grad_voxel_feats}, {"feats", feats_desc, feats},
        {"voxel_feats", voxel_feats_desc, voxel_feats}, {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
        {"voxel_points_count", voxel_points_count_desc, voxel_points_count}, {"voxel_num", voxel_num_desc, voxel_num},
        workspace, workspace_size, {"grad_feats", grad_feats_desc, grad_feats});
  });
}
