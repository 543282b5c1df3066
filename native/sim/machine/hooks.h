// How functions that kernels call tell the checkers of the scalar accesses they make.
#ifndef MLUSIM_MACHINE_HOOKS_H_
#define MLUSIM_MACHINE_HOOKS_H_

#include <cstddef>

#include "machine/observer.h"

namespace mlusim {

// Reports an access of the running core, as the instrumentation of kernels does; nothing on the
// host. `pc` is the return address of the call in the kernel.
void announce(const void *address, std::size_t bytes, Kind kind, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_HOOKS_H_
