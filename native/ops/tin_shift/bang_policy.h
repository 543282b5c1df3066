// The division of TinShift over the cores of a card, and into tiles that fit into NRAM.
#ifndef MLUOPS_OPS_TIN_SHIFT_BANG_POLICY_H_
#define MLUOPS_OPS_TIN_SHIFT_BANG_POLICY_H_

#include <cstdint>

#include "bang/policy.h"
#include "ops/tin_shift/tin_shift.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// Vector instructions of the oldest cards write multiples of this many bytes.
constexpr int kVectorBytes = 128;

constexpr std::int64_t kMostRows = 65536;         // of one copy
constexpr std::int64_t kMostStride = 2147483647;  // of one copy, in bytes

// The division of work: tiles of `tile_times` steps by `tile_channels` channels of one group, or a
// part of one channel. A tile has one row per step.
struct TinShiftPlan {
  std::int64_t row_bytes;   // of one channel in one step
  std::int64_t step_bytes;  // from one step of time to the next
  int times, groups, channels_per_group;
  int tile_times, tile_channels;
  int piece_bytes;  // of a part of a channel, or of a whole one
  int stride;       // step_bytes if a tile has more than one step
  int buffer_bytes;
  int channel_tiles, time_tiles, pieces;  // in a group, in time, in a channel
  std::int64_t tiles;
};

// Three cases: channels that fit into a buffer with all their steps, single channels with some of
// their steps, and parts of a channel in a single step. `capacity` is the NRAM of a core in bytes;
// one half is stored while the other is loaded.
inline TinShiftPlan plan_for(const TinShiftProblem &problem, const Card &card, std::int64_t capacity) {
  TinShiftPlan plan = {};
  plan.row_bytes = problem.pixels * static_cast<std::int64_t>(problem.element_size);
  plan.step_bytes = problem.channels * plan.row_bytes;
  plan.times = static_cast<int>(problem.times);
  plan.groups = static_cast<int>(problem.groups);
  plan.channels_per_group = static_cast<int>(problem.channels / problem.groups);

  const std::int64_t buffer_bytes = round_down(capacity / 2, kVectorBytes);
  const std::int64_t most_times = plan.step_bytes > kMostStride ? 1 : kMostRows;
  const std::int64_t rows = smaller(buffer_bytes / plan.row_bytes, most_times);
  std::int64_t tile_times = 1, tile_channels = 1, piece_bytes = plan.row_bytes;
  if (rows >= problem.times) {
    tile_times = problem.times;
    tile_channels = smaller(buffer_bytes / (problem.times * plan.row_bytes), plan.channels_per_group);
    // Leave channels for every core.
    const std::int64_t cores = card.clusters * card.cores_per_cluster;
    tile_channels = smaller(tile_channels, ceil_div(problem.batches * problem.channels, cores));
  } else if (rows > 0) {
    tile_times = rows;
  } else {
    piece_bytes = round_up(ceil_div(plan.row_bytes, ceil_div(plan.row_bytes, buffer_bytes)), kVectorBytes);
  }
  plan.tile_times = static_cast<int>(tile_times);
  plan.tile_channels = static_cast<int>(tile_channels);
  plan.piece_bytes = static_cast<int>(piece_bytes);
  plan.stride = static_cast<int>(tile_times > 1 ? plan.step_bytes : 0);
  plan.buffer_bytes = static_cast<int>(buffer_bytes);
  plan.channel_tiles = static_cast<int>(ceil_div(plan.channels_per_group, tile_channels));
  plan.time_tiles = static_cast<int>(ceil_div(problem.times, tile_times));
  plan.pieces = static_cast<int>(ceil_div(plan.row_bytes, piece_bytes));
  plan.tiles = problem.batches * problem.groups * plan.channel_tiles * plan.time_tiles * plan.pieces;
  return plan;
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_TIN_SHIFT_BANG_POLICY_H_
