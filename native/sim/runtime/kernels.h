// The registered kernels, by the addresses that launches use.
#ifndef MLUSIM_RUNTIME_KERNELS_H_
#define MLUSIM_RUNTIME_KERNELS_H_

#include "mlusim_source.h"

namespace mlusim {

// Returns the kernel for `address`, in its variant for the architecture `arch`; null if none was
// registered.
const Kernel *find_kernel(const void *address, int arch);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_KERNELS_H_
