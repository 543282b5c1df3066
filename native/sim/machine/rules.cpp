#include "machine/rules.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>

#include "base/explain.h"
#include "base/fork.h"

namespace mlusim {
namespace {

constexpr Severity kError = Severity::kError;
constexpr Severity kWarning = Severity::kWarning;
constexpr Severity kRemark = Severity::kRemark;

// docs/simulator-rules.md shows this table; a test compares the two.
constexpr FindingRule kRules[] = {
    {"memory", "out-of-bounds", kError, Action::kFail, "an access leaves its allocation, array or memory"},
    {"memory", "lane-overflow", kRemark, Action::kRecord,
     "an access leaves the share of a WRAM array in its lane: offsets count within one of the 64 lanes"},
    {"memory", "wrong-space", kError, Action::kFail, "an operand lies in another memory than the instruction works on"},
    {"memory", "constant-store", kError, Action::kFail, "a kernel writes to an array __mlu_const__"},
    {"memory", "null-pointer", kError, Action::kFail, "an access at or close behind the null pointer"},
    {"memory", "no-allocation", kError, Action::kFail, "an access to device memory that was never allocated"},
    {"memory", "use-after-free", kError, Action::kFail, "an access to device memory that was freed"},
    {"memory", "other-device", kError, Action::kFail,
     "an access to the memory of another device, or a copy that names the wrong device"},
    {"memory", "host-pointer", kError, Action::kFail, "a kernel follows a pointer to memory of the host"},
    {"memory", "device-pointer", kError, Action::kFail,
     "the host passes device memory where a function expects host memory"},
    {"memory", "double-free", kError, Action::kFail, "the host frees device memory a second time"},
    {"memory", "invalid-free", kError, Action::kFail, "the host frees an address where no allocation begins"},
    {"memory", "negative-count", kError, Action::kFail, "the count of an instruction is negative"},
    {"memory", "bad-argument", kError, Action::kFail, "an argument that no device accepts"},
    {"memory", "unsupported-direction", kError, Action::kFail,
     "a copy between two memories that this form of copy does not connect"},
    {"memory", "table-index", kError, Action::kFail, "an index outside the table of a lookup"},
    {"memory", "memory-core-access", kRemark, Action::kOff,
     "scalar code of a memory core touches NRAM or WRAM, which it does not have"},
    {"memory", "memory-core-store", kRemark, Action::kOff,
     "a memory core stores a value computed from NRAM or WRAM: the store is undone"},
    {"init", "scalar-load", kError, Action::kFail, "scalar code loads bytes that were never written"},
    {"init", "partial-load", kRemark, Action::kOff,
     "scalar code loads bytes of which a part was never written: a record with padding, or a mask with spare bits"},
    {"init", "copy", kError, Action::kFail, "undefined bytes are copied to device memory"},
    {"init", "atomic", kError, Action::kFail, "an atomic reads or updates undefined bytes"},
    {"init", "operand", kError, Action::kFail, "undefined bytes determine the addresses or the size of an instruction"},
    {"init", "shared-copy", kRemark, Action::kOff, "undefined bytes are copied to SRAM"},
    {"race", "between-cores", kError, Action::kFail, "two cores touch the same bytes, and nothing orders them"},
    {"race", "between-jobs", kError, Action::kFail, "two jobs of a launch touch the same bytes"},
    {"race", "between-queues", kError, Action::kFail,
     "work of two queues touches the same bytes of device memory, and neither the host nor a notifier orders it"},
    {"race", "copy-in-flight", kError, Action::kFail,
     "an access to bytes that an asynchronous copy still reads or writes"},
    {"race", "unsynced-compute", kError, Action::kFail,
     "an asynchronous copy of bytes that a computation may still read or write"},
    {"race", "on-chip-order", kWarning, Action::kRecord,
     "a computation and an asynchronous copy between on-chip memories use the same bytes without a sync"},
    {"race", "equal-stores", kRemark, Action::kOff,
     "two cores store the same value to the same place, or one stores the value that is there"},
    {"race", "implied-wait", kRemark, Action::kOff,
     "bytes of an asynchronous copy are used after a synchronous copy of the same pipe, without a sync"},
    {"sync", "never-waited", kRemark, Action::kRecord,
     "no sync waits for a copy from device memory to an on-chip memory before the kernel ends"},
    {"sync", "drained-at-end", kRemark, Action::kOff, "only the end of the kernel waits for any other copy"},
    {"sync", "deadlock", kError, Action::kFail, "no core can go on"},
    {"sync", "unlock-without-lock", kError, Action::kFail, "a core releases a lock that it does not hold"},
    {"align", "address", kError, Action::kFail, "an address that the instruction does not accept"},
    {"align", "size", kError, Action::kFail, "a size that the instruction does not accept"},
    {"align", "stride", kError, Action::kFail, "a stride that the copy does not accept"},
    {"align", "segments", kError, Action::kFail, "more segments than a copy can have"},
    {"align", "overlap", kError, Action::kFail, "a target shares bytes with a source that must be apart"},
    {"align", "domain", kRemark, Action::kOff,
     "an approximate function gets a number outside of the range that it is documented for"},
    {"align", "count", kError, Action::kFail, "the count of an instruction is 0"},
    {"unused", "output", kRemark, Action::kOff,
     "the kernel gets an array that was never written, and leaves part of it so"},
    {"unused", "input", kRemark, Action::kOff, "the kernel gets an array and does not read all of it"},
    {"unused", "copy", kRemark, Action::kOff, "a copy to an on-chip memory brings bytes that nobody reads"},
    {"unused", "result", kRemark, Action::kOff, "an instruction computes values that nobody reads"},
    {"machine", "crash", kError, Action::kFail, "the kernel received a signal of unknown cause"},
    {"machine", "invalid-address", kError, Action::kFail, "an access to an address that holds no memory"},
    {"machine", "null-dereference", kError, Action::kFail, "an access at or close behind the null pointer"},
    {"machine", "division-by-zero", kError, Action::kFail, "an integer division by zero"},
    {"machine", "illegal-instruction", kError, Action::kFail, "the kernel runs an illegal or unreachable instruction"},
    {"machine", "stack-overflow", kError, Action::kFail, "a core ran out of its stack"},
    {"machine", "exception", kError, Action::kFail,
     "an exception leaves the kernel, or the kernel calls a function that would end, copy or leave the process"},
    {"machine", "assert", kError, Action::kFail, "an assertion of the kernel does not hold"},
    {"machine", "array-memory", kError, Action::kFail,
     "the arrays on chip that a kernel uses do not fit into the memories of the card"},
    {"machine", "time-limit", kError, Action::kFail, "the launch took longer than its time limit"},
    {"machine", "interrupted", kError, Action::kFail, "the host interrupted the launch"},
};
constexpr std::size_t kCount = sizeof kRules / sizeof kRules[0];

// A rule of the machine itself always ends the launch.
bool is_fixed(const FindingRule &rule) {
  return std::strcmp(rule.checker, "machine") == 0 || std::strcmp(rule.name, "deadlock") == 0;
}

struct Actions {
  Action of[kCount];
  Actions() {
    for (std::size_t i = 0; i < kCount; ++i) of[i] = kRules[i].usual;
  }
};

std::atomic<Action> g_actions[kCount];
std::atomic<bool> g_known{false};  // whether g_actions holds the settings
ForkMutex &g_mutex = *new ForkMutex;

constexpr struct {
  const char *name;
  Action action;
} kActions[] = {{"off", Action::kOff}, {"record", Action::kRecord}, {"fail", Action::kFail}};

constexpr int kMostShown = 80;
constexpr const char *kExpected =
    "expected rules such as race/on-chip-order=off,init=record,all=fail, with off, record or fail behind a rule, a "
    "checker or all";

bool matches(const FindingRule &rule, const std::string &pattern) {
  return pattern == "all" || pattern == rule.checker || pattern == std::string(rule.checker) + "/" + rule.name;
}

// Applies a setting such as "race/on-chip-order=off"; false if it is none.
bool apply_word(const std::string &word, Actions *actions) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const auto *action = std::find_if(std::begin(kActions), std::end(kActions),
                                    [&](const auto &entry) { return word.substr(equals + 1) == entry.name; });
  if (action == std::end(kActions)) return false;
  bool any = false;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (!matches(kRules[i], word.substr(0, equals))) continue;
    any = true;
    if (!is_fixed(kRules[i])) actions->of[i] = action->action;
  }
  return any;
}

