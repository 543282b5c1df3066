// Calls that end or copy the process, or end its thread: kernels end by them with a finding, functions of the host say whose call it was.
#ifndef MLUSIM_MACHINE_PROCESS_END_H_
#define MLUSIM_MACHINE_PROCESS_END_H_

namespace mlusim {

// Says on stderr which kernel (null: which function of the host) ends the process, if one does. Safe in handlers of signals.
void tell_end(const char *kernel, const char *did);

// What the C library says before it ends the process for an error of its own; null if it does not.
const char *fatal_text();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_PROCESS_END_H_
