// Transfers of bytes between memories, at once or when the core waits for them: the common part of
// copies, gathers, scatters and fills.
#ifndef MLUSIM_INTRINSICS_TRANSFER_H_
#define MLUSIM_INTRINSICS_TRANSFER_H_

#include "intrinsics/operand.h"

namespace mlusim {

struct Direction {
  Space source, target;
};
constexpr int kDirections = 24;

// Returns the ends of a mluMemcpyDirection_t; a kernel may pass any number.
Direction ends_of(const Call &call, int direction);

// Whether this core moves data between these memories. Compute cores do it if NRAM or WRAM is
// involved, memory cores if SRAM is involved without them, and both if both ends are off chip;
// other cores skip the instruction.
bool carries_out(const Core &core, const Direction &direction);

// Returns the pipe of asynchronous copies between these memories.
Agent agent_of(const Direction &direction);

// Whether a strided copy fills bytes of WRAM in order and without a gap, as a linear copy does.
// Pieces that lie one behind the other by the size of a lane name lanes instead.
bool fills_wram_in_order(const Transfer &strided);

// Returns a copy to or from WRAM, whose pieces there follow each other without a gap, distributed
// over the lanes; any other transfer unchanged.
Transfer in_wram_lanes(const Call &call, const Transfer &linear);

// Returns the place in lane 0 where an operand in WRAM begins; each lane holds `bytes` of it. An
// address in another lane counts as an offset in the whole array, of which each lane holds a 64th,
// and is a finding. Ends the launch if a lane is too short.
char *lane_base(const Call &call, const Operand &operand, std::int64_t bytes);

// Completes the asynchronous copies before a synchronous copy: it uses the same pipe, behind them.
void drain_pipe(const Call &call, const Direction &direction);

// Sends the accesses to the checkers, then moves the pieces, data and shadow.
void perform(const Call &call, const Transfer &transfer);

// Queues the transfer in its pipe. If the pipe is that of compute instructions, the transfer
// happens at once.
void start(const Call &call, const Transfer &transfer, Agent agent);

// The bits of one value, which repeats through a region.
struct Pattern {
  std::uint64_t bits;
  std::uint32_t element;  // bytes of one value
};
void perform_fill(const Call &call, const Operand &target, const Pattern &pattern);
void start_fill(const Call &call, const Operand &target, const Pattern &pattern, Agent agent);

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_TRANSFER_H_
