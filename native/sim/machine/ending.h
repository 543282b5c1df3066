// What ends a launch before its time, as findings: who waits for what, and where each core is.
#ifndef MLUSIM_MACHINE_ENDING_H_
#define MLUSIM_MACHINE_ENDING_H_

#include <vector>

#include "machine/core.h"
#include "machine/trap.h"

namespace mlusim {

// No core can go on.
void report_deadlock(const std::vector<Core *> &members);

// The time limit, or the host, ends the launch at an instruction.
FindingText stop_text(const std::vector<Core *> &members, const void *pc);

// The core received a signal; see last_crash().
void report_crash(const std::vector<Core *> &members, const Core &core);

// Keeps where the cores are, for mlusimGetCoreState(); `running`: the core that ran; null: none did.
void keep_core_states(const std::vector<Core *> &members, const Core *running);

// When the library is loaded.
void make_core_states();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ENDING_H_
