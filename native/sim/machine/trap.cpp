#include "machine/trap.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "base/fork.h"
#include "base/thread_state.h"
#include "machine/allow.h"
#include "machine/array.h"
#include "machine/causes.h"
#include "machine/lines.h"
#include "machine/model.h"
#include "machine/place.h"

namespace mlusim {
namespace {

// The most findings kept over all launches: a loop of failing launches must not fill the memory.
constexpr std::size_t kMostKept = 10000;
constexpr std::size_t kMostOfLaunch = 100;
constexpr std::size_t kMostTold = 50;    // at once, on stderr
constexpr std::size_t kMostLines = 500;  // of stderr, for all: a program may launch in a loop

struct Log {
  ForkMutex mutex;
  std::vector<mlusimFinding> findings;
  std::string report;
  std::size_t told = 0;                          // findings that stderr has
  std::size_t failed_begin = 0, failed_end = 0;  // those of the launch that failed last
  std::size_t lines = 0;                         // that stderr has
  bool tells = true;                             // whether a launch that fails tells its findings
};

Log &finding_log() {
  static Log *const instance = new Log;
  return *instance;
}

// The findings of the running launch, on the device's thread.
std::vector<mlusimFinding> g_found;
std::string g_kernel;

// What was reported before for an instruction, to tell it without looking up lines and texts again.
struct Reported {
  const char *checker, *rule;
  const void *pc, *other_pc;
  bool operator<(const Reported &other) const {
    return std::tie(pc, other_pc, rule, checker) < std::tie(other.pc, other.other_pc, other.rule, other.checker);
  }
};
constexpr std::size_t kOff = ~std::size_t{0};  // in place of the number of a finding
std::map<Reported, std::size_t> g_reported;    // numbers in g_found
bool g_fails = false;

template <std::size_t n>
void put(char (&target)[n], const std::string &text) {
  const std::size_t length = std::min(text.size(), n - 1);
  std::memcpy(target, text.data(), length);
  std::memset(target + length, 0, n - length);
}

void put_place(const void *pc, char (&file)[256], std::int32_t *line) {
  SourceLine place;
  if (pc == nullptr || !find_line(pc, &place)) return;
  put(file, place.file);
  *line = place.line;
}

// The message with the name of the memory that it is about.
std::string with_place(const FindingText &text) {
  const std::string place = text.address != nullptr ? place_name(text.address) : "";
  const bool has_it = place.empty() || text.message.find(place) != std::string::npos;
  return has_it ? text.message : text.message + " (" + place + ")";
}

mlusimFinding make(const Core *core, const std::string &kernel, const FindingText &text) {
  mlusimFinding finding = {};
  put(finding.checker, text.checker);
  put(finding.rule, text.rule);
  const FindingRule *const rule = find_rule(text.checker, text.rule);
  put(finding.severity, name_of(rule != nullptr ? rule->severity : Severity::kError));
  put(finding.kernel, kernel);
  put_place(text.pc, finding.file, &finding.line);
  put_place(text.other_pc, finding.other_file, &finding.other_line);
  finding.task = core != nullptr ? core->task_id : -1;
  finding.cluster = core != nullptr ? core->cluster : -1;
  finding.core = core != nullptr ? core->core_id : -1;
  if (text.address != nullptr || text.size != 0) {
    const bool constant = constant_near(text.address) != nullptr;
    put(finding.space, name_of(constant ? Space::kCode : locate(text.address).space));
    finding.offset = offset_in_memory(text.address);
    finding.size = text.size;
    put(finding.allocation, describe_allocation(text.address));
  }
  put(finding.message, kernel.empty() ? text.message : with_place(text));
  finding.count = 1;
  return finding;
}

bool same_place(const mlusimFinding &a, const mlusimFinding &b) {
  return std::strcmp(a.checker, b.checker) == 0 && std::strcmp(a.rule, b.rule) == 0 && a.line == b.line &&
         std::strcmp(a.file, b.file) == 0 && (a.line != 0 || std::strcmp(a.message, b.message) == 0);
}

std::string core_text(const mlusimFinding &finding) {
  if (finding.task < 0) return "";
  const std::string core = finding.core == kMpuCoreId ? "memory core" : "core " + std::to_string(finding.core);
  return "task " + std::to_string(finding.task) + ", cluster " + std::to_string(finding.cluster) + ", " + core;
}

std::string lines_of(const mlusimFinding &finding) {
  std::string text = std::string("  ") + finding.checker + "/" + finding.rule + ": ";
  if (std::strcmp(finding.severity, "error") != 0) text = std::string("  ") + finding.severity + " " + text.substr(2);
  if (finding.line != 0) text += std::string(finding.file) + ":" + std::to_string(finding.line) + ": ";
  text += finding.message;
  const std::string core = core_text(finding);
  if (!core.empty()) text += "\n    by " + core;
  if (finding.count > 1) text += " and " + std::to_string(finding.count - 1) + " more times";
  if (finding.other_line != 0) {
    text += std::string("\n    the other access: ") + finding.other_file + ":" + std::to_string(finding.other_line);
  }
  if (finding.space[0] != '\0') {
    text += "\n    " + std::to_string(finding.size) + " bytes of " + finding.space;
  }
  if (finding.allocation[0] != '\0') text += std::string("\n    ") + finding.allocation;
  return text;
}

// A finding that follows from another one.
std::string short_line_of(const mlusimFinding &finding) {
  const std::string place =
      finding.line != 0 ? " at " + std::string(finding.file) + ":" + std::to_string(finding.line) : "";
  return std::string(finding.checker) + "/" + finding.rule + place;
}

std::string report_of(const std::string &kernel, const std::vector<mlusimFinding> &findings) {
  std::string text = "kernel " + kernel + " on " + device().name + ": " + std::to_string(findings.size()) +
                     (findings.size() == 1 ? " finding" : " findings");
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += "\n" + lines_of(findings[i]);
    const std::size_t following = count_following(findings, i);
    if (following == 0) continue;
    text += "\n    and " + following_text(following) + ":";
    for (const std::size_t end = i + following; i < end;) text += "\n      " + short_line_of(findings[++i]);
  }
  return text;
}

void keep(const std::vector<mlusimFinding> &findings, const std::string &report) {
  Log &all = finding_log();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const std::size_t begin = all.findings.size();
  for (const mlusimFinding &finding : findings) {
    if (all.findings.size() < kMostKept) all.findings.push_back(finding);
  }
  if (report.empty()) return;
  all.report = report;
  all.failed_begin = begin;
  all.failed_end = all.findings.size();
}

// Writes findings from `begin` on to stderr, a line each, as programs tell them at their end.
void tell(Log *log, std::size_t begin, std::size_t end) {
  std::size_t told = 0;
  for (std::size_t i = begin; i < end && told < kMostTold; ++i, ++told) {
    const mlusimFinding &finding = log->findings[i];
    const std::size_t following = std::min(count_following(log->findings, i), end - i - 1);
    i += following;
    begin = i + 1;
    if (log->lines == kMostLines) std::fprintf(stderr, "mlusim: further findings are not told\n");
    if (log->lines++ >= kMostLines) break;
    const bool placed = finding.line != 0;
    std::string line = placed ? std::string(finding.file) + ":" + std::to_string(finding.line) : "mlusim";
    line += std::string(": ") + finding.checker + "/" + finding.rule + ": " + finding.message;
    if (finding.kernel[0] != '\0') {
      line += std::string(" (") + finding.kernel;
      if (finding.task >= 0) line += ", task " + std::to_string(finding.task);
      if (finding.core == kMpuCoreId) line += ", memory core";
      line += ")";
    }
    if (following != 0) line += ", and " + following_text(following);
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  if (begin < end && log->lines <= kMostLines) std::fprintf(stderr, "mlusim: and %zu more findings\n", end - begin);
  log->told = std::max(log->told, end);
}

// Tells the findings of the launch that failed last, if nobody did.
void tell_last_failure(Log *log) {
  if (log->failed_end <= log->told) return;
  tell(log, std::max(log->failed_begin, log->told), log->failed_end);
}

void add(const Core *core, const FindingText &text) {
  const mlusimFinding finding = make(core, g_kernel, text);
  std::size_t number = 0;
  while (number < g_found.size() && !same_place(g_found[number], finding)) ++number;
  if (number < g_found.size()) {
    ++g_found[number].count;
  } else if (g_found.size() < kMostOfLaunch) {
    g_found.push_back(finding);
  } else {
    return;
  }
  // Without a line, texts tell findings apart.
  if (finding.line != 0) g_reported[{text.checker, text.rule, text.pc, text.other_pc}] = number;
}

}  // namespace

std::string place_of(const void *pc) {
  SourceLine place;
  if (pc != nullptr && find_line(pc, &place)) return place.file + ":" + std::to_string(place.line);
  return "an unknown line";
}

bool has_line(const void *pc) {
  SourceLine place;
  return pc != nullptr && find_line(pc, &place);
}

Action action_for(const FindingText &text) {
  const FindingRule *const rule = find_rule(text.checker, text.rule);
  const Action action = rule != nullptr ? action_of(*rule) : Action::kFail;
  if (action == Action::kOff || !any_allowed()) return action;
  for (const void *pc : {text.pc, text.other_pc}) {
    if (is_allowed(pc, text.checker, text.rule)) return Action::kOff;
  }
  return action;
}

bool count_again(const char *checker, const char *rule, const void *pc, const void *other_pc) {
  const auto known = g_reported.find({checker, rule, pc, other_pc});
  if (known == g_reported.end()) return false;
  if (known->second != kOff) ++g_found[known->second].count;
  return true;
}

void report(const Core *core, const FindingText &text) {
  if (count_again(text.checker, text.rule, text.pc, text.other_pc)) return;
  const Action action = action_for(text);
  if (action == Action::kOff) {
    if (text.pc != nullptr) g_reported[{text.checker, text.rule, text.pc, text.other_pc}] = kOff;
    return;
  }
  g_fails = g_fails || action == Action::kFail;
  add(core, text);
}

void report_end(const Core *core, const FindingText &text) {
  g_fails = true;
  add(core, text);
}

void begin_findings(const std::string &kernel) {
  g_found.clear();
  g_reported.clear();
  g_fails = false;
  g_kernel = kernel;
}

bool end_findings(bool ended) {
  const bool fails = g_fails || ended;
  if (g_found.empty()) return fails;
  order_by_cause(&g_found);
  for (mlusimFinding &finding : g_found) finding.launch_failed = fails ? 1 : 0;
  keep(g_found, fails ? report_of(g_kernel, g_found) : "");
  return fails;
}

void tell_failure() {
  Log &all = finding_log();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (all.tells) tell_last_failure(&all);
}

void report_from_host(const FindingText &text, bool fails) {
  if (action_for(text) == Action::kOff) return;
  std::vector<mlusimFinding> findings = {make(nullptr, "", text)};
  findings[0].launch_failed = fails ? 1 : 0;
  const std::string head = "host code on " + std::string(device().name) + ": 1 finding\n";
  keep(findings, fails ? head + lines_of(findings[0]) : "");
  if (fails) tell_failure();
}

void make_finding_log() { finding_log(); }

}  // namespace mlusim

