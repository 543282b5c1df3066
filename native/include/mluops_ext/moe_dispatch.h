/* Functions of the family moe_dispatch beyond mlu_op.h. */
#ifndef MLUOPS_EXT_MOE_DISPATCH_H_
#define MLUOPS_EXT_MOE_DISPATCH_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpMoeDispatchForward, for more samples than num_experts * capacity too: those whose
 * location is none of 0 to capacity - 1 go nowhere. Values are float or double. A library for a
 * device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtMoeDispatchForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t input_desc, const void *input, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t dispatch_desc,
    void *dispatch);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_MOE_DISPATCH_H_ */
