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

// A sample that counts. A corner outside of the map has key -1.
template <typename Real>
struct Sample {
  std::int64_t key[kCorners];
  Real corner_weight[kCorners];
  Real hy, hx, ly, lx;  // distances from the upper and lower corners
  Real height, width;
  Real weight;          // of attention
  std::int64_t number;  // among those of its query and head
};

// The largest whole number up to x, which an int32 holds.
template <typename Real>
inline std::int32_t floor_of(Real x) {
  const std::int32_t whole = static_cast<std::int32_t>(x);
  return static_cast<Real>(whole) > x ? whole - 1 : whole;
}

// Whether the sample at `location`, (x, y), counts; a NaN does not.
template <typename Real>
inline bool place_sample(const MapLevel &level, const Real *location, Sample<Real> &sample) {
  const Real width = static_cast<Real>(level.width), height = static_cast<Real>(level.height), half = 0.5f;
  const Real x = read_once(location) * width - half;
  const Real y = read_once(location + 1) * height - half;
  if (!(x > -1 && y > -1 && x < width && y < height)) return false;
  const std::int32_t xl = floor_of(x), yl = floor_of(y);
  sample.lx = x - static_cast<Real>(xl);
  sample.ly = y - static_cast<Real>(yl);
  sample.hx = 1 - sample.lx;
  sample.hy = 1 - sample.ly;
  sample.width = width;
  sample.height = height;
  for (int corner = 0; corner < kCorners; ++corner) {
    const bool lower = corner >= 2, right = corner % 2 != 0;
    const std::int64_t row = std::int64_t{yl} + (lower ? 1 : 0), column = std::int64_t{xl} + (right ? 1 : 0);
    const bool inside = row >= 0 && row < level.height && column >= 0 && column < level.width;
    sample.key[corner] = inside ? level.start + row * level.width + column : -1;
    sample.corner_weight[corner] = (lower ? sample.ly : sample.hy) * (right ? sample.lx : sample.hx);
  }
  return true;
}

// Goes through the samples of a query and head, level by level.
template <typename Real>
class SampleReader {
 public:
  SampleReader(const MsDeformAttnGeometry &g, const MapLevel *levels, const Real *locations, const Real *weights)
      : count_(g.levels * g.points), points_(g.points), level_(levels), locations_(locations), weights_(weights) {}

  // The next sample that counts; false behind the last one.
  bool next(Sample<Real> &sample) {
    while (number_ < count_) {
      if (point_ == points_) {
        point_ = 0;
        ++level_;
      }
      const std::int64_t number = number_++;
      ++point_;
      if (!place_sample(*level_, locations_ + 2 * number, sample)) continue;
      sample.weight = weights_[number];
      sample.number = number;
      return true;
    }
    return false;
  }

 private:
  const std::int64_t count_, points_;
  const MapLevel *level_;
  const Real *const locations_;
  const Real *const weights_;
  std::int64_t number_ = 0, point_ = 0;
};

// The corners of a sample in the value of a batch and head: rows of channels. Outside of the map stands a row of zeros, as long as
// kZeros, in which one does not go on.
struct CornerRows {
  static constexpr std::int64_t kMost = 64;  // channels that are read from one place on
  alignas(kCacheLine) static constexpr float kZeros[kMost] = {};

  const float *row[kCorners];
  std::int64_t step[kCorners];

  // `value` is that of the batch and head, `stride` the distance of keys.
  void find(const Sample<float> &sample, const float *value, std::int64_t stride) {
    for (int corner = 0; corner < kCorners; ++corner) {
      const bool inside = sample.key[corner] >= 0;
      row[corner] = inside ? value + sample.key[corner] * stride : kZeros;
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
