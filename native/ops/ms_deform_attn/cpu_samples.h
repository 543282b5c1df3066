// Levels, and where the samples of a query and head lie in them.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_SAMPLES_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_SAMPLES_H_

#include "cpu/vector.h"
#include "ops/ms_deform_attn/ms_deform_attn.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kCorners = 4;  // [yl, xl], [yl, xh], [yh, xl], [yh, xh]

struct MapLevel {
  std::int32_t height, width;
  std::int64_t start;
};

// Reads each level once, and refuses one that does not lie within the keys.
mluOpStatus_t read_levels(const char *function, const MsDeformAttnGeometry &g, const MsDeformAttnLevels &from,
                          MapLevel *levels) {
  InterruptPoll poll;
  for (std::int64_t l = 0; l < g.levels && !poll.interrupted(1); ++l) {
    const MapLevel level = {read_once(from.shapes + 2 * l), read_once(from.shapes + 2 * l + 1),
                            read_once(from.starts + l)};
    MLUOPS_REQUIRE(level.height >= 0 && level.width >= 0, MLUOP_STATUS_BAD_PARAM, function, from.shapes_name,
                   "height and width of at least 0",
                   Text::format("[%d, %d] of level %lld", level.height, level.width, static_cast<long long>(l)));
    const std::int64_t size = std::int64_t{level.height} * level.width;
    MLUOPS_REQUIRE(level.start >= 0 && size <= g.keys - level.start, MLUOP_STATUS_BAD_PARAM, function, from.starts_name,
                   Text::format("levels within K=%lld keys", static_cast<long long>(g.keys)),
                   Text::format("%lld with %d x %d keys of level %lld", static_cast<long long>(level.start),
                                level.height, level.width, static_cast<long long>(l)));
    levels[l] = level;
  }
  return MLUOP_STATUS_SUCCESS;
}

// Coordinates between -1 and the extent of the map: the pixels below and above, and how far it is to them.
struct Axis {
  Axis(Vector at, const std::int32_t *extents) {
    const IntVector extent = load_some(extents, kLanes);
    const IntVector whole = __builtin_convertvector(at, IntVector);
    low = whole + (__builtin_convertvector(whole, Vector) > at);  // a comparison that holds is -1
    low_part = at - __builtin_convertvector(low, Vector);
    high_part = 1.0f - low_part;
    has_low = low >= 0;  // and below the extent: a float below the rounded extent is below the extent
    has_high = low + 1 < extent;
  }

  IntVector low;
  Vector low_part, high_part;   // distances from the lower and from the upper pixel
  IntVector has_low, has_high;  // whether they lie in the map
};

// The levels of kLanes consecutive samples. Every query and head has the same ones.
struct LaneLevels {
  float height[kLanes], width[kLanes];
  std::int32_t rows[kLanes], columns[kLanes];
  std::int64_t start[kLanes];
};

// The number of vectors that hold the samples of a query and head.
inline std::int64_t vectors_of_samples(const MsDeformAttnGeometry &g) {
  return (g.levels * g.points + kLanes - 1) / kLanes;
}

// Writes the level of each sample to its lane.
inline void spread_levels(const MsDeformAttnGeometry &g, const MapLevel *levels, LaneLevels *lanes) {
  lanes[vectors_of_samples(g) - 1] = {};  // there may be lanes behind the last sample
  InterruptPoll poll;
  for (std::int64_t l = 0, number = 0; l < g.levels && !poll.interrupted(g.points); ++l) {
    for (std::int64_t p = 0; p < g.points; ++p, ++number) {
      LaneLevels &to = lanes[number / kLanes];
      const std::int64_t lane = number % kLanes;
      to.height[lane] = static_cast<float>(levels[l].height);
      to.width[lane] = static_cast<float>(levels[l].width);
      to.rows[lane] = levels[l].height;
      to.columns[lane] = levels[l].width;
      to.start[lane] = levels[l].start;
    }
  }
}

