/* Functions of the family stack_three_interpolate beyond mlu_op.h. */
#ifndef MLUOPS_EXT_STACK_THREE_INTERPOLATE_H_
#define MLUOPS_EXT_STACK_THREE_INTERPOLATE_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpThreeInterpolateForward and Backward, for stacked features [M, C] and indices [N, 3],
 * which are rows of the features: output [N, C]. */
mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_STACK_THREE_INTERPOLATE_H_ */
