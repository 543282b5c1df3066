#include "ops/chamfer_distance/chamfer_distance.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/chamfer_distance.h"

namespace mluops {
namespace {

// What stands for each of the two clouds.
struct Cloud {
  TensorArgument xyz;
  TensorArgument distance;  // or its gradient
  TensorArgument indices;
};

mluOpStatus_t check_shapes(const char *function, const Cloud &first, const Cloud &second) {
  for (const Cloud *cloud : {&first, &second}) {
    MLUOPS_TRY(need_rank(function, cloud->xyz, 3, "[B, N, 2]"));
    MLUOPS_TRY(need_dim(function, cloud->xyz, 2, "number of coordinates", kPlaneCoordinates));
    for (const TensorArgument &tensor : {cloud->distance, cloud->indices}) {
      MLUOPS_TRY(need_rank(function, tensor, 2, "[B, N]"));
      for (int dim = 0; dim < 2; ++dim) MLUOPS_TRY(need_same_dim(function, tensor, dim, cloud->xyz, dim));
    }
  }
  return need_same_dim(function, second.xyz, 0, first.xyz, 0);
}

mluOpStatus_t check_packed(const char *function, const Cloud &first, const Cloud &second) {
  return need_packed(function, {first.xyz, second.xyz, first.distance, second.distance, first.indices, second.indices});
}

mluOpStatus_t check_types(const char *function, const Cloud &first, const Cloud &second) {
  MLUOPS_TRY(need_real(function, first.xyz));
  for (const TensorArgument &tensor : {second.xyz, first.distance, second.distance})
    MLUOPS_TRY(need_same_dtype(function, tensor, first.xyz));
  for (const TensorArgument &tensor : {first.indices, second.indices})
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  return MLUOP_STATUS_SUCCESS;
}

NearestInPlane direction(const Cloud &from, const Cloud &to) {
  NearestInPlane nearest;
  nearest.points = from.xyz.desc->dims[1];
  nearest.others = to.xyz.desc->dims[1];
  nearest.from = from.xyz.data;
  nearest.to = to.xyz.data;
  nearest.distance = const_cast<void *>(from.distance.data);
  nearest.indices = static_cast<std::int32_t *>(const_cast<void *>(from.indices.data));
  return nearest;
}

PlaneGradient gradient(const Cloud &cloud, const TensorArgument &result) {
  PlaneGradient of;
  of.points = cloud.xyz.desc->dims[1];
  of.from = cloud.xyz.data;
  of.indices = static_cast<const std::int32_t *>(cloud.indices.data);
  of.grad_distance = cloud.distance.data;
  of.gradient = const_cast<void *>(result.data);
  return of;
}

mluOpStatus_t chamfer_distance_forward(const char *function, mluOpHandle_t handle, const Cloud &first,
                                       const Cloud &second) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function,
                              {first.xyz, second.xyz, first.distance, second.distance, first.indices, second.indices}));
  MLUOPS_TRY(check_shapes(function, first, second));
  MLUOPS_TRY(check_packed(function, first, second));
  MLUOPS_TRY(check_types(function, first, second));
  MLUOPS_TRY(need_indexable(function, {first.xyz, second.xyz}));
  if (first.xyz.desc->count == 0 && second.xyz.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  for (const Cloud *cloud : {&first, &second}) {
    if (cloud->xyz.desc->count > 0) MLUOPS_TRY(need_data(function, {cloud->xyz, cloud->distance, cloud->indices}));
  }
  MLUOPS_TRY(require_no_overlap(function, {first.distance, second.distance, first.indices, second.indices},
                                {first.xyz, second.xyz}));
  ChamferDistanceForwardProblem problem;
  problem.function = function;
  problem.batches = first.xyz.desc->dims[0];
  problem.type = first.xyz.desc->dtype;
  problem.directions[0] = direction(first, second);
  problem.directions[1] = direction(second, first);
  return launch_chamfer_distance_forward(handle, problem);
}

