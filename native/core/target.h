// What the entry code has to know of the target that its library computes on. Each library links one definition.
#ifndef MLUOPS_CORE_TARGET_H_
#define MLUOPS_CORE_TARGET_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct TargetLimits {
  std::int64_t sparse_rows;    // largest L of mluOpGetIndicePairs
  std::int64_t sparse_volume;  // largest number of filter cells of mluOpGetIndicePairs
  bool sparse_supported;       // whether the architecture has what mluOpGetIndicePairs needs
};

const TargetLimits &target_limits();

// The device that is current on this thread; -1 where there is none.
int current_device();

// NOT_INITIALIZED if a variable of the environment that the target reads is set to what it cannot be.
mluOpStatus_t check_environment(const char *function);

}  // namespace mluops

#endif  // MLUOPS_CORE_TARGET_H_
