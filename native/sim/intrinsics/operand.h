// The first steps of every intrinsic: find the calling core, decide whether the core has work, and
// check that the operands lie in the right memories. The checkers examine each access in detail
// (the array or allocation, initialised bytes, races); these functions send them the accesses.
#ifndef MLUSIM_INTRINSICS_OPERAND_H_
#define MLUSIM_INTRINSICS_OPERAND_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "machine/instruction.h"
#include "machine/launch.h"
#include "machine/missing_memory.h"
#include "machine/observer.h"

namespace mlusim {

// Use this in the exported function itself: its return address is the place in the kernel.
#define MLUSIM_CALL(name) \
  ::mlusim::Call { ::mlusim::self(name, __builtin_return_address(0)), name, __builtin_return_address(0), name }

inline Operand nram_source(const char *role, const void *base, std::int64_t bytes) {
  return {role, Kind::kRead, Space::kNram, Region::plain(base, static_cast<std::size_t>(bytes))};
}
inline Operand nram_target(const char *role, const void *base, std::int64_t bytes) {
  return {role, Kind::kWrite, Space::kNram, Region::plain(base, static_cast<std::size_t>(bytes))};
}

// Whether an instruction with `count` units has work. A count of 0 is none and is reported to the
// align checker; a negative count ends the launch.
bool has_work(const Call &call, std::int64_t count);

// The same for instructions of compute cores only; a memory core skips them.
inline bool has_vector_work(const Call &call, std::int64_t count) {
  return !call.core.is_mpu() && has_work(call, count);
}

// The same for instructions with a result for scalar code; a memory core gets a result, although it
// has no NRAM.
inline bool has_scalar_result(const Call &call, std::int64_t count) {
  if (call.core.is_mpu()) note_missing_read(call.core);
  return has_vector_work(call, count);
}

// Ends the launch if the operand does not lie in its space, or this core cannot reach it. Returns
// the space in which it lies: an operand that is read from GDRAM or the stack may also be a
// constant or an argument.
Space check_place(const Call &call, const Operand &operand);

// Sends the operand's access to the checkers, on the compute pipe.
void tell(const Call &call, const Operand &operand);

// Checks the operands against the align rules, and sends the amount of work to the checkers.
void announce(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);

// Checks all operands, also against the align rules, and sends their accesses to the checkers.
// Sources precede targets.
void check_operands(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);
inline void check_operands(const Call &call, std::initializer_list<Operand> operands, const Amount &amount) {
  check_operands(call, operands.begin(), operands.size(), amount);
}

// Ends the launch for an argument that no device would accept. `message` follows the intrinsic's
// name.
[[noreturn]] void refuse(const Call &call, const char *rule, std::string &&message, const void *address = nullptr);

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_OPERAND_H_