// ---- Extension functions ------------------------------------------------------------------------

using mlusim::finding_log;

std::uint64_t mlusimGetFindingCount(void) {
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  return finding_log().findings.size();
}

int mlusimGetFinding(std::uint64_t index, mlusimFinding *finding) {
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  if (finding == nullptr || index >= finding_log().findings.size()) return -1;
  *finding = finding_log().findings[index];
  return 0;
}

void mlusimClearFindings(void) {
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  mlusim::Log &all = finding_log();
  all.findings.clear();
  all.report.clear();
  all.told = all.failed_begin = all.failed_end = 0;
}

void mlusimSetTelling(int on) {
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  finding_log().tells = on != 0;
}

void mlusimTellFindings(void) {
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  mlusim::tell(&finding_log(), finding_log().told, finding_log().findings.size());
}

void mlusimTellFailure(cnrtRet_t error) {
  if (error != cnrtErrorKernelTrap && error != cnrtErrorAssert) return;
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  mlusim::tell_last_failure(&finding_log());
}

const char *mlusimGetReport(void) {
  mlusim::ThreadTexts *const texts = mlusim::thread_texts();
  if (texts == nullptr) return "";
  const std::lock_guard<mlusim::ForkMutex> lock(finding_log().mutex);
  const std::string &report = finding_log().report;
  if (texts->report != nullptr && report == texts->report) return texts->report;
  auto *const copy = static_cast<char *>(std::malloc(report.size() + 1));
  if (copy == nullptr) return "";
  std::memcpy(copy, report.c_str(), report.size() + 1);
  std::free(texts->report);
  texts->report = copy;
  return copy;
}