// Where kLanes samples lie. Lanes of samples that do not count hold no useful values.
struct PlacedSamples {
  unsigned counts;            // bit i: sample i counts
  unsigned inside[kCorners];  // bit i: this corner of sample i lies in the map
  std::int64_t key[kLanes];   // of the first corner
  std::int32_t columns[kLanes];
  float corner_weight[kCorners][kLanes];
  float hy[kLanes], hx[kLanes], ly[kLanes], lx[kLanes];  // distances from the upper and lower corners
  float height[kLanes], width[kLanes];
  float weight[kLanes];  // of attention
};

// Places `count` samples, at most kLanes. `locations` has their x and y.
inline void place_samples(const LaneLevels &levels, const float *locations, const float *weights, std::int64_t count,
                          PlacedSamples &placed) {
  float xs[kLanes] = {}, ys[kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    xs[i] = read_once(locations + 2 * i);
    ys[i] = read_once(locations + 2 * i + 1);
    placed.weight[i] = weights[i];
  }
  const Vector width = load(levels.width), height = load(levels.height);
  const Vector x = load(xs) * width - 0.5f, y = load(ys) * height - 0.5f;
  // A NaN does not count.
  const UnsignedVector counts =
      reinterpret_cast<UnsignedVector>((x > -1.0f) & (y > -1.0f) & (x < width) & (y < height)) & window_bits(0, count);
  placed.counts = lane_bits(reinterpret_cast<IntVector>(counts));
  const Axis across(masked(x, counts), levels.columns), down(masked(y, counts), levels.rows);
  placed.inside[0] = lane_bits(down.has_low & across.has_low);
  placed.inside[1] = lane_bits(down.has_low & across.has_high);
  placed.inside[2] = lane_bits(down.has_high & across.has_low);
  placed.inside[3] = lane_bits(down.has_high & across.has_high);
  store(placed.corner_weight[0], down.high_part * across.high_part);
  store(placed.corner_weight[1], down.high_part * across.low_part);
  store(placed.corner_weight[2], down.low_part * across.high_part);
  store(placed.corner_weight[3], down.low_part * across.low_part);
  store(placed.hy, down.high_part);
  store(placed.hx, across.high_part);
  store(placed.ly, down.low_part);
  store(placed.lx, across.low_part);
  store(placed.height, height);
  store(placed.width, width);
  std::int32_t row[kLanes], column[kLanes];
  store(row, down.low);
  store(column, across.low);
  for (int i = 0; i < kLanes; ++i) {
    placed.columns[i] = levels.columns[i];
    placed.key[i] = levels.start[i] + std::int64_t{row[i]} * levels.columns[i] + column[i];
  }
}

// The key of a corner that lies in the map.
inline std::int64_t key_of(const PlacedSamples &placed, int i, int corner) {
  return placed.key[i] + (corner >= 2 ? placed.columns[i] : 0) + corner % 2;
}

// Calls visit(i) for each sample that counts, in order.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_sample(const PlacedSamples &placed, Visit visit) {
  for (unsigned left = placed.counts; left != 0; left &= left - 1) visit(__builtin_ctz(left));
}

// The corners of a sample in the value of a batch and head: rows of channels. Outside of the map stands a row of zeros, as long as
// kZeros, in which one does not go on.
struct CornerRows {
  static constexpr std::int64_t kMost = 64;  // channels that are read from one place on
  alignas(kCacheLine) static constexpr float kZeros[kMost] = {};

  const float *row[kCorners];
  std::int64_t step[kCorners];

  // Of sample i. `value` is that of the batch and head, `stride` the distance of keys.
  void find(const PlacedSamples &placed, int i, const float *value, std::int64_t stride) {
    for (int corner = 0; corner < kCorners; ++corner) {
      const bool inside = placed.inside[corner] >> i & 1;
      row[corner] = inside ? value + key_of(placed, i, corner) * stride : kZeros;
      step[corner] = inside ? 1 : 0;
    }
  }
  const float *at(int corner, std::int64_t channel) const { return row[corner] + step[corner] * channel; }
};

// About how many numbers the samples of a query and head take.
inline std::int64_t values_of_row(const MsDeformAttnGeometry &g) {
  return g.channels + g.levels * g.points * (8 + kCorners * g.channels);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_SAMPLES_H_
