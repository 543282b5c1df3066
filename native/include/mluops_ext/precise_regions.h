/* Functions of the family precise_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_PRECISE_REGIONS_H_
#define MLUOPS_EXT_PRECISE_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The mean of a map over each bin of each region rois [R, 5] (image, x1, y1, x2, y2), in half,
 * float or double. Between pixels the map is bilinear, beside it 0; the mean is that of the
 * integral. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* The gradient of input. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

/* The gradient of the corners; that of the numbers of the images is 0. output is that of the
 * forward direction. A channel whose gradient is 0 counts as 0, whatever its pixels are. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolCoorBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t output_desc, const void *output, const double spatial_scale,
    const mluOpTensorDescriptor_t grad_rois_desc, void *grad_rois);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_PRECISE_REGIONS_H_ */
