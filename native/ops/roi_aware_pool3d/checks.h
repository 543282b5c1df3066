// Checks that the functions of RoiAwarePool3d share.
#ifndef MLUOPS_OPS_ROI_AWARE_POOL3D_CHECKS_H_
#define MLUOPS_OPS_ROI_AWARE_POOL3D_CHECKS_H_

#include <cstddef>

#include "core/check.h"
#include "ops/roi_aware_pool3d/roi_aware_pool3d.h"

namespace mluops {

struct RoiAwareForwardTensors {
  TensorArgument rois;
  TensorArgument pts;
  TensorArgument features;
  TensorArgument argmax;
  TensorArgument indices;
  TensorArgument pooled;
};

struct RoiAwareBackwardTensors {
  TensorArgument indices;
  TensorArgument argmax;
  TensorArgument grad_out;
  TensorArgument grad_in;
};

// The numbers among the arguments.
struct RoiAwareSizes {
  int method, boxes, points, channels, slots, x, y, z;
};

// A tensor has a row of `size` values, which means `symbol`, for each voxel of each box.
mluOpStatus_t need_voxels(const Entry &entry, const TensorArgument &tensor, const RoiAwareSizes &sizes,
                          const char *symbol, int size);

// The method is one, and nothing is 0.
mluOpStatus_t check_numbers(const Entry &entry, const RoiAwareSizes &sizes);

// NOT_SUPPORTED from 65536 boxes or channels on.
mluOpStatus_t check_limits(const Entry &entry, const RoiAwareSizes &sizes);

// `real` is a tensor of the type that is computed in.
RoiAwareGeometry geometry_of(const RoiAwareSizes &sizes, const TensorArgument &real);

// What the entry points do, each of which has two names.

// The kernel works on the outputs and in the caches of the CPU.
mluOpStatus_t roi_aware_workspace_size(const char *function, mluOpHandle_t handle, mluOpTensorDescriptor_t rois_desc,
                                       mluOpTensorDescriptor_t pts_desc, mluOpTensorDescriptor_t pts_feature_desc,
                                       std::size_t *size);
mluOpStatus_t roi_aware_pool3d_forward(const Entry &entry, mluOpHandle_t handle, int pool_method, int boxes_num,
                                       int pts_num, int channels, const TensorArgument &rois, const TensorArgument &pts,
                                       const TensorArgument &pts_feature, void *workspace, std::size_t workspace_size,
                                       int max_pts_each_voxel, int out_x, int out_y, int out_z,
                                       const TensorArgument &argmax, const TensorArgument &pts_idx_of_voxels,
                                       const TensorArgument &pooled_features);
mluOpStatus_t roi_aware_pool3d_backward(const Entry &entry, mluOpHandle_t handle, int pool_method, int boxes_num,
                                        int out_x, int out_y, int out_z, int channels, int max_pts_each_voxel,
                                        const TensorArgument &pts_idx_of_voxels, const TensorArgument &argmax,
                                        const TensorArgument &grad_out, const TensorArgument &grad_in);

}  // namespace mluops

#endif  // MLUOPS_OPS_ROI_AWARE_POOL3D_CHECKS_H_
