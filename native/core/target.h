// The facts that entry code needs about the target on which its library computes. Each library
// links one definition.
#ifndef MLUOPS_CORE_TARGET_H_
#define MLUOPS_CORE_TARGET_H_

#include <cstddef>

#include "mlu_op.h"

namespace mluops {

// The current device of this thread; -1 if there is none.
int current_device();

// NOT_INITIALIZED if an environment variable of the target has an invalid value.
mluOpStatus_t check_environment(const char *function);

// Copies memory that operators compute on into host memory; false if that fails.
bool copy_to_host(void *to, const void *from, std::size_t bytes);

// Waits until the work in a queue is done; false if that fails.
bool wait_for(cnrtQueue_t queue);

}  // namespace mluops

#endif  // MLUOPS_CORE_TARGET_H_
