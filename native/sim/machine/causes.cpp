#include "machine/causes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

namespace mlusim {
namespace {

// The steps from a cause to its consequences. A wrong access touches bytes of others, so it races
// and reads what nobody wrote; without a sync, bytes are read before they are written. Undefined
// numbers in turn become addresses and sizes.
enum Step : std::int32_t {
  kAccess,
  kSync,
  kRace,
  kUndefined,
  kUnused
};

bool is(const char *text, const char *name) { return std::strcmp(text, name) == 0; }

Step step_of(const mlusimFinding &finding) {
  if (is(finding.checker, "sync")) return kSync;
  if (is(finding.checker, "race")) return kRace;
  if (is(finding.checker, "init")) return kUndefined;
  return is(finding.checker, "unused") ? kUnused : kAccess;
}

int severity_of(const mlusimFinding &finding) {
  return is(finding.severity, "error") ? 0 : is(finding.severity, "warning") ? 1 : 2;
}

// Whether the undefined bytes were used as a number, which may have become an address or a size.
bool is_used_number(const mlusimFinding &finding) {
  return step_of(finding) == kUndefined && !is(finding.rule, "copy") && !is(finding.rule, "shared-copy");
}

bool same_line(const char *file_a, std::int32_t line_a, const char *file_b, std::int32_t line_b) {
  return line_a != 0 && line_a == line_b && is(file_a, file_b);
}

bool share_a_line(const mlusimFinding &a, const mlusimFinding &b) {
  return same_line(a.file, a.line, b.file, b.line) || same_line(a.file, a.line, b.other_file, b.other_line) ||
         same_line(a.other_file, a.other_line, b.file, b.line) ||
         same_line(a.other_file, a.other_line, b.other_file, b.other_line);
}

// Returns the argument, allocation or array that a finding is about; of arrays the same for all
// cores, since findings are told for the first core that has them.
std::string memory_of(const mlusimFinding &finding) {
  const std::string text = finding.allocation;
  const std::size_t end = text.rfind(", ");
  return end == std::string::npos ? "" : text.substr(0, end);
}

bool share_bytes(const mlusimFinding &a, const mlusimFinding &b) {
  const std::int64_t a_size = static_cast<std::int64_t>(a.size), b_size = static_cast<std::int64_t>(b.size);
  const bool overlap = a.offset < b.offset + b_size && b.offset < a.offset + a_size;
  const std::string memory = memory_of(a);
  return overlap && !memory.empty() && memory == memory_of(b);
}

// Whether the finding `to` may follow from `from`; `earlier` tells whether the latter was found
// first.
bool follows(const mlusimFinding &to, const mlusimFinding &from, bool earlier) {
  if (severity_of(from) > severity_of(to)) return false;
  const Step first = step_of(from), second = step_of(to);
  if (second == kAccess) {
    return first == kUndefined && is_used_number(from) && earlier && (from.task == to.task || share_a_line(from, to));
  }
  if (!share_a_line(from, to) && !share_bytes(from, to)) return false;
  return first < second || (first == second && earlier);
}

std::string name_of(const mlusimFinding &finding) {
  std::string text = std::string(finding.checker) + "/" + finding.rule;
  if (finding.line != 0) text += std::string(" at ") + finding.file + ":" + std::to_string(finding.line);
  return text;
}

constexpr std::size_t kNone = ~std::size_t{0};

// Returns for each finding the one that it follows from in the end, or kNone. The candidates come
// in the order of their steps, and of each step as they were found.
std::vector<std::size_t> causes_of(const std::vector<mlusimFinding> &findings) {
  std::vector<std::size_t> candidates(findings.size()), causes(findings.size(), kNone);
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::size_t a, std::size_t b) { return step_of(findings[a]) < step_of(findings[b]); });
  const auto root_of = [&](std::size_t at) {
    while (causes[at] != kNone) at = causes[at];
    return at;
  };
  for (const std::size_t effect : candidates) {
    for (const std::size_t cause : candidates) {
      if (cause == effect || !follows(findings[effect], findings[cause], cause < effect)) continue;
      const std::size_t root = root_of(cause);
      if (root == effect) continue;
      causes[effect] = root;
      break;
    }
  }
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (causes[i] != kNone) causes[i] = root_of(i);
  }
  return causes;
}

}  // namespace

void order_by_cause(std::vector<mlusimFinding> *findings) {
  const std::vector<std::size_t> causes = causes_of(*findings);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    mlusimFinding &finding = (*findings)[i];
    finding.step = step_of(finding);
    if (causes[i] == kNone) continue;
    std::snprintf(finding.cause, sizeof finding.cause, "%s", name_of((*findings)[causes[i]]).c_str());
  }
  std::vector<std::size_t> order(findings->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const std::size_t root = causes[i] == kNone ? i : causes[i];
    const mlusimFinding &of = (*findings)[root];
    return std::make_tuple(severity_of(of), of.step, root, causes[i] != kNone);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<mlusimFinding> ordered;
  ordered.reserve(order.size());
  for (const std::size_t i : order) ordered.push_back((*findings)[i]);
  *findings = std::move(ordered);
}

std::size_t count_following(const std::vector<mlusimFinding> &findings, std::size_t index) {
  std::size_t end = index + 1;
  if (findings[index].cause[0] != '\0') return 0;
  while (end < findings.size() && findings[end].cause[0] != '\0') ++end;
  return end - index - 1;
}

std::string following_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " finding that follows" : " findings that follow");
}

}  // namespace mlusim
