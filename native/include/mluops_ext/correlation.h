/* Functions of the family correlation beyond mlu_op.h. */
#ifndef MLUOPS_EXT_CORRELATION_H_
#define MLUOPS_EXT_CORRELATION_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Products of patches of two maps [B, C, H, W] at several displacements, half, float or double:
 * output [B, patch_h, patch_w, h, w] is the sum over channels and the cells (i, j) of a kernel of
 *   input1[b, c, y, x] * input2[b, c, y + dy, x + dx],
 * where y = row * stride_h - pad_h + i * dilation_h, dy = p * dilation_patch_h - dilation_patch_h *
 * (patch_h - 1) / 2 rounded down for displacement p, and likewise along the width; pixels beside a
 * map count as 0. h and w may be any. Sizes, strides and dilations are 1 .. 32767, pads 0 .. 32767.
 * Beside the arguments a call needs memory for the maps of an image and some more, half as float.
 * A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtCorrelationForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input1_desc, const void *input1,
    const mluOpTensorDescriptor_t input2_desc, const void *input2, const int kernel_h, const int kernel_w,
    const int patch_h, const int patch_w, const int stride_h, const int stride_w, const int pad_h, const int pad_w,
    const int dilation_h, const int dilation_w, const int dilation_patch_h, const int dilation_patch_w,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* The gradients of both maps. */
mluOpStatus_t MLUOP_WIN_API mluopsExtCorrelationBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input1_desc, const void *input1, const mluOpTensorDescriptor_t input2_desc,
    const void *input2, const int kernel_h, const int kernel_w, const int patch_h, const int patch_w,
    const int stride_h, const int stride_w, const int pad_h, const int pad_w, const int dilation_h,
    const int dilation_w, const int dilation_patch_h, const int dilation_patch_w,
    const mluOpTensorDescriptor_t grad_input1_desc, void *grad_input1, const mluOpTensorDescriptor_t grad_input2_desc,
    void *grad_input2);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_CORRELATION_H_ */