// Applies words separated by commas; blanks do not count. If a word is wrong, returns false with
// the word in `*unknown`.
bool parse(const std::string &text, Actions *actions, std::string *unknown) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    word.erase(std::remove_if(word.begin(), word.end(), [](char c) { return c == ' ' || c == '\t'; }), word.end());
    if (word.empty() || apply_word(word, actions)) continue;
    *unknown = word;
    return false;
  }
  return true;
}

void store(const Actions &actions) {
  for (std::size_t i = 0; i < kCount; ++i) g_actions[i].store(actions.of[i], std::memory_order_relaxed);
  g_known = true;
}

// Reads the environment at the first use, not when the library is loaded: a program that sets the
// rules itself gets no message about a variable that it overrides.
void ensure_known() {
  if (g_known) return;
  const std::lock_guard<ForkMutex> lock(g_mutex);
  if (g_known) return;
  const char *text = std::getenv("PYMLUOPS_SIM_RULES");
  Actions actions;
  std::string unknown;
  if (text != nullptr && !parse(text, &actions, &unknown)) {
    std::fprintf(stderr, "mlusim: PYMLUOPS_SIM_RULES: %s, got '%.*s'\n", kExpected, kMostShown, unknown.c_str());
    actions = Actions();
  }
  store(actions);
}

}  // namespace

