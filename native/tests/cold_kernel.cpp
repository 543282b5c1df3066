#include "cold_kernel.h"

#include "cpu/kernel.h"

#define NAME_OF_LEVEL(level) TEXT_OF(level)
#define TEXT_OF(level) #level

MLUOPS_BEGIN_LEVEL

mluOpStatus_t cold_kernel(const ColdProblem &problem) {
  *problem.level = NAME_OF_LEVEL(MLUOPS_LEVEL);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_cold_kernel, cold_kernel, ColdProblem, problem.function);
