// A kernel that tells the instruction level that it is compiled for.
#ifndef MLUOPS_TESTS_COLD_KERNEL_H_
#define MLUOPS_TESTS_COLD_KERNEL_H_

#include "mlu_op.h"

namespace mluops {

struct ColdProblem {
  const char *function;
  const char **level;
};

mluOpStatus_t launch_cold_kernel(mluOpHandle_t handle, const ColdProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_TESTS_COLD_KERNEL_H_
