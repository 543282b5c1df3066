// The end of a core's stack. A kernel that reaches it ends with a finding. A function of the C
// library may hold a lock at that point: it gets more room, and the kernel ends after the return
// from it.
#ifndef MLUSIM_MACHINE_STACK_H_
#define MLUSIM_MACHINE_STACK_H_

#include "machine/core.h"

namespace mlusim {

// Finds the libraries whose functions get more room. Signal handlers must not search, so this runs
// before.
void find_runtimes();

// For fault handlers: whether code at `pc` may hold a lock.
bool in_runtime(const void *pc);
// For fault handlers: opens room at `address`; false if it cannot.
bool open_room(Core &core, const void *address);

// Closes the room again when a core is abandoned, and at the start of a core.
void close_room(Core &core);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_STACK_H_
