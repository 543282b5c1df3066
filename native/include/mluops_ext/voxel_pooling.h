/* Functions of the family voxel_pooling beyond mlu_op.h. */
#ifndef MLUOPS_EXT_VOXEL_POOLING_H_
#define MLUOPS_EXT_VOXEL_POOLING_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Gradient of mluOpVoxelPoolingForward with respect to input_features, for half, float and double:
 * each point gets the gradient of the cell that pos_memo names. A library for a device returns
 * NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelPoolingBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t pos_memo_desc, const void *pos_memo, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_VOXEL_POOLING_H_ */
