/* Functions of the family deform_conv beyond mlu_op.h. */
#ifndef MLUOPS_EXT_DEFORM_CONV_H_
#define MLUOPS_EXT_DEFORM_CONV_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Modulated deformable convolution, without a descriptor and for outputs of any size: filter [Co,
 * kh, kw, Ci / conv_group], input [N, H, W, Ci], offset [N, Ho, Wo, deformable_group * kh * kw * 2]
 * with y before x, mask [N, Ho, Wo, deformable_group * kh * kw], output [N, Ho, Wo, Co]. pad_h and
 * pad_w stand before the first row and the first column. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask, const int stride_h,
    const int stride_w, const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
    const int conv_group, const int deformable_group, const mluOpTensorDescriptor_t output_desc, void *output);

/* Its gradients with respect to input, offset and mask. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h, const int stride_w,
    const int pad_h, const int pad_w, const int dilation_h, const int dilation_w, const int conv_group,
    const int deformable_group, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask);

/* Its gradient with respect to the filter [Co, kernel_h, kernel_w, group_channels]. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackwardWeight(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t offset_desc, const void *offset, const mluOpTensorDescriptor_t mask_desc,
    const void *mask, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h,
    const int stride_w, const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
    const int conv_group, const int deformable_group, const int kernel_h, const int kernel_w, const int group_channels,
    const mluOpTensorDescriptor_t grad_filter_desc, void *grad_filter);

/* All four gradients. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h, const int stride_w,
    const int pad_h, const int pad_w, const int dilation_h, const int dilation_w, const int conv_group,
    const int deformable_group, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask, const mluOpTensorDescriptor_t grad_filter_desc, void *grad_filter);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_DEFORM_CONV_H_ */
