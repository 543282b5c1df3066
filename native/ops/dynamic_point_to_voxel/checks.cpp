#include "ops/dynamic_point_to_voxel/checks.h"

namespace mluops {
namespace {

std::int32_t *integers(const TensorArgument &tensor) {
  return static_cast<std::int32_t *>(const_cast<void *>(tensor.data));
}

}  // namespace

mluOpStatus_t check_workspace(const Entry &entry, const void *workspace, std::size_t size, std::size_t needed,
                              std::initializer_list<TensorArgument> tensors) {
  MLUOPS_REQUIRE(size >= needed, MLUOP_STATUS_BAD_PARAM, entry, "workspace_size",
                 Text::format("at least %zu bytes", needed), Text::format("%zu", size));
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_TRY(require_no_overlap(entry, "workspace", workspace, static_cast<std::int64_t>(needed), tensor.name,
                                  tensor.data, tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_scatter_forward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                  const ScatterForwardTensors &t, bool marks, void *workspace) {
  std::int64_t needed = 0;
  ScatterForwardProblem problem;
  problem.function = entry.function;
  problem.reduce = reduce;
  problem.points = t.feats.desc->dims[0];
  problem.channels = t.feats.desc->dims[1];
  problem.rows = t.voxel_feats.desc->dims[0];
  problem.is_double = t.feats.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.feats = t.feats.data;
  problem.coors = static_cast<const std::int32_t *>(t.coors.data);
  problem.marked = marks ? integers(t.coors) : nullptr;
  problem.workspace = workspace;
  problem.voxel_feats = const_cast<void *>(t.voxel_feats.data);
  problem.voxel_coors = integers(t.voxel_coors);
  problem.map = integers(t.map);
  problem.counts = integers(t.counts);
  problem.voxel_num = integers(t.voxel_num);
  problem.needed = &needed;
  MLUOPS_TRY(launch_scatter_forward(handle, problem));
  if (needed <= problem.rows) return MLUOP_STATUS_SUCCESS;
  *problem.voxel_num = static_cast<std::int32_t>(needed);
  return refuse(MLUOP_STATUS_BAD_PARAM, entry, "voxel_feats_desc",
                Text::format("[V, C] with V at least %lld, the number of voxels", static_cast<long long>(needed)),
                describe(t.voxel_feats.desc));
}

mluOpStatus_t run_scatter_backward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                   const ScatterBackwardTensors &t, const void *voxel_num, void *workspace) {
  ScatterBackwardProblem problem;
  problem.function = entry.function;
  problem.reduce = reduce;
  problem.points = t.feats.desc->dims[0];
  problem.channels = t.feats.desc->dims[1];
  problem.rows = t.grad_voxel_feats.desc->dims[0];
  problem.voxel_num = static_cast<const std::int32_t *>(voxel_num);
  problem.is_double = t.feats.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.grad_voxel_feats = t.grad_voxel_feats.data;
  problem.feats = t.feats.data;
  problem.voxel_feats = t.voxel_feats.data;
  problem.map = static_cast<const std::int32_t *>(t.map.data);
  problem.counts = static_cast<const std::int32_t *>(t.counts.data);
  problem.workspace = workspace;
  problem.grad_feats = const_cast<void *>(t.grad_feats.data);
  return launch_scatter_backward(handle, problem);
}

}  // namespace mluops
