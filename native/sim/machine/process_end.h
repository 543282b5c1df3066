// Calls that end or copy the process, or end its thread. A kernel that makes one ends with a
// finding; for host functions the simulator reports whose call it was.
#ifndef MLUSIM_MACHINE_PROCESS_END_H_
#define MLUSIM_MACHINE_PROCESS_END_H_

namespace mlusim {

// Reports on stderr that the kernel (null: the host function) ends the process, if one runs. Safe
// in signal handlers.
void tell_end(const char *kernel, const char *did);

// Returns the message of the C library before it ends the process for an error of its own; null if
// it has none.
const char *fatal_text();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_PROCESS_END_H_
