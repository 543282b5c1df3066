// The rules that findings belong to: how grave breaking one is, and what happens then.
#ifndef MLUSIM_MACHINE_RULES_H_
#define MLUSIM_MACHINE_RULES_H_

#include <string>

#include "mlusim.h"

namespace mlusim {

enum class Severity : std::uint8_t {
  kRemark,   // harmless on every device that is known, but worth a look
  kWarning,  // devices are known to do what the kernel relies on, although no guide promises it
  kError,
};

// What happens when a rule is broken.
enum class Action : std::uint8_t {
  kOff,     // nothing
  kRecord,  // the finding is kept, and the launch goes on as if nothing was wrong
  kFail,    // the finding is kept, and the launch fails: at its end, or at once where it cannot go on
};

struct FindingRule {
  const char *checker;
  const char *name;
  Severity severity;
  Action usual;
  const char *meaning;
};

// The rule "checker/name"; null if there is none.
const FindingRule *find_rule(const char *checker, const char *name);

// Whether the word names a rule as "checker/name", a checker, or all of them.
bool is_rule_or_checker(const std::string &word);

const char *name_of(Severity severity);

// What happens when the rule is broken, as the host said last, or PYMLUOPS_SIM_RULES. Rules of the machine always fail.
Action action_of(const FindingRule &rule);

// An observer may save itself the work for a rule that is off.
bool is_on(const char *checker, const char *name);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_RULES_H_