mluOpStatus_t chamfer_distance_backward(const char *function, mluOpHandle_t handle, const Cloud &first,
                                        const Cloud &second, const TensorArgument &grad_xyz1,
                                        const TensorArgument &grad_xyz2) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {first.xyz, second.xyz, first.indices, second.indices, first.distance,
                                         second.distance, grad_xyz1, grad_xyz2}));
  MLUOPS_TRY(check_shapes(function, first, second));
  for (const TensorArgument &tensor : {grad_xyz1, grad_xyz2}) MLUOPS_TRY(need_rank(function, tensor, 3, "[B, N, 2]"));
  MLUOPS_TRY(need_same_shape(function, grad_xyz1, first.xyz));
  MLUOPS_TRY(need_same_shape(function, grad_xyz2, second.xyz));
  MLUOPS_TRY(check_packed(function, first, second));
  MLUOPS_TRY(need_packed(function, {grad_xyz1, grad_xyz2}));
  MLUOPS_TRY(check_types(function, first, second));
  for (const TensorArgument &tensor : {grad_xyz1, grad_xyz2}) MLUOPS_TRY(need_same_dtype(function, tensor, first.xyz));
  MLUOPS_TRY(need_indexable(function, {first.xyz, second.xyz}));
  if (first.xyz.desc->count == 0 && second.xyz.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  if (first.xyz.desc->count > 0) MLUOPS_TRY(need_data(function, {first.xyz, first.indices, first.distance, grad_xyz1}));
  if (second.xyz.desc->count > 0)
    MLUOPS_TRY(need_data(function, {second.xyz, second.indices, second.distance, grad_xyz2}));
  MLUOPS_TRY(
      require_no_overlap(function, {grad_xyz1, grad_xyz2},
                         {first.xyz, second.xyz, first.indices, second.indices, first.distance, second.distance}));
  ChamferDistanceBackwardProblem problem;
  problem.function = function;
  problem.batches = first.xyz.desc->dims[0];
  problem.type = first.xyz.desc->dtype;
  problem.directions[0] = gradient(first, grad_xyz1);
  problem.directions[1] = gradient(second, grad_xyz2);
  return launch_chamfer_distance_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtChamferDistanceForward(mluOpHandle_t handle,
                                                            const mluOpTensorDescriptor_t xyz1_desc, const void *xyz1,
                                                            const mluOpTensorDescriptor_t xyz2_desc, const void *xyz2,
                                                            const mluOpTensorDescriptor_t dist1_desc, void *dist1,
                                                            const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                                            const mluOpTensorDescriptor_t idx1_desc, void *idx1,
                                                            const mluOpTensorDescriptor_t idx2_desc, void *idx2) {
  return mluops::guarded("mluopsExtChamferDistanceForward", [&] {
    return mluops::chamfer_distance_forward(
        "mluopsExtChamferDistanceForward", handle,
        {{"xyz1", xyz1_desc, xyz1}, {"dist1", dist1_desc, dist1}, {"idx1", idx1_desc, idx1}},
        {{"xyz2", xyz2_desc, xyz2}, {"dist2", dist2_desc, dist2}, {"idx2", idx2_desc, idx2}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtChamferDistanceBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc, const void *xyz1,
    const mluOpTensorDescriptor_t xyz2_desc, const void *xyz2, const mluOpTensorDescriptor_t idx1_desc,
    const void *idx1, const mluOpTensorDescriptor_t idx2_desc, const void *idx2,
    const mluOpTensorDescriptor_t grad_dist1_desc, const void *grad_dist1,
    const mluOpTensorDescriptor_t grad_dist2_desc, const void *grad_dist2, const mluOpTensorDescriptor_t grad_xyz1_desc,
    void *grad_xyz1, const mluOpTensorDescriptor_t grad_xyz2_desc, void *grad_xyz2) {
  return mluops::guarded("mluopsExtChamferDistanceBackward", [&] {
    return mluops::chamfer_distance_backward(
        "mluopsExtChamferDistanceBackward", handle,
        {{"xyz1", xyz1_desc, xyz1}, {"grad_dist1", grad_dist1_desc, grad_dist1}, {"idx1", idx1_desc, idx1}},
        {{"xyz2", xyz2_desc, xyz2}, {"grad_dist2", grad_dist2_desc, grad_dist2}, {"idx2", idx2_desc, idx2}},
        {"grad_xyz1", grad_xyz1_desc, grad_xyz1}, {"grad_xyz2", grad_xyz2_desc, grad_xyz2});
  });
}
