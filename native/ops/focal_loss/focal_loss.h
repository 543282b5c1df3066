// Focal losses (arXiv:1708.02002) of sigmoids and of softmaxes, and their gradients.
#ifndef MLUOPS_OPS_FOCAL_LOSS_FOCAL_LOSS_H_
#define MLUOPS_OPS_FOCAL_LOSS_FOCAL_LOSS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// With p = sigmoid(x) and the class t of the row, a value of the column t is
// -alpha * (1 - p)^gamma * log(p), any other one -(1 - alpha) * p^gamma * log(1 - p), with
// logarithms of at least that of the smallest float. A class that is no column leaves all columns
// to the second formula. All are multiplied by weight[t], where there are weights and t is a
// column. With `gradient` the values are the derivatives by x, times grad_output if that is given.
struct SigmoidFocalLossProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // of all floating arrays: half, float or double
  bool gradient;
  double alpha;
  double gamma;
  std::int64_t rows;
  std::int64_t columns;
  const void *grad_output;     // [rows, columns], or NULL
  const void *input;           // [rows, columns]
  const std::int32_t *target;  // [rows]
  const void *weight;          // [columns], or NULL
  void *output;                // [rows, columns]
};

// The loss of a row is -alpha * (1 - p)^gamma * log(p) for the probability p of its class, 0 if
// that is no column. Probabilities are given, or they are the softmax of the row. The gradient is
// that by what the softmax is of, times grad_output.
struct SoftmaxFocalLossProblem {
  const char *function;
  mluOpDataType_t type;
  bool gradient;
  bool of_probabilities;
  double alpha;
  double gamma;
  std::int64_t rows;
  std::int64_t columns;
  const void *grad_output;     // [rows], for the gradient
  const void *input;           // [rows, columns]
  const std::int32_t *target;  // [rows]
  void *output;                // [rows], or [rows, columns] for the gradient
};

mluOpStatus_t launch_sigmoid_focal_loss(mluOpHandle_t handle, const SigmoidFocalLossProblem &problem);
mluOpStatus_t launch_softmax_focal_loss(mluOpHandle_t handle, const SoftmaxFocalLossProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_FOCAL_LOSS_FOCAL_LOSS_H_
