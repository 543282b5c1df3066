// MoeDispatch: samples go to the places of their experts, times their gates, and the gradients.
#ifndef MLUOPS_OPS_MOE_DISPATCH_MOE_DISPATCH_H_
#define MLUOPS_OPS_MOE_DISPATCH_MOE_DISPATCH_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Sample i has the row indices[i] * capacity + locations[i] of `experts` * `capacity`. One whose
// expert or location is none has no row. There is at least one sample with at least one value.
struct MoeRouting {
  std::int64_t samples;
  std::int64_t capacity;
  std::int64_t hidden;  // values of a sample
  std::int64_t experts;
  bool is_double;                 // type of the real arrays: float or double
  const std::int32_t *indices;    // [samples], the experts
  const std::int32_t *locations;  // [samples]
};

// Rows without a sample stay as they are. Of several samples of a row the last one counts.
struct MoeDispatchForwardProblem {
  const char *function;  // of the entry point, for messages
  MoeRouting routing;
  const void *gates;  // [samples]
  const void *input;  // [samples, hidden]
  void *dispatch;     // [experts * capacity, hidden]
};

// Samples without a row get 0.
struct MoeDispatchBackwardDataProblem {
  const char *function;
  MoeRouting routing;
  const void *gates;     // [samples]
  const void *dispatch;  // [experts * capacity, hidden], a gradient
  void *grad_input;      // [samples, hidden]
};

// The products of input and gradient are added in 32 sums for each 2^14 values, then these.
struct MoeDispatchBackwardGateProblem {
  const char *function;
  MoeRouting routing;
  const void *input;     // [samples, hidden]
  const void *dispatch;  // [experts * capacity, hidden], a gradient
  void *grad_gates;      // [samples]
};

mluOpStatus_t launch_moe_dispatch_forward(mluOpHandle_t handle, const MoeDispatchForwardProblem &problem);
mluOpStatus_t launch_moe_dispatch_backward_data(mluOpHandle_t handle, const MoeDispatchBackwardDataProblem &problem);
mluOpStatus_t launch_moe_dispatch_backward_gate(mluOpHandle_t handle, const MoeDispatchBackwardGateProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_MOE_DISPATCH_MOE_DISPATCH_H_
