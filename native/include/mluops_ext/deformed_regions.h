/* Functions of the family deformed_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_DEFORMED_REGIONS_H_
#define MLUOPS_EXT_DEFORMED_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpDeformRoiPoolBackward, in half, float or double, with the true gradient of offset at the
 * rim of the map too: a sample beside the outermost pixels does not change with its place across
 * the rim. The number of the bins is that of grad_output. */
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformRoiPoolExactBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t offset_desc, const void *offset, const double spatial_scale,
    const int sampling_ratio, const double gamma, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_DEFORMED_REGIONS_H_ */
