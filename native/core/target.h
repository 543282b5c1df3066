// Properties of the target that entry code needs. Each library links one definition.
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

// NOT_INITIALIZED if an environment variable of the target has an invalid value.
mluOpStatus_t check_environment(const char *function);

}  // namespace mluops

#endif  // MLUOPS_CORE_TARGET_H_
