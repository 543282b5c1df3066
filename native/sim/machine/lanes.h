// The 64 lanes of WRAM, one for each lane of the tensor unit.
//
// An address in WRAM is a place within a lane; the same place in the next lane lies lane_size() further. So every WRAM array has room for
// 64 lanes, of each of which it takes a 64th of its bytes. A linear copy spreads its bytes over the lanes, a strided copy names them by
// its stride.
#ifndef MLUSIM_MACHINE_LANES_H_
#define MLUSIM_MACHINE_LANES_H_

#include "machine/copy.h"
#include "mlusim_source.h"

namespace mlusim {

constexpr std::int64_t kLanes = 64;

// Room for any array of any card, from its start on.
constexpr std::size_t kLanesRoom = std::size_t{1} << 20;

// Bytes of a lane: what kernels compute from the size of their architecture's WRAM.
std::int64_t lane_size();

// What an array, or a linear copy, of so many bytes takes of a lane: a 64th; all of it, in the first lane, if that is no whole number.
// (Guessed: nothing that fills 64 lanes has such a size, and kernels with one output channel do.)
constexpr std::int64_t lane_share(std::int64_t bytes) { return bytes % kLanes == 0 ? bytes / kLanes : bytes; }

// Where an address of a WRAM array lies.
struct LanePlace {
  char *first = nullptr;  // the array's start, which is in lane 0; null: no array is near
  std::int64_t lane = 0;
  std::int64_t offset = 0;  // within the lane, from the array's start
};
LanePlace lane_place(const void *address);

// Pieces at one place of `lanes` lanes, from lane 0 on.
Region in_lanes(char *base, std::size_t bytes, std::int64_t lanes);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LANES_H_
