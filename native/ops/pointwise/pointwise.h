// Operators that compute each element of the result from those at its place: Abs, Sqrt and its
// gradient, Log, Div, Lgamma.
#ifndef MLUOPS_OPS_POINTWISE_POINTWISE_H_
#define MLUOPS_OPS_POINTWISE_POINTWISE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

enum class Formula {
  kAbs,
  kSqrt,
  kSqrtBackward,
  kLogE,
  kLog2,
  kLog10,
  kDiv,
  kLgamma
};

constexpr int kMostOperands = 3;

// The result comes last. Dims go from the slowest to the fastest in the memory of the result, none
// has the size 1, and neighbours that lie behind each other in all tensors are one.
struct PointwiseProblem {
  const char *function;  // of the entry point, for messages
  Formula formula;
  int operands;
  mluOpDataType_t in_type;
  mluOpDataType_t out_type;
  int rank;  // at least 1
  std::int64_t count;
  std::int64_t dims[MLUOP_DIM_MAX];
  std::int64_t strides[kMostOperands][MLUOP_DIM_MAX];  // in elements, none negative
  const void *in[kMostOperands - 1];
  void *out;
};

mluOpStatus_t launch_pointwise(mluOpHandle_t handle, const PointwiseProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_POINTWISE_POINTWISE_H_
