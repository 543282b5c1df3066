// Levels, and the places of the samples of a query and head in them.
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

// Splits coordinates between -1 and the extent of the map: the pixels below and above, and the
// distances to them.
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

// The levels of the samples in the lanes of a vector. Every query and head has the same ones.
struct LaneLevels {
  float height[kLanes], width[kLanes];
  std::int32_t rows[kLanes], columns[kLanes], start[kLanes];
};

// The number of vectors that hold the samples of a query and head.
inline std::int64_t vectors_of_samples(const MsDeformAttnGeometry &g) {
  return (g.levels * g.points + kLanes - 1) / kLanes;
}

// Returns the number of queries that are placed together: as many as fill one vector with their
// samples.
inline std::int64_t queries_at_once(const MsDeformAttnGeometry &g) {
  return larger<std::int64_t>(kLanes / (g.levels * g.points), 1);
}

// Writes the level of each sample to its lane.
inline void spread_levels(const MsDeformAttnGeometry &g, const MapLevel *levels, LaneLevels *lanes) {
  lanes[vectors_of_samples(g) - 1] = {};  // lanes behind the last sample stay zero
  InterruptPoll poll;
  std::int64_t number = 0;
  for (std::int64_t query = 0; query < queries_at_once(g); ++query) {
    for (std::int64_t l = 0; l < g.levels && !poll.interrupted(g.points); ++l) {
      for (std::int64_t p = 0; p < g.points; ++p, ++number) {
        LaneLevels &to = lanes[number / kLanes];
        const std::int64_t lane = number % kLanes;
        to.height[lane] = static_cast<float>(levels[l].height);
        to.width[lane] = static_cast<float>(levels[l].width);
        to.rows[lane] = levels[l].height;
        to.columns[lane] = levels[l].width;
        to.start[lane] = static_cast<std::int32_t>(levels[l].start);
      }
    }
  }
}

// The samples in the lanes of a vector: `each` of some queries, query after query.
struct SampleLanes {
  std::int64_t queries, each;
  std::int64_t stride;  // samples from a query to the next one

  std::int64_t count() const { return queries * each; }

  // Prefetches the data of a later query; each query has `size` numbers for a vector of its
  // samples. The hardware cannot predict the start of the next query of a head. kWrite is 1 for
  // results.
  template <int kWrite>
  [[gnu::always_inline]] void prefetch_later(const float *from, std::int64_t size, std::int64_t distance) const {
    constexpr std::int64_t kLater = 4;
    for (std::int64_t query = 0; query < queries; ++query)
      prefetch<kWrite, 3, 1>(from, (query + kLater * queries) * distance, size);
  }

  // Vector `number` of those with kNumbers numbers for each sample; lanes behind the last sample
  // are 0.
  template <int kNumbers>
  Vector load(const float *from, int number) const {
    UnsignedVector lanes = {};
    for_each_window<kNumbers>(number, [&](std::int64_t offset, std::int64_t begin, std::int64_t end) {
      lanes |= reinterpret_cast<UnsignedVector>(load_window(from + offset, begin, end));
    });
    return reinterpret_cast<Vector>(read_vector_once(reinterpret_cast<IntVector>(lanes)));
  }

  template <int kNumbers>
  void store(float *to, int number, Vector vector) const {
    for_each_window<kNumbers>(number, [&](std::int64_t offset, std::int64_t begin, std::int64_t end) {
      store_window(to + offset, vector, begin, end);
    });
  }

 private:
  // Calls visit(place of lane 0, first lane, behind the last lane) for each query with lanes in the
  // vector.
  template <int kNumbers, typename Visit>
  [[gnu::always_inline]] void for_each_window(int number, Visit visit) const {
    for (std::int64_t query = 0; query < queries; ++query) {
      const std::int64_t begin = query * each * kNumbers - std::int64_t{number} * kLanes;
      const std::int64_t end = begin + each * kNumbers;
      if (begin < kLanes && end > 0) visit(query * stride * kNumbers - begin, begin, end);
    }
  }
};

