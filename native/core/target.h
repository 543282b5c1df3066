// What the entry code has to know of the target that its library computes on. Each library links one definition.
#ifndef MLUOPS_CORE_TARGET_H_
#define MLUOPS_CORE_TARGET_H_

#include "mlu_op.h"

namespace mluops {

// The device that is current on this thread; -1 where there is none.
int current_device();

// NOT_INITIALIZED if a variable of the environment that the target reads is set to what it cannot be.
mluOpStatus_t check_environment(const char *function);

// Whether its operators compute in double too.
bool computes_double();

}  // namespace mluops

#endif  // MLUOPS_CORE_TARGET_H_
