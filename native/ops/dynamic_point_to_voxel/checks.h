// Checks that the functions for voxels of points share.
#ifndef MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CHECKS_H_
#define MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CHECKS_H_

#include <cstddef>

#include "core/check.h"
#include "ops/dynamic_point_to_voxel/dynamic_point_to_voxel.h"

namespace mluops {

// Their tensors are all that the call has.
struct ScatterForwardTensors {
  TensorArgument feats;
  TensorArgument coors;
  TensorArgument voxel_feats;
  TensorArgument voxel_coors;
  TensorArgument map;
  TensorArgument counts;
  TensorArgument voxel_num;
};

struct ScatterBackwardTensors {
  TensorArgument grad_voxel_feats;
  TensorArgument feats;
  TensorArgument voxel_feats;
  TensorArgument map;
  TensorArgument counts;
  TensorArgument grad_feats;
};

// The workspace is as large as `needed`, if that is not 0, and overlaps no tensor.
mluOpStatus_t check_workspace(const Entry &entry, const void *workspace, std::size_t size, std::size_t needed,
                              std::initializer_list<TensorArgument> tensors);

// Runs the checked call. More voxels than rows are refused, with their number in voxel_num.
mluOpStatus_t run_scatter_forward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                  const ScatterForwardTensors &t, bool marks, void *workspace);

// `voxel_num` may be NULL.
mluOpStatus_t run_scatter_backward(const Entry &entry, mluOpHandle_t handle, mluOpReduceMode_t reduce,
                                   const ScatterBackwardTensors &t, const void *voxel_num, void *workspace);

}  // namespace mluops

#endif  // MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CHECKS_H_
