/* Functions of the family voxelization beyond mlu_op.h. */
#ifndef MLUOPS_EXT_VOXELIZATION_H_
#define MLUOPS_EXT_VOXELIZATION_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Cells of points on a grid, as mluOpVoxelization finds them: coors[i] is (z, y, x), or -1 in all
 * three columns for a point outside of the range. Points, sizes and range are half, float or
 * double. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicVoxelize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t voxel_size_desc, const void *voxel_size,
    const mluOpTensorDescriptor_t coors_range_desc, const void *coors_range, const mluOpTensorDescriptor_t coors_desc,
    void *coors);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_VOXELIZATION_H_ */
