#include "intrinsics/operand.h"

#include <utility>

#include "check/align.h"
#include "machine/array.h"
#include "machine/lines.h"
#include "machine/memory.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

// A lower address is a null pointer plus an index.
constexpr std::uintptr_t kNullBytes = 4096;

std::string size_text(std::size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

// Whether constants and arguments are readable for this operand: they are wherever GDRAM or the
// stack is.
bool accepts_constants(const Operand &operand) {
  return operand.kind == Kind::kRead && (operand.space == Space::kGdram || operand.space == Space::kLdram);
}

Space space_off_device(const void *address) {
  if (is_argument(address)) return Space::kParam;
  if (constant_near(address) != nullptr) return Space::kCode;
  return in_loaded_library(address, nullptr) ? Space::kCode : Space::kHost;
}

Range own_piece(const Core &core, Space space) {
  switch (space) {
    case Space::kNram:
      return core.nram;
    case Space::kWram:
      return core.wram;
    case Space::kSram:
      return in_union() ? core.sram : Range{};
    case Space::kLdram:
      return core.stack;
    case Space::kGdram:
      return gdram_range();
    default:
      return {};
  }
}

// Describes the wrong address of an operand, as the end of a sentence.
const char *explain(const Core &core, const Operand &operand, const char **rule) {
  const Location location = locate(operand.region.base);
  *rule = "wrong-space";
  if (core.is_mpu() && (operand.space == Space::kNram || operand.space == Space::kWram))
    return "a memory core, which has none";
  if (core.is_scratch(operand.region.base)) return "NRAM or WRAM, which a memory core does not have";
  if (location.space != Space::kHost) {
    if (location.space != operand.space) return name_of(location.space);
    if (location.space == Space::kSram && !in_union()) return "SRAM, which a Block task does not have";
    return location.space == Space::kSram ? "the SRAM of another cluster" : "the memory of another core";
  }
  if (reinterpret_cast<std::uintptr_t>(operand.region.base) < kNullBytes) {
    *rule = "null-pointer";
    return "a null pointer";
  }
  if (operand.kind != Kind::kRead) {
    return in_loaded_library(operand.region.base, nullptr)
               ? "a variable of a library, which is no device memory: declare it __mlu_device__, at file scope"
               : "no device memory";
  }
  *rule = "host-pointer";
  return "memory of the host";
}

// Takes the message over: the stack of a kernel that ends here or below is never unwound.
[[noreturn]] void complain(const Call &call, const Operand &operand, const char *rule, std::string &&message) {
  FindingText text = {"memory", rule};
  text.pc = call.pc;
  text.address = operand.region.base;
  text.size = static_cast<std::uint64_t>(operand.region.hull().size());
  text.message = std::string(call.name) + ": " + operand.role + " " + message;
  std::string().swap(message);
  trap(std::move(text));
}

// Reports a place outside all memory that this core reaches, with the rule for the mistake.
[[noreturn]] void explain_place(const Call &call, const Operand &operand, const Range &piece) {
  const Range hull = operand.region.hull();
  if (piece.holds(operand.region.base)) {
    const bool behind = hull.end > piece.end;
    const std::size_t bytes = static_cast<std::size_t>(behind ? hull.end - piece.end : piece.begin - hull.begin);
    std::string message = "reaches " + size_text(bytes) + (behind ? " behind the end of " : " before the start of ");
    message += name_of(operand.space);
    complain(call, operand, "out-of-bounds", std::move(message));
  }
  const char *rule = "";
  const char *message = explain(call.core, operand, &rule);
  complain(call, operand, rule, std::string("must lie in ") + name_of(operand.space) + ", not in " + message);
}

}  // namespace

bool has_work(const Call &call, std::int64_t count) {
  if (count > 0) return true;
  if (count < 0) refuse(call, "negative-count", "a count of " + std::to_string(count));
  align_check_count(call);
  return false;
}

Space check_place(const Call &call, const Operand &operand) {
  const Range piece = own_piece(call.core, operand.space);
  const Region &region = operand.region;
  const Range hull =
      region.count0 == 1 && region.count1 == 1 ? Range{region.base, region.base + region.bytes} : region.hull();
  if (hull.begin >= piece.begin && hull.end <= piece.end && hull.begin <= hull.end) return operand.space;
  if (accepts_constants(operand)) {
    const Space space = space_off_device(region.base);
    if (space != Space::kHost) return space;
  }
  explain_place(call, operand, piece);
}

void tell(const Call &call, const Operand &operand) {
  observe({call.core, kCompute, operand.kind, operand.space, operand.region, call.name, call.pc});
}

void announce(const Call &call, const Operand *operands, std::size_t count, const Amount &amount) {
  align_check(call, operands, count, amount);
  const Unstoppable whole;
  for (Observer *observer : g_observers) observer->instruction(call, amount);
}

void check_operands(const Call &call, const Operand *operands, std::size_t count, const Amount &amount) {
  for (std::size_t i = 0; i < count; ++i) check_place(call, operands[i]);
  if (!g_observers.any()) return;
  announce(call, operands, count, amount);
  for (std::size_t i = 0; i < count; ++i) tell(call, operands[i]);
}

void refuse(const Call &call, const char *rule, std::string &&message, const void *address) {
  FindingText text = {"memory", rule};
  text.pc = call.pc;
  text.address = address;
  text.message = std::string(call.name) + ": " + message;
  std::string().swap(message);
  trap(std::move(text));
}

}  // namespace mlusim
