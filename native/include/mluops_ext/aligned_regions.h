/* Functions of the family aligned_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_ALIGNED_REGIONS_H_
#define MLUOPS_EXT_ALIGNED_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpRoiAlignForward_v2 and mluOpRoiAlignBackward_v2 with their settings as arguments, in
 * half, float or double; the mean of the samples, and the gradient of input. The size of the pooled
 * maps is that of output. */
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

/* The same for the largest sample. */
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignMaxForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t argmax_y_desc, void *argmax_y, const mluOpTensorDescriptor_t argmax_x_desc,
    void *argmax_x);

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignMaxBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t argmax_y_desc,
    const void *argmax_y, const mluOpTensorDescriptor_t argmax_x_desc, const void *argmax_x, const double spatial_scale,
    const int sampling_ratio, const bool aligned, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_ALIGNED_REGIONS_H_ */
