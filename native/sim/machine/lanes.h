// The 64 lanes of WRAM, one for each lane of the tensor unit.
//
// An address in WRAM is a place within a lane; the same place in the next lane lies lane_size()
// bytes further. Every WRAM array therefore reserves room for 64 lanes, and uses a 64th of its
// bytes in each. A linear copy distributes its bytes over the lanes; a strided copy selects lanes
// by its stride.
#ifndef MLUSIM_MACHINE_LANES_H_
#define MLUSIM_MACHINE_LANES_H_

#include "machine/copy.h"
#include "mlusim_source.h"

namespace mlusim {

constexpr std::int64_t kLanes = 64;

// Room for any array of any card, from its first byte.
constexpr std::size_t kLanesRoom = std::size_t{1} << 20;

// Bytes of a lane, which kernels compute from the WRAM size of their architecture.
std::int64_t lane_size();

// Bytes of a lane that an array, or a linear copy, of `bytes` takes: a 64th. If 64 does not divide
// `bytes`, all of it lies in the first lane. (A guess: nothing that fills 64 lanes has such a size,
// but kernels with one output channel do.)
constexpr std::int64_t lane_share(std::int64_t bytes) { return bytes % kLanes == 0 ? bytes / kLanes : bytes; }

// The place of an address in a WRAM array.
struct LanePlace {
  char *first = nullptr;  // the array's first byte, in lane 0; null: no array is near
  std::int64_t lane = 0;
  std::int64_t offset = 0;  // within the lane, from the array's first byte
};
LanePlace lane_place(const void *address);

// Returns the pieces at one place in each of `lanes` lanes, from lane 0 on.
Region in_lanes(char *base, std::size_t bytes, std::int64_t lanes);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LANES_H_
