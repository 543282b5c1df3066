#include "check/align.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "check/text.h"
#include "machine/model.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

// ---- Rules --------------------------------------------------------------------------------------

enum class Measure : std::uint8_t {
  kBytes,
  kElements
};

// The overlap of a target with a source that a rule allows.
enum class Overlap : std::uint8_t {
  kAny,        // not restricted, as far as is known
  kStart,      // complete, from the same address on
  kNone,       // none
  kNoneOn2xx,  // none on 2xx; any on newer families
};

// Multiples are 1 where no rule applies.
struct Rule {
  const char *name;
  std::uint16_t address_2xx;  // alignment of operands, bytes
  Measure unit;               // of the multiples
  std::uint16_t multiple_2xx;
  std::uint16_t multiple_3xx;
  std::uint16_t multiple_new;  // on 592 and later
  Overlap overlap;
  bool needs_count;  // needs one element at least
};

// Sorted by name.
constexpr Rule kRules[] = {
#include "check/align_rules.inc"
};

const Rule *rule_of(const Call &call) {
  // Kernels repeat instructions, so the last rule is kept.
  static const Rule *last = nullptr;
  if (last != nullptr && std::strcmp(last->name, call.rule) == 0) return last;
  const auto before = [](const Rule &rule, const char *name) { return std::strcmp(rule.name, name) < 0; };
  const Rule *rule = std::lower_bound(std::begin(kRules), std::end(kRules), call.rule, before);
  if (rule == std::end(kRules) || std::strcmp(rule->name, call.rule) != 0) return nullptr;
  last = rule;
  return rule;
}

std::int64_t multiple_of(const Rule &rule) {
  const int arch = device().arch;
  return arch < 300 ? rule.multiple_2xx : arch < 392 ? rule.multiple_3xx : rule.multiple_new;
}

// Whether operands may lie anywhere, have any size and overlap.
bool allows_all(const Rule &rule) {
  const bool anywhere = !is_2xx() || rule.address_2xx <= 1;
  return anywhere && multiple_of(rule) <= 1 && rule.overlap == Overlap::kAny;
}

// ---- Findings -----------------------------------------------------------------------------------

bool g_watches = false;

// Reports a finding. `message` follows the instruction's name.
void find(const Call &call, const char *rule, const std::string &message, const Region &region = {}) {
  FindingText text = {"align", rule};
  text.pc = call.pc;
  text.address = region.base;
  text.size = region.bytes;
  text.message = std::string(call.name) + ": " + message;
  report(&call.core, text);
}

std::string demand() { return std::string("; ") + device().name + " needs "; }

void check_address(const Call &call, const char *role, const Region &region, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(region.base) % alignment == 0) return;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(region.base) % alignment;
  find(call, "address",
       std::string(role) + " lies " + bytes_text(beyond) + " behind a multiple of " + std::to_string(alignment) +
           demand() + "addresses that are multiples of " + bytes_text(alignment),
       region);
}

void check_size(const Call &call, std::int64_t value, const char *unit, std::int64_t multiple) {
  if (multiple <= 1 || value % multiple == 0) return;
  find(call, "size",
       "works on " + std::to_string(value) + " " + unit + demand() + "a multiple of " + std::to_string(multiple));
}

void check_overlap(const Call &call, Overlap allowed, const Operand &target, const Operand &source) {
  if (allowed == Overlap::kAny || (allowed == Overlap::kNoneOn2xx && !is_2xx())) return;
  if (allowed == Overlap::kStart && target.region.base == source.region.base) return;
  if (!overlap(target.region, source.region)) return;
  const char *more = allowed == Overlap::kStart ? " without starting where it does" : "";
  find(call, "overlap", std::string(target.role) + " overlaps " + source.role + more, target.region);
}

// ---- Copies -------------------------------------------------------------------------------------

constexpr std::int64_t kMostSegments = 65536;

// Returns the multiple that the size of a linear copy to or from WRAM, or within NRAM, must be.
std::int64_t linear_multiple(const Transfer &transfer) {
  const Space source = transfer.source.space;
  const Space target = transfer.target.space;
  if (source == Space::kWram || target == Space::kWram) return is_2xx() ? 64 : 16;
  return source == Space::kNram && target == Space::kNram && is_2xx() ? 128 : 1;
}

