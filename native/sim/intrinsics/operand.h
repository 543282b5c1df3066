// What every intrinsic begins with: the calling core, whether there is work for this core, and whether its operands lie where they
// must. The checkers answer finer questions (which array, which allocation, initialised or not, raced or not): they are told of
// every access.
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

// To be written in the exported function itself, whose return address is the place in the kernel.
#define MLUSIM_CALL(name) \
  ::mlusim::Call { ::mlusim::self(name, __builtin_return_address(0)), name, __builtin_return_address(0), name }

inline Operand nram_source(const char *role, const void *base, std::int64_t bytes) {
  return {role, Kind::kRead, Space::kNram, Region::plain(base, static_cast<std::size_t>(bytes))};
}
inline Operand nram_target(const char *role, const void *base, std::int64_t bytes) {
  return {role, Kind::kWrite, Space::kNram, Region::plain(base, static_cast<std::size_t>(bytes))};
}

// Whether there is work for an instruction that counts `count` things: not for none, which is a matter of the align checker.
// A negative count ends the launch.
bool has_work(const Call &call, std::int64_t count);

// The same for what only compute cores do: a memory core passes over it.
inline bool has_vector_work(const Call &call, std::int64_t count) {
  return !call.core.is_mpu() && has_work(call, count);
}

// The same for what gives scalar code a result: a memory core gets one without having NRAM.
inline bool has_scalar_result(const Call &call, std::int64_t count) {
  if (call.core.is_mpu()) note_missing_read(call.core);
  return has_vector_work(call, count);
}

// Ends the launch if an operand does not lie in its space, where this core can reach it. The space that it does lie in: what
// is read from GDRAM or the stack may be a constant or an argument as well.
Space check_place(const Call &call, const Operand &operand);

// Tells the checkers of the accesses, on the compute pipe.
void tell(const Call &call, const Operand &operand);

// Holds the operands against the align rules, and tells the checkers how much the instruction works on.
void announce(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);

// Checks all operands, holds them against the align rules, tells the checkers. Sources stand before targets.
void check_operands(const Call &call, const Operand *operands, std::size_t count, const Amount &amount);
inline void check_operands(const Call &call, std::initializer_list<Operand> operands, const Amount &amount) {
  check_operands(call, operands.begin(), operands.size(), amount);
}

// Ends the launch for an argument that no device would accept. `message` goes on behind the intrinsic's name.
[[noreturn]] void refuse(const Call &call, const char *rule, std::string &&message, const void *address = nullptr);

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_OPERAND_H_
