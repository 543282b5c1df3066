/* Functions of the family dynamic_point_to_voxel beyond mlu_op.h. */
#ifndef MLUOPS_EXT_DYNAMIC_POINT_TO_VOXEL_H_
#define MLUOPS_EXT_DYNAMIC_POINT_TO_VOXEL_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Voxels of points as mluOpDynamicPointToVoxelForward finds them, for float and double and for
 * sums as well. Coors are not changed. All outputs have room for a voxel of each point; rows from
 * voxel_num on are zeros, but -1 in voxel_coors. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetDynamicScatterForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feats_desc, const mluOpTensorDescriptor_t coors_desc,
    size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicScatterForward(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void *feats, const mluOpTensorDescriptor_t coors_desc, const void *coors, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void *voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void *voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num);

/* Gradient of mluopsExtDynamicScatterForward with respect to feats, for voxels of any number. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetDynamicScatterBackwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const mluOpTensorDescriptor_t point2voxel_map_desc, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicScatterBackward(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const void *grad_voxel_feats, const mluOpTensorDescriptor_t feats_desc, const void *feats,
    const mluOpTensorDescriptor_t voxel_feats_desc, const void *voxel_feats,
    const mluOpTensorDescriptor_t point2voxel_map_desc, const void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void *voxel_points_count, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t grad_feats_desc, void *grad_feats);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_DYNAMIC_POINT_TO_VOXEL_H_ */
