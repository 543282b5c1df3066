// Powers of a base whose exponents are evenly spaced.
#ifndef MLUOPS_OPS_LOGSPACE_LOGSPACE_H_
#define MLUOPS_OPS_LOGSPACE_LOGSPACE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// The exponents go from start to end; both have the type of the result already.
struct LogspaceProblem {
  const char *function;  // of the entry point, for messages
  double start;
  double end;
  float base;
  std::int64_t steps;     // at least 1
  mluOpDataType_t dtype;  // of the result: half, float or int32
  void *result;
};

mluOpStatus_t launch_logspace(mluOpHandle_t handle, const LogspaceProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_LOGSPACE_LOGSPACE_H_
