// The functions of mluops_ext.h: every reduction, and no argument that is read and written.
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/dynamic_point_to_voxel.h"
#include "ops/dynamic_point_to_voxel/checks.h"

namespace mluops {
namespace {

mluOpStatus_t need_float_or_double(const Entry &entry, const TensorArgument &tensor) {
  return tensor.desc->dtype == MLUOP_DTYPE_DOUBLE ? MLUOP_STATUS_SUCCESS : need_dtype(entry, tensor, MLUOP_DTYPE_FLOAT);
}

mluOpStatus_t need_reduction(const Entry &entry, mluOpReduceMode_t reduce) {
  const bool known = reduce == MLUOP_REDUCE_DSUM || reduce == MLUOP_REDUCE_DMEAN || reduce == MLUOP_REDUCE_DMAX;
  MLUOPS_REQUIRE(known, MLUOP_STATUS_BAD_PARAM, entry, "reduce_type", "a value of mluOpReduceMode_t",
                 Text::format("%d", reduce));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_forward(const Entry &entry, const ScatterForwardTensors &t) {
  constexpr int kPlace = 3;
  for (const TensorArgument &tensor : {t.feats, t.voxel_feats}) MLUOPS_TRY(need_rank(entry, tensor, 2, "[N, C]"));
  for (const TensorArgument &tensor : {t.coors, t.voxel_coors}) MLUOPS_TRY(need_rank(entry, tensor, 2, "[N, 3]"));
  for (const TensorArgument &tensor : {t.map, t.counts}) MLUOPS_TRY(need_rank(entry, tensor, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.voxel_num, 1, "[1]"));
  for (const TensorArgument &tensor : {t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.feats, 0));
  MLUOPS_TRY(need_same_dim(entry, t.voxel_feats, 1, t.feats, 1));
  for (const TensorArgument &tensor : {t.coors, t.voxel_coors}) MLUOPS_TRY(need_dim(entry, tensor, 1, "place", kPlace));
  MLUOPS_TRY(need_dim(entry, t.voxel_num, 0, "number of voxels", 1));
  MLUOPS_TRY(need_packed(entry, {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}));
  MLUOPS_TRY(need_float_or_double(entry, t.feats));
  MLUOPS_TRY(need_same_dtype(entry, t.voxel_feats, t.feats));
  for (const TensorArgument &tensor : {t.coors, t.voxel_coors, t.map, t.counts, t.voxel_num})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.feats));
  return need_indexable(entry, {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num});
}

mluOpStatus_t check_backward(const Entry &entry, const ScatterBackwardTensors &t) {
  for (const TensorArgument &tensor : {t.grad_voxel_feats, t.voxel_feats})
    MLUOPS_TRY(need_rank(entry, tensor, 2, "[V, C]"));
  for (const TensorArgument &tensor : {t.feats, t.grad_feats}) MLUOPS_TRY(need_rank(entry, tensor, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(entry, t.map, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.counts, 1, "[V]"));
  for (const TensorArgument &tensor : {t.voxel_feats, t.counts})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.grad_voxel_feats, 0));
  for (const TensorArgument &tensor : {t.feats, t.voxel_feats, t.grad_feats})
    MLUOPS_TRY(need_same_dim(entry, tensor, 1, t.grad_voxel_feats, 1));
  for (const TensorArgument &tensor : {t.map, t.grad_feats}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.feats, 0));
  MLUOPS_TRY(need_packed(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, t.grad_feats}));
  MLUOPS_TRY(need_float_or_double(entry, t.grad_voxel_feats));
  for (const TensorArgument &tensor : {t.feats, t.voxel_feats, t.grad_feats})
    MLUOPS_TRY(need_same_dtype(entry, tensor, t.grad_voxel_feats));
  for (const TensorArgument &tensor : {t.map, t.counts}) MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.grad_voxel_feats, t.feats}) MLUOPS_TRY(need_elements(entry, tensor));
  return need_indexable(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, t.grad_feats});
}

