// The division of the work for a card.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_BANG_POLICY_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_BANG_POLICY_H_

#include "bang/policy.h"
#include "core/reason.h"
#include "ops/three_interpolate/three_interpolate.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// The sizes of a tile in NRAM: channels, sources and targets.
struct ThreeInterpolateTile {
  int channels, sources, targets;
};

// Each core has a range of the units, which are tiles of the result: forward of targets and
// channels of a batch, backward of sources and channels of a batch. For a unit it goes through all
// tiles that the unit needs.
struct ThreeInterpolatePlan {
  int channels, sources, targets;
  ThreeInterpolateTile tile;
  int blocks;    // of channels
  int segments;  // of sources
  int chunks;    // of targets
  int line;      // tiles have multiples of this many channels, sources and targets
  std::int64_t units;
};

// NRAM of tiles, in bytes.
struct ThreeInterpolateNeeds {
  std::int64_t source_channel;  // for each channel of each source
  std::int64_t target_channel;  // for each channel of each target
  std::int64_t target;
  std::int64_t channel;
};

constexpr std::int64_t kUsefulChannels = 256;  // more hardly make vectors faster
constexpr std::int64_t kFewChannels = 32;      // fewer make vector instructions inefficient
constexpr std::int64_t kUsefulTargets = 64;    // fewer make copies short
constexpr std::int64_t kMostTargets = 2048;
constexpr std::int64_t kThreeInterpolateFixedBytes = 4096;

static inline std::int64_t tile_bytes(const ThreeInterpolateNeeds &needs, std::int64_t channels, std::int64_t sources,
                                      std::int64_t targets) {
  return kThreeInterpolateFixedBytes + (needs.source_channel * sources + needs.channel) * channels +
         (needs.target_channel * channels + needs.target) * targets;
}

// The most channels with which all sources and enough targets fit. If these are too few, some more
// channels, and the sources in segments that use half of the memory.
static inline ThreeInterpolateTile choose_tile(const ThreeInterpolateGeometry &g, const ThreeInterpolateNeeds &needs,
                                               std::int64_t line, std::int64_t capacity, std::int64_t most_channels) {
  const std::int64_t all_sources = round_up(g.sources, line);
  const std::int64_t all_targets = round_up(g.targets, line);
  const std::int64_t widest = smaller(round_up(g.channels, line), round_up(most_channels, line));
  const std::int64_t some_targets = smaller(all_targets, kUsefulTargets);
  std::int64_t channels = widest;
  while (channels > larger(line, kFewChannels) && tile_bytes(needs, channels, all_sources, some_targets) > capacity) {
    channels = round_up(channels / 2, line);
  }
  std::int64_t sources = all_sources;
  if (tile_bytes(needs, channels, all_sources, some_targets) > capacity) {
    channels = smaller(widest, 2 * kFewChannels);
    sources = round_down(capacity / 2 / (needs.source_channel * channels), line);
  }
  const std::int64_t rest = capacity - tile_bytes(needs, channels, sources, 0);
  const std::int64_t targets = round_down(rest / (needs.target_channel * channels + needs.target), line);
  // If a line does not fit, the card refuses the kernel.
  ThreeInterpolateTile tile;
  tile.channels = static_cast<int>(channels);
  tile.sources = static_cast<int>(larger(sources, line));
  tile.targets = static_cast<int>(larger(smaller(smaller(targets, all_targets), kMostTargets), line));
  return tile;
}

static inline ThreeInterpolatePlan plan_for_tile(const ThreeInterpolateGeometry &g, const ThreeInterpolateTile &tile,
                                                 std::int64_t line) {
  ThreeInterpolatePlan plan = {};
  plan.channels = static_cast<int>(g.channels);
  plan.sources = static_cast<int>(g.sources);
  plan.targets = static_cast<int>(g.targets);
  plan.tile = tile;
  plan.line = static_cast<int>(line);
  plan.blocks = static_cast<int>(ceil_div(g.channels, tile.channels));
  plan.segments = static_cast<int>(ceil_div(g.sources, tile.sources));
  plan.chunks = static_cast<int>(ceil_div(g.targets, tile.targets));
  return plan;
}

// Older cards work on whole vectors.
static inline std::int64_t line_of(const ThreeInterpolateGeometry &g, const Card &card) {
  if (card.arch >= 300) return 1;
  return g.half ? 64 : 32;
}

// Targets are divided further if there are fewer tiles than cores.
static inline ThreeInterpolatePlan plan_forward(const ThreeInterpolateGeometry &g, const Card &card) {
  const std::int64_t line = line_of(g, card);
  const std::int64_t cores = std::int64_t{card.clusters} * card.cores_per_cluster;
  const ThreeInterpolateNeeds needs = {4, 16, g.half ? 30 : 24, 0};
  ThreeInterpolateTile tile = choose_tile(g, needs, line, usable_nram(card), kUsefulChannels);
  const std::int64_t chunks = ceil_div(cores, g.batches * ceil_div(g.channels, tile.channels));
  tile.targets = static_cast<int>(smaller(tile.targets, round_up(ceil_div(g.targets, chunks), line)));
  ThreeInterpolatePlan plan = plan_for_tile(g, tile, line);
  plan.units = g.batches * plan.blocks * plan.chunks;
  return plan;
}

// Channels are divided further if there are fewer tiles than cores, as long as vectors stay long
// enough.
static inline ThreeInterpolatePlan plan_backward(const ThreeInterpolateGeometry &g, const Card &card) {
  const std::int64_t line = line_of(g, card);
  const std::int64_t cores = std::int64_t{card.clusters} * card.cores_per_cluster;
  const ThreeInterpolateNeeds needs = {4, 8, g.half ? 30 : 24, 4};
  const std::int64_t blocks = ceil_div(cores, g.batches);
  const std::int64_t fair = larger(ceil_div(g.channels, blocks), smaller(g.channels, kUsefulTargets));
  const ThreeInterpolateTile tile = choose_tile(g, needs, line, usable_nram(card), smaller(fair, kUsefulChannels));
  ThreeInterpolatePlan plan = plan_for_tile(g, tile, line);
  plan.units = g.batches * plan.segments * plan.blocks;
  return plan;
}

// Strides of copies are ints.
static inline mluOpStatus_t need_copyable_rows(const char *function, const ThreeInterpolateGeometry &g) {
  const std::int64_t bytes = larger(g.sources, g.targets) * (g.half ? 2 : 4);
  MLUOPS_REQUIRE(bytes <= 0x7fffffff, MLUOP_STATUS_NOT_SUPPORTED, function, "M and N", "less than 2^31 bytes of a row",
                 Text::format("%lld", static_cast<long long>(bytes)));
  return MLUOP_STATUS_SUCCESS;
}

static inline cnrtDim3_t tasks_for(const ThreeInterpolatePlan &plan, const Card &card) {
  cnrtDim3_t dim;
  dim.x = static_cast<unsigned int>(card.cores_per_cluster);
  dim.y = static_cast<unsigned int>(smaller(card.clusters, ceil_div(plan.units, card.cores_per_cluster)));
  dim.z = 1;
  return dim;
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_BANG_POLICY_H_