// The places of kLanes samples.
struct alignas(kCacheLine) PlacedSamples {
  UnsignedVector counts;  // all bits or none
  // Offset of a corner's channels in those of a batch and head; -1: outside the map.
  std::int32_t offset[kCorners][kLanes];
  float corner_weight[kCorners][kLanes];
  float hy[kLanes], hx[kLanes], ly[kLanes], lx[kLanes];  // distances from the upper and lower corners
  float height[kLanes], width[kLanes];
  float weight[kLanes];  // of attention
};

// Every second number of two vectors.
template <int kOdd>
struct EverySecond {
  static constexpr int of(int k) { return 2 * k + kOdd; }
};

// Writes the places of the corners; keys are `stride` apart. A tensor has fewer than 2^31 elements.
inline void place_corners(const LaneLevels &levels, const Axis &down, const Axis &across, std::int64_t stride,
                          PlacedSamples &placed) {
  const UnsignedVector columns = reinterpret_cast<UnsignedVector>(load_some(levels.columns, kLanes));
  const UnsignedVector start = reinterpret_cast<UnsignedVector>(load_some(levels.start, kLanes));
  const UnsignedVector right = UnsignedVector{} + static_cast<std::uint32_t>(stride), below = columns * right;
  const UnsignedVector row = reinterpret_cast<UnsignedVector>(down.low);
  const UnsignedVector column = reinterpret_cast<UnsignedVector>(across.low);
  const UnsignedVector first = (start + row * columns + column) * right;
  const auto place = [&](int corner, UnsignedVector offset, IntVector inside) {
    const UnsignedVector beyond = ~(reinterpret_cast<UnsignedVector>(inside) & placed.counts);
    store(placed.offset[corner], reinterpret_cast<IntVector>(offset | beyond));
  };
  place(0, first, down.has_low & across.has_low);
  place(1, first + right, down.has_low & across.has_high);
  place(2, first + below, down.has_high & across.has_low);
  place(3, first + below + right, down.has_high & across.has_high);
}

// Places the samples of these lanes. `locations` has their x and y. Samples that do not count, and
// lanes behind the last sample, have no corner in the map and weight 0.
inline void place_samples(const LaneLevels &levels, const SampleLanes &lanes, const float *locations,
                          const float *weights, std::int64_t stride, PlacedSamples &placed) {
  lanes.prefetch_later<0>(locations, 2 * lanes.each, 2 * lanes.stride);
  lanes.prefetch_later<0>(weights, lanes.each, lanes.stride);
  const Vector front = lanes.load<2>(locations, 0), back = lanes.load<2>(locations, 1);
  const Vector width = load(levels.width), height = load(levels.height);
  const Vector x = pick<EverySecond<0>>(front, back, AllLanes()) * width - 0.5f;
  const Vector y = pick<EverySecond<1>>(front, back, AllLanes()) * height - 0.5f;
  // A NaN does not count.
  placed.counts = reinterpret_cast<UnsignedVector>((x > -1.0f) & (y > -1.0f) & (x < width) & (y < height)) &
                  window_bits(0, lanes.count());
  const Axis across(masked(x, placed.counts), levels.columns), down(masked(y, placed.counts), levels.rows);
  place_corners(levels, down, across, stride, placed);
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
  store(placed.weight, masked(lanes.load<1>(weights, 0), placed.counts));
}

constexpr std::int64_t kMostChannels = 64;  // processed together

// The channels of a corner outside the map.
alignas(kCacheLine) constexpr float kZeros[kMostChannels] = {};

// The channels of the corners of placed samples.
template <typename T>
struct CornerRows {
  T *row[kCorners][kLanes];

  // `plane` points to the channels of the first key, `beyond` to those for places outside the map.
  // In this form GCC uses vectors on every level.
  void find(const PlacedSamples &placed, T *plane, T *beyond) {
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(plane);
    const std::uintptr_t other = reinterpret_cast<std::uintptr_t>(beyond);
    for (int corner = 0; corner < kCorners; ++corner) {
      for (int i = 0; i < kLanes; ++i) {
        const std::int64_t offset = placed.offset[corner][i];
        const std::uintptr_t outside = offset < 0 ? ~std::uintptr_t{0} : 0;
        const std::uintptr_t inside = start + static_cast<std::uintptr_t>(offset) * sizeof(T);
        row[corner][i] = reinterpret_cast<T *>((other & outside) | (inside & ~outside));
      }
    }
  }
};

