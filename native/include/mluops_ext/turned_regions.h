/* Functions of the family turned_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_TURNED_REGIONS_H_
#define MLUOPS_EXT_TURNED_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpRoiAlignRotatedForward and Backward, in float or double, for maps whose C channels are
 * those of num_orientations directions each: a region's angle turns them too. Centres are not
 * moved, and regions are at least a pixel wide and high. Backward takes memory of the size of
 * grad_output. */
mluOpStatus_t MLUOP_WIN_API mluopsExtRiRoiAlignRotatedForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int num_samples,
    const int num_orientations, const bool clockwise, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtRiRoiAlignRotatedBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int num_samples,
    const int num_orientations, const bool clockwise, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_TURNED_REGIONS_H_ */
