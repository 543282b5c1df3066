/* Functions of the family carafe_upsample beyond mlu_op.h. */
#ifndef MLUOPS_EXT_CARAFE_UPSAMPLE_H_
#define MLUOPS_EXT_CARAFE_UPSAMPLE_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* mluOpCarafeForward and mluOpCarafeBackward without a descriptor, for windows and factors of any
 * size: input [N, H, W, C], mask [N, scale_factor * H, scale_factor * W, group_size * kernel_size *
 * kernel_size], output [N, scale_factor * H, scale_factor * W, C]. A window reaches (kernel_size -
 * 1) / 2 pixels, rounded down, before its centre. */
mluOpStatus_t MLUOP_WIN_API mluopsExtCarafeForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const int kernel_size, const int group_size,
    const int scale_factor, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtCarafeBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t grad_output_desc,
    const void *grad_output, const int kernel_size, const int group_size, const int scale_factor,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_CARAFE_UPSAMPLE_H_ */
