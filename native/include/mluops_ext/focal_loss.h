/* Functions of the family focal_loss beyond mlu_op.h. */
#ifndef MLUOPS_EXT_FOCAL_LOSS_H_
#define MLUOPS_EXT_FOCAL_LOSS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The focal loss of sigmoids without weights, [N, C], and its gradient times grad_output; half,
 * float or double. target, int32, has the class of each row; outside of 0 .. C - 1 it is none. A
 * library for a device returns NOT_SUPPORTED, as for the functions below. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSigmoidFocalLossForward(
    mluOpHandle_t handle, const double alpha, const double gamma, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t target_desc, const void *target,
    const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtSigmoidFocalLossBackward(
    mluOpHandle_t handle, const double alpha, const double gamma, const mluOpTensorDescriptor_t grad_output_desc,
    const void *grad_output, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t target_desc, const void *target, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

/* The focal loss of the softmax of each row, or of probabilities that are given, [N], and its
 * gradient by what the softmax is of, times grad_output, [N]. A row without a class has 0. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSoftmaxFocalLossForward(
    mluOpHandle_t handle, const bool of_probabilities, const double alpha, const double gamma,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtSoftmaxFocalLossBackward(
    mluOpHandle_t handle, const bool of_probabilities, const double alpha, const double gamma,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t target_desc, const void *target,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_FOCAL_LOSS_H_ */
