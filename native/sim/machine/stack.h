// The end of a core's stack. A kernel ends there with a finding. Functions of the C library may hold a lock by then: they get more room,
// and the kernel ends when it is back from them.
#ifndef MLUSIM_MACHINE_STACK_H_
#define MLUSIM_MACHINE_STACK_H_

#include "machine/core.h"

namespace mlusim {

// Finds the libraries whose functions get more room. Handlers of signals must not, so this comes before.
void find_runtimes();

// In the handler of a fault: whether code at `pc` may hold a lock.
bool in_runtime(const void *pc);
// In the handler of a fault: whether there is room at `address` now.
bool gave_room(Core &core, const void *address);

// When a core is left for good, and all other times.
void take_room(Core &core);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_STACK_H_
