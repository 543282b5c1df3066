// Bytes from one memory to another, now or when the core waits for them: what copies, gathers, scatters and fills have in common.
#ifndef MLUSIM_INTRINSICS_TRANSFER_H_
#define MLUSIM_INTRINSICS_TRANSFER_H_

#include "intrinsics/operand.h"

namespace mlusim {

struct Direction {
  Space source, target;
};
constexpr int kDirections = 24;

// Of a mluMemcpyDirection_t, of which a kernel may pass any number.
Direction ends_of(const Call &call, int direction);

// Whether this core moves data between these memories. What touches NRAM or WRAM is done by compute cores, what else touches
// SRAM by memory cores; the others pass over it. Both do what lies off chip.
bool carries_out(const Core &core, const Direction &direction);

// The pipe of asynchronous copies between these memories.
Agent agent_of(const Direction &direction);

// A linear copy to or from WRAM, spread over the lanes; any other transfer as it is.
Transfer in_wram_lanes(const Call &call, const Transfer &linear);

// The place in lane 0 that an operand in WRAM begins with, of which each lane has `bytes`. An address in another lane is taken for an
// offset of the whole, of which each lane has a 64th: a finding. Ends the launch if a lane is too short.
char *lane_base(const Call &call, const Operand &operand, std::int64_t bytes);

// A synchronous copy between these memories goes through their pipe, behind the asynchronous ones there: when it is done, they are.
void drain_pipe(const Call &call, const Direction &direction);

// Tells the checkers, then moves the pieces, data and shadow.
void perform(const Call &call, const Transfer &transfer);

// Leaves that to the pipe. Where the pipe is that of compute instructions it happens at once.
void start(const Call &call, const Transfer &transfer, Agent agent);

// The bits of one value, repeated through a region.
struct Pattern {
  std::uint64_t bits;
  std::uint32_t element;  // bytes of one value
};
void perform_fill(const Call &call, const Operand &target, const Pattern &pattern);
void start_fill(const Call &call, const Operand &target, const Pattern &pattern, Agent agent);

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_TRANSFER_H_
