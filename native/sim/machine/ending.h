// Reports the early end of a launch: the waiting cores, the events that they wait for, and the
// place of each core.
#ifndef MLUSIM_MACHINE_ENDING_H_
#define MLUSIM_MACHINE_ENDING_H_

#include <vector>

#include "machine/core.h"
#include "machine/trap.h"

namespace mlusim {

// Reports that no core can go on.
void report_deadlock(const std::vector<Core *> &members);

// The finding for a launch that the time limit or the host ends at an instruction.
FindingText stop_text(const std::vector<Core *> &members, const void *pc);

// Reports that the core received a signal; see last_crash().
void report_crash(const std::vector<Core *> &members, const Core &core);

// Keeps the place of each core for mlusimGetCoreState(). `running` is the core that ran; null if
// none did.
void keep_core_states(const std::vector<Core *> &members, const Core *running);

// Called when the library is loaded.
void make_core_states();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ENDING_H_