void check_strides(const Call &call, const Operand &operand) {
  const Region &region = operand.region;
  const std::int64_t size = static_cast<std::int64_t>(region.bytes);
  const struct {
    std::int64_t count, stride;
  } levels[] = {{region.count0, region.stride0}, {region.count1, region.stride1}};
  for (const auto &[count, stride] : levels) {
    if (count <= 1) continue;
    if (operand.kind == Kind::kWrite && std::abs(stride) < size) {
      find(call, "stride",
           std::string(operand.role) + " has a stride of " + bytes_text(static_cast<std::uint64_t>(std::abs(stride))) +
               ", less than its pieces of " + bytes_text(static_cast<std::uint64_t>(size)),
           region);
    }
    if (operand.space == Space::kWram && stride % 8 != 0) {
      find(call, "stride",
           std::string(operand.role) + " has a stride of " + std::to_string(stride) + demand() +
               "multiples of 8 bytes in WRAM",
           region);
    }
  }
  if (region.count0 > kMostSegments || region.count1 > kMostSegments) {
    find(call, "segments",
         std::string(operand.role) + " has " + std::to_string(std::max(region.count0, region.count1)) +
             " segments; 65536 are the most");
  }
}

class AlignChecker : public Observer {
 public:
  bool sees_accesses() const override { return false; }
  void launch_begin(const LaunchInfo &) override { g_watches = true; }
  void launch_end(const LaunchInfo &) override { g_watches = false; }
};

}  // namespace

Observer &align_checker() {
  static AlignChecker checker;
  return checker;
}

bool align_is_watched() { return g_watches; }

void align_check_count(const Call &call) {
  if (!g_watches) return;
  const Rule *rule = rule_of(call);
  if (rule != nullptr && rule->needs_count) find(call, "count", "works on nothing; the smallest count is 1");
}

void align_check(const Call &call, const Operand *operands, std::size_t count, const Amount &amount) {
  if (!g_watches) return;
  const Rule *rule = rule_of(call);
  if (rule == nullptr) return;
  const bool in_bytes = rule->unit == Measure::kBytes;
  check_size(call, in_bytes ? amount.bytes : amount.elements, in_bytes ? "bytes" : "elements", multiple_of(*rule));
  for (const Operand *operand = operands; operand != operands + count; ++operand) {
    if (is_2xx() && operand->space == Space::kNram) {
      check_address(call, operand->role, operand->region, rule->address_2xx);
    }
    if (operand->kind != Kind::kWrite) continue;
    for (const Operand *source = operands; source != operands + count; ++source) {
      if (source->kind == Kind::kRead) check_overlap(call, rule->overlap, *operand, *source);
    }
  }
}

void align_check_multiple(const Call &call, std::int64_t count, std::int64_t of) {
  if (!g_watches || count % of == 0) return;
  find(call, "size",
       "repeats " + std::to_string(of) + " elements along " + std::to_string(count) + ", which is no multiple of them");
}

void align_check_element(const Call &call, const void *address, std::size_t element) {
  if (!g_watches) return;
  check_address(call, "the operand in GDRAM", Region::plain(address, element), element);
}

void align_check_filter(const Call &call, const Operand &filter) {
  constexpr std::size_t kAlignment = 32;
  if (g_watches) check_address(call, filter.role, filter.region, kAlignment);
}

void align_check_copy(const Call &call, const Transfer &transfer, bool strided) {
  if (!g_watches) return;
  const std::int64_t size = static_cast<std::int64_t>(transfer.target.region.bytes);
  const Rule *rule = rule_of(call);
  if (rule != nullptr && !allows_all(*rule)) {
    const Operand operands[] = {transfer.source, transfer.target};
    align_check(call, operands, 2, {size, size});
  }
  const std::int64_t multiple = linear_multiple(transfer);
  for (const Operand *operand : {&transfer.source, &transfer.target}) {
    if (operand->space == Space::kWram) check_address(call, operand->role, operand->region, 8);
    if (!strided && operand->space == Space::kNram && multiple == 128) {
      check_address(call, operand->role, operand->region, 64);
    }
    if (strided) check_strides(call, *operand);
  }
  if (strided) return;
  check_size(call, size, "bytes", multiple);
  // Places in different memories do not overlap.
  if (transfer.target.space != transfer.source.space) return;
  check_overlap(call, Overlap::kStart, transfer.target, transfer.source);
}

}  // namespace mlusim
