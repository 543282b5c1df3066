/* Functions of the family optimizer_steps beyond mlu_op.h. */
#ifndef MLUOPS_EXT_OPTIMIZER_STEPS_H_
#define MLUOPS_EXT_OPTIMIZER_STEPS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* One step of the AdamW optimiser, in place, without a descriptor: param, momentum, velocity and
 * grad are float or double [N] with N > 0, and step, from 1 on, is the number of this step, from
 * which the corrections of the bias follow. Where need_remove_nan is true, an element stays as it
 * is if its new parameter, momentum and velocity are all three not finite. A library for a device
 * returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtAdamW(
    mluOpHandle_t handle, const int step, const double lr, const double beta1, const double beta2, const double epsilon,
    const double weight_decay, const double grad_scale, const bool need_remove_nan,
    const mluOpTensorDescriptor_t param_desc, void *param, const mluOpTensorDescriptor_t momentum_desc, void *momentum,
    const mluOpTensorDescriptor_t velocity_desc, void *velocity, const mluOpTensorDescriptor_t grad_desc,
    const void *grad);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_OPTIMIZER_STEPS_H_ */