mluOpStatus_t dynamic_scatter_forward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                      const ScatterForwardTensors &t, void *workspace, std::size_t workspace_size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}));
  MLUOPS_TRY(need_reduction(entry, reduce));
  MLUOPS_TRY(check_forward(entry, t));
  MLUOPS_TRY(need_data(entry, {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(check_workspace(entry, workspace, workspace_size, workspace_scatter_forward(t.feats.desc->dims[0]),
                             {t.feats, t.coors, t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}));
  MLUOPS_TRY(
      require_no_overlap(entry, {t.voxel_feats, t.voxel_coors, t.map, t.counts, t.voxel_num}, {t.feats, t.coors}));
  return run_scatter_forward(entry, handle, reduce, t, false, workspace);
}

mluOpStatus_t dynamic_scatter_backward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                       const ScatterBackwardTensors &t, void *workspace, std::size_t workspace_size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, t.grad_feats}));
  MLUOPS_TRY(need_reduction(entry, reduce));
  MLUOPS_TRY(check_backward(entry, t));
  MLUOPS_TRY(need_data(entry, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, t.grad_feats}));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  const std::size_t needed = workspace_scatter_backward(t.feats.desc->dims[0], t.grad_voxel_feats.desc->dims[0]);
  MLUOPS_TRY(check_workspace(entry, workspace, workspace_size, needed,
                             {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts, t.grad_feats}));
  MLUOPS_TRY(require_no_overlap(entry, {t.grad_feats}, {t.grad_voxel_feats, t.feats, t.voxel_feats, t.map, t.counts}));
  return run_scatter_backward(entry, handle, reduce, t, nullptr, workspace);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtGetDynamicScatterForwardWorkspaceSize(mluOpHandle_t handle,
                                                                           const mluOpTensorDescriptor_t feats_desc,
                                                                           const mluOpTensorDescriptor_t coors_desc,
                                                                           size_t *workspace_size) {
  constexpr const char *kFunction = "mluopsExtGetDynamicScatterForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {{"feats", feats_desc, nullptr}, {"coors", coors_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "workspace_size", workspace_size));
    *workspace_size = mluops::workspace_scatter_forward(feats_desc->dims[0]);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicScatterForward(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void *feats, const mluOpTensorDescriptor_t coors_desc, const void *coors, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void *voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void *voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num) {
  return mluops::guarded("mluopsExtDynamicScatterForward", [&] {
    const mluops::ScatterForwardTensors tensors{{"feats", feats_desc, feats},
                                                {"coors", coors_desc, coors},
                                                {"voxel_feats", voxel_feats_desc, voxel_feats},
                                                {"voxel_coors", voxel_coors_desc, voxel_coors},
                                                {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
                                                {"voxel_points_count", voxel_points_count_desc, voxel_points_count},
                                                {"voxel_num", voxel_num_desc, voxel_num}};
    return mluops::dynamic_scatter_forward({"mluopsExtDynamicScatterForward"}, handle, reduce_type, tensors, workspace,
                                           workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGetDynamicScatterBackwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const mluOpTensorDescriptor_t point2voxel_map_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluopsExtGetDynamicScatterBackwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {{"grad_voxel_feats", grad_voxel_feats_desc, nullptr},
                                                    {"point2voxel_map", point2voxel_map_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "workspace_size", workspace_size));
    *workspace_size = mluops::workspace_scatter_backward(point2voxel_map_desc->dims[0], grad_voxel_feats_desc->dims[0]);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicScatterBackward(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const void *grad_voxel_feats, const mluOpTensorDescriptor_t feats_desc, const void *feats,
    const mluOpTensorDescriptor_t voxel_feats_desc, const void *voxel_feats,
    const mluOpTensorDescriptor_t point2voxel_map_desc, const void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void *voxel_points_count, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t grad_feats_desc, void *grad_feats) {
  return mluops::guarded("mluopsExtDynamicScatterBackward", [&] {
    const mluops::ScatterBackwardTensors tensors{{"grad_voxel_feats", grad_voxel_feats_desc, grad_voxel_feats},
                                                 {"feats", feats_desc, feats},
                                                 {"voxel_feats", voxel_feats_desc, voxel_feats},
                                                 {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
                                                 {"voxel_points_count", voxel_points_count_desc, voxel_points_count},
                                                 {"grad_feats", grad_feats_desc, grad_feats}};
    return mluops::dynamic_scatter_backward({"mluopsExtDynamicScatterBackward"}, handle, reduce_type, tensors,
                                            workspace, workspace_size);
  });
}
