// The facts that entry code needs about the target on which its library computes. Each library
// links one definition.
#ifndef MLUOPS_CORE_TARGET_H_
#define MLUOPS_CORE_TARGET_H_

#include "mlu_op.h"

namespace mluops {

// The current device of this thread; -1 if there is none.
int current_device();

// NOT_INITIALIZED if an environment variable of the target has an invalid value.
mluOpStatus_t check_environment(const char *function);

}  // namespace mluops

#endif  // MLUOPS_CORE_TARGET_H_
