// The kernels that were announced, by what launches name them.
#ifndef MLUSIM_RUNTIME_KERNELS_H_
#define MLUSIM_RUNTIME_KERNELS_H_

#include "mlusim_source.h"

namespace mlusim {

// The kernel that a launch means by `address`, for the architecture `arch` where there are several; null if none was announced.
const Kernel *find_kernel(const void *address, int arch);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_KERNELS_H_
