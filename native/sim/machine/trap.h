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

// The content of a finding. Texts are complete sentences without the place, which report() adds
// from `pc`.
struct FindingText {
  const char *checker;  // memory, init, race, sync, align, machine
  const char *rule;
  const void *pc = nullptr;        // the instruction, for looking up the place
  const void *other_pc = nullptr;  // a second instruction, such as the other access of a race
  const void *address = nullptr;
  std::uint64_t size = 0;
  std::string message = {};
};

// The consequence of a finding: the action of its rule, or none if a comment in the source allows
// it at one of its places.
Action action_for(const FindingText &text);

// Keeps a finding of the core (null: of the launch as a whole) unless its action is off. The launch
// goes on; it fails at its end if the rule says so. Findings with the same checker, rule and place
// are counted, not repeated.
void report(const Core *core, const FindingText &text);

// Counts a finding of the running launch again: true if one of this checker and rule was reported
// for the instruction before, or is off there. Texts need not be made for it then.
bool count_again(const char *checker, const char *rule, const void *pc, const void *other_pc = nullptr);

// Keeps a finding that ends the launch, independent of its rule.
void report_end(const Core *core, const FindingText &text);

// Keeps the finding and ends the launch at once. It never returns, so it takes the text over and
// frees it. Only on the running core's fiber.
[[noreturn]] void trap(FindingText &&text);

// Returns "file:line" of an instruction, or "an unknown line".
std::string place_of(const void *pc);
bool has_line(const void *pc);

// ---- For the machine ----------------------------------------------------------------------------

// Creates the log of findings when the library is loaded.
void make_finding_log();

// begin_findings() starts an empty list for a launch. end_findings() moves the list into the log,
// with a report if the launch fails, and returns whether it fails: by a finding, or because it
// `ended` early.
void begin_findings(const std::string &kernel);
bool end_findings(bool ended);

// Tells the findings of the launch or call that failed just now on stderr, unless that is switched
// off.
void tell_failure();

// Reports a finding that belongs to no launch, such as the second release of a pointer. `fails`
// tells whether the call fails for it; then stderr has it too, as it has those of launches.
void report_from_host(const FindingText &text, bool fails = true);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_TRAP_H_
