/* Functions of the family bezier_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_BEZIER_REGIONS_H_
#define MLUOPS_EXT_BEZIER_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The mean of bilinear samples in the bins between two cubic Bezier curves, in half, float or
 * double. A row of rois [R, 17] is (image, x0, y0, ..., x7, y7): the control points of the upper
 * curve from left to right, then those of the lower one from right to left. */
mluOpStatus_t MLUOP_WIN_API mluopsExtBezierAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t output_desc, void *output);

/* The gradient of input. */
mluOpStatus_t MLUOP_WIN_API mluopsExtBezierAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_BEZIER_REGIONS_H_ */
