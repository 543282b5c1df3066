// Findings, and the end of a launch.
#ifndef MLUSIM_MACHINE_TRAP_H_
#define MLUSIM_MACHINE_TRAP_H_

#include <string>
#include <vector>

#include "machine/core.h"
#include "machine/memory.h"
#include "machine/rules.h"
#include "mlusim.h"

namespace mlusim {

// What a finding is about; texts are complete sentences without the place, which is added from `pc`.
struct FindingText {
  const char *checker;  // memory, init, race, sync, align, machine
  const char *rule;
  const void *pc = nullptr;        // the instruction; the place is looked up
  const void *other_pc = nullptr;  // for example the other access of a race
  const void *address = nullptr;
  std::uint64_t size = 0;
  std::string message = {};
};

// What is to happen for it: what its rule says, or nothing if a comment in the source allows it at one of its places.
Action action_for(const FindingText &text);

// Keeps a finding of the core (null: of the launch as a whole), if it is to be kept. The launch goes on, and fails at its end if its
// rule says so. Findings with the same checker, rule and place are counted, not repeated.
void report(const Core *core, const FindingText &text);

// Keeps a finding that ends the launch, whatever its rule says.
void report_end(const Core *core, const FindingText &text);

// Keeps the finding and ends the launch at once; never returns, so the text is taken over and freed here. On the running
// core's fiber only.
[[noreturn]] void trap(FindingText &&text);

// "file:line" of an instruction, or its address if that is unknown.
std::string place_of(const void *pc);
bool has_line(const void *pc);

// "NRAM array 'pool' of 512 bytes" or "allocation of 4096 bytes at 0x..., freed" for the memory at or next to an address.
std::string describe_allocation(const void *address);

// ---- For the machine ----------------------------------------------------------------------------------------------------

// Makes what holds the findings; when the library is loaded.
void make_finding_log();

// Starts an empty list for a launch; and takes it over into the log, with the report if the launch fails. The latter tells whether it
// does: because a finding says so, or because it `ended` early.
void begin_findings(const std::string &kernel);
bool end_findings(bool ended);

// A finding that belongs to no launch, such as a freed pointer that was freed before.
void report_from_host(const FindingText &text);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_TRAP_H_
