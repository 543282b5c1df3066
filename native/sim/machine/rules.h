// The rules of findings: how serious a violation is, and its consequence.
#ifndef MLUSIM_MACHINE_RULES_H_
#define MLUSIM_MACHINE_RULES_H_

#include <string>

#include "mlusim.h"

namespace mlusim {

enum class Severity : std::uint8_t {
  kRemark,   // harmless on every known device, but worth a look
  kWarning,  // known devices behave as the kernel expects, but no guide promises it
  kError,
};

// The consequence of a violation.
enum class Action : std::uint8_t {
  kOff,     // none
  kRecord,  // the finding is kept, and the launch goes on normally
  kFail,    // the finding is kept, and the launch fails: at its end, or at once if it cannot go on
};

struct FindingRule {
  const char *checker;
  const char *name;
  Severity severity;
  Action usual;
  const char *meaning;
};

// Returns the rule "checker/name"; null if there is none.
const FindingRule *find_rule(const char *checker, const char *name);

// Whether the word is a rule as "checker/name", the name of a checker, or "all".
bool is_rule_or_checker(const std::string &word);

const char *name_of(Severity severity);

// The consequence of a violation as the host set it last, or else PYMLUOPS_SIM_RULES. Rules of the
// machine always fail.
Action action_of(const FindingRule &rule);

// Whether the rule is on: observers may skip the work for a rule that is off.
bool is_on(const char *checker, const char *name);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_RULES_H_
