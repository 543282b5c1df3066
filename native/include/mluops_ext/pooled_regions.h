/* Functions of the family pooled_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_POOLED_REGIONS_H_
#define MLUOPS_EXT_POOLED_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The largest pixel of each bin of each region rois [R, 5], and its number within the image, -1 for
 * none, in half, float or double. If rounded, corners are whole pixels of the map, as in
 * mluOpRoiPoolingForward; else they are where they are, and a region without a size has no pixels.
 * */
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiPoolForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const bool rounded,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_desc, void *argmax);

/* The gradient of input. */
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiPoolBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t argmax_desc,
    const void *argmax, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_POOLED_REGIONS_H_ */
