// AdamW: a step of the optimiser with decoupled weight decay, in place.
#ifndef MLUOPS_OPS_OPTIMIZER_STEPS_OPTIMIZER_STEPS_H_
#define MLUOPS_OPS_OPTIMIZER_STEPS_OPTIMIZER_STEPS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct AdamWNumbers {
  double lr, beta1, beta2, epsilon;
  double bias1, bias2;  // 1 - beta1 and 1 - beta2 to the power of the number of the step
  double weight_decay, grad_scale;
};

// There is at least one parameter.
struct AdamWProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t count;
  AdamWNumbers numbers;
  bool is_double;  // type of the real arrays: float or double
  // Whether an element stays as it is if its new parameter, momentum and velocity are all three
  // not finite.
  bool keeps;
  void *param, *momentum, *velocity;  // [count]
  const void *grad;                   // [count], of bfloat16 if `rounded` is given
  std::uint16_t *rounded;             // [count], the new parameters as bfloat16, or NULL
  float *step;  // [1], the number of the step, from which the bias follows and which grows by 1, or NULL
};

mluOpStatus_t launch_adam_w(mluOpHandle_t handle, const AdamWProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_OPTIMIZER_STEPS_OPTIMIZER_STEPS_H_