const FindingRule *find_rule(const char *checker, const char *name) {
  for (const FindingRule &rule : kRules) {
    if (std::strcmp(rule.checker, checker) == 0 && std::strcmp(rule.name, name) == 0) return &rule;
  }
  return nullptr;
}

bool is_rule_or_checker(const std::string &word) {
  return std::any_of(std::begin(kRules), std::end(kRules),
                     [&](const FindingRule &rule) { return matches(rule, word); });
}

const char *name_of(Severity severity) {
  switch (severity) {
    case Severity::kRemark:
      return "remark";
    case Severity::kWarning:
      return "warning";
    default:
      return "error";
  }
}

Action action_of(const FindingRule &rule) {
  ensure_known();
  return g_actions[&rule - kRules].load(std::memory_order_relaxed);
}

bool is_on(const char *checker, const char *name) {
  const FindingRule *const rule = find_rule(checker, name);
  return rule == nullptr || action_of(*rule) != Action::kOff;
}

}  // namespace mlusim

using namespace mlusim;

int mlusimSetRules(const char *rules) {
  if (rules == nullptr) {
    refuse_null(__func__, "rules");
    return -1;
  }
  try {
    Actions actions;
    std::string unknown;
    if (parse(rules, &actions, &unknown)) {
      const std::lock_guard<ForkMutex> lock(g_mutex);
      store(actions);
      return 0;
    }
    explain(cnrtErrorArgsInvalid, "%s: rules: %s, got '%.*s'", __func__, kExpected, kMostShown, unknown.c_str());
  } catch (const std::bad_alloc &) {
    explain(cnrtErrorSysNoMem, "%s: out of host memory", __func__);
  }
  return -1;
}

int mlusimGetRule(int index, mlusimRule *rule) {
  if (rule == nullptr) {
    refuse_null(__func__, "rule");
    return -1;
  }
  if (index < 0 || static_cast<std::size_t>(index) >= kCount) {
    explain(cnrtErrorArgsInvalid, "%s: index: no rule has this number", __func__);
    return -1;
  }
  const FindingRule &found = kRules[index];
  const Action action = action_of(found);
  *rule = {};
  std::snprintf(rule->name, sizeof rule->name, "%s/%s", found.checker, found.name);
  std::snprintf(rule->severity, sizeof rule->severity, "%s", name_of(found.severity));
  std::snprintf(rule->action, sizeof rule->action, "%s", kActions[static_cast<int>(action)].name);
  std::snprintf(rule->meaning, sizeof rule->meaning, "%s", found.meaning);
  return 0;
}
