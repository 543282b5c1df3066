/* Functions of the family active_rotated_filter beyond mlu_op.h. */
#ifndef MLUOPS_EXT_ACTIVE_ROTATED_FILTER_H_
#define MLUOPS_EXT_ACTIVE_ROTATED_FILTER_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The gradient of the input of mluOpActiveRotatedFilterForward, half, float or double: grad_input
 * [O, I, r, k, k] is the sum over rotations, in their order, of grad_output [O * R, I * r, k, k]
 * at the places that indices [r, k, k, R], int32, have for a cell. A place outside of 1 .. r * k *
 * k does not count, in both functions. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtActiveRotatedFilterBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_ACTIVE_ROTATED_FILTER_H_ */