// Half a vector. Masks take longer, so this is for eight channels where a vector has sixteen lanes.
constexpr bool kHasHalf = kLanes == 16;
typedef float HalfVector __attribute__((vector_size(kLanes / 2 * sizeof(float))));

// As many channels as the vector has lanes.
template <typename V>
struct WholeVector {
  typedef V Channels;
  static V load(const float *from) {
    V channels;
    std::memcpy(&channels, from, sizeof channels);
    return channels;
  }
  static void store(float *to, V channels) { std::memcpy(to, &channels, sizeof channels); }
  static V used(V channels) { return channels; }
};

// The first `count` lanes of a vector.
struct PartOfVector {
  typedef Vector Channels;
  std::int64_t count;
  Vector load(const float *from) const { return load_some(from, count); }
  void store(float *to, Vector channels) const { store_some(to, channels, count); }
  Vector used(Vector channels) const { return masked(channels, window_bits(0, count)); }
};

// Calls visit(kind of vector, first channel) for the remaining channels, fewer than a vector holds.
template <typename Visit>
[[gnu::always_inline]] inline void visit_rest(std::int64_t channel, std::int64_t count, Visit visit) {
  if (channel == count) return;
  if constexpr (kHasHalf) {
    if (count - channel == kLanes / 2) return visit(WholeVector<HalfVector>(), channel);
  }
  visit(PartOfVector{count - channel}, channel);
}

// Whether a copy of a head's channels saves more time than it takes: in the tensors the keys of a
// head are often powers of two apart, so they share few sets of a cache.
inline bool copies_pay(const MsDeformAttnGeometry &g) {
  return g.heads > 1 && g.queries * g.levels * g.points >= 2 * g.keys;
}

// Copies the channels of all keys. False if the call is interrupted.
inline bool copy_keys(float *to, std::int64_t to_stride, const float *from, std::int64_t from_stride,
                      const MsDeformAttnGeometry &g, InterruptPoll &poll) {
  const std::int64_t keys = g.keys, channels = g.channels;
  for (std::int64_t key = 0; key < keys; ++key, to += to_stride, from += from_stride) {
    if (poll.interrupted(channels)) return false;
    constexpr std::int64_t kLater = 16;
    prefetch<0, 3, 1>(from, kLater * from_stride, channels);
    std::int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) store(to + c, load(from + c));
    visit_rest(c, channels, [&](auto some, std::int64_t at) { some.store(to + at, some.load(from + at)); });
  }
  return true;
}

// Returns the row of a query in the tensors. A plane is a batch and head.
inline std::int64_t row_of(const MsDeformAttnGeometry &g, std::int64_t plane, std::int64_t query) {
  return (plane / g.heads * g.queries + query) * g.heads + plane % g.heads;
}

// Returns the offset of the channels of a plane's first key.
inline std::int64_t start_of(const MsDeformAttnGeometry &g, std::int64_t plane) {
  return (plane / g.heads * g.keys * g.heads + plane % g.heads) * g.channels;
}

// Calls visit(plane, first query, behind the last query) for queries counted through all planes,
// until it returns false.
template <typename Visit>
inline void for_each_plane(const MsDeformAttnGeometry &g, std::int64_t begin, std::int64_t end, Visit visit) {
  while (begin < end) {
    const std::int64_t plane = begin / g.queries, first = begin % g.queries;
    const std::int64_t count = smaller(g.queries - first, end - begin);
    if (!visit(plane, first, first + count)) return;
    begin += count;
  }
}

// Approximate number of values for the samples of a query and head.
inline std::int64_t values_of_row(const MsDeformAttnGeometry &g) {
  return g.channels + g.levels * g.points * (8 + kCorners * g.channels);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_SAMPLES_H_
