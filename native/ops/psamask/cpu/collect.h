// Collect: lines of the result from contiguous runs and zeros, in memory order.
#ifndef MLUOPS_OPS_PSAMASK_CPU_COLLECT_H_
#define MLUOPS_OPS_PSAMASK_CPU_COLLECT_H_

#include "cpu/nontemporal.h"
#include "ops/psamask/cpu/map.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Iterates over positions, across batches.
struct Position {
  Position(const Map &g, std::int64_t index) : index(index), h(index / g.width % g.height), w(index % g.width) {}

  void next(const Map &g) {
    ++index;
    if (++w < g.width) return;
    w = 0;
    if (++h == g.height) h = 0;
  }

  std::int64_t index, h, w;
};

// A line of the result of collect as rows: a window of values with zeros around it.
struct Line {
  std::int64_t height, width;
  Range rows, columns;  // of the window
  const float *values;  // of its first row
  std::int64_t stride;  // from row to row of them
};

// Lines of the map, each from one position's mask.
struct CollectForward {
  const Map &g;
  const PsamaskForwardProblem &problem;

  std::int64_t line_size() const { return g.area; }
  std::int64_t line_width() const { return g.width; }
  float *result() const { return problem.map; }
  const float *values() const { return problem.mask; }
  std::int64_t values_count() const { return g.batches * g.area * g.cells; }

  // Prefetch distance in values: the same row of a later mask, about 200 cache lines ahead. Longer
  // distances evict lines before their use.
  std::int64_t prefetch_distance() const {
    constexpr std::int64_t kLines = 200, kMostPositions = 3;
    const std::int64_t lines = smaller(g.height, g.mask_h) * (smaller(g.width, g.mask_w) / kFloatsPerLine + 1);
    return smaller((kLines - 1) / lines + 1, kMostPositions) * (g.cells - 1);
  }

  Line line(const Position &at) const {
    const Range rows = g.rows_reached(at.h), columns = g.columns_reached(at.w);
    const float *mask = problem.mask + at.index * g.cells;
    const float *values = mask + (rows.begin - at.h + g.up) * g.mask_w + columns.begin - at.w + g.left;
    return Line{g.height, g.width, rows, columns, values, g.mask_w};
  }
};

// Masks, each from one position's line of the map.
struct CollectBackward {
  const Map &g;
  const PsamaskBackwardProblem &problem;

  std::int64_t line_size() const { return g.cells; }
  std::int64_t line_width() const { return g.mask_w; }
  float *result() const { return problem.mask; }
  const float *values() const { return problem.map; }
  std::int64_t values_count() const { return g.batches * g.area * g.area; }

  Line line(const Position &at) const {
    const Range rows = g.rows_reached(at.h), columns = g.columns_reached(at.w);
    const float *values = problem.map + at.index * g.area + rows.begin * g.width + columns.begin;
    return Line{g.mask_h, g.mask_w, rows.moved(g.up - at.h), columns.moved(g.left - at.w), values, g.width};
  }
};

// Rows of a few vectors, values and zeros together, as straight-line code, so that many loads are
// in flight. Values beside the window exist in memory; they are masked to zero. The last vector of
// a row may overlap the one before it.
template <int kVectors, bool kPrefetch>
void write_short_rows(const Line line, std::int64_t distance, float *to) {
  const std::int64_t last = line.width - kLanes;
  UnsignedVector inside[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t at = v < kVectors - 1 ? v * kLanes : last;
    inside[v] = window_bits(line.columns.begin - at, line.columns.end - at);
  }
  const float *from = line.values - line.columns.begin;
  for (std::int64_t row = line.rows.begin; row < line.rows.end; ++row, from += line.stride, to += line.width) {
    if (kPrefetch) prefetch<0, 2>(from + line.columns.begin, distance, line.columns.count());
#pragma GCC unroll 8
    for (int v = 0; v < kVectors - 1; ++v) store(to + v * kLanes, masked(load(from + v * kLanes), inside[v]));
    store(to + last, masked(load(from + last), inside[kVectors - 1]));
  }
}

constexpr int kShortRow = 8;  // vectors

// 0 for collections that do not prefetch.
template <bool kPrefetch, typename Collect>
std::int64_t prefetch_distance(const Collect &collect) {
  if constexpr (kPrefetch) {
    return collect.prefetch_distance();
  } else {
    return 0;
  }
}

// Interruptible, since a mask may be much larger than the map and mostly zeros.
template <typename Sink>
[[gnu::always_inline]] inline void write_zeros(std::int64_t count, Sink *sink) {
  constexpr std::int64_t kMost = 1 << 20;
  for (; count > kMost && !interrupted(); count -= kMost) sink->zeros(kMost);
  if (count <= kMost) sink->zeros(count);
}

template <typename Sink, bool kPrefetch>
[[gnu::always_inline]] inline void write_line(const Line &line, std::int64_t distance, Sink *sink) {
  write_zeros(line.rows.begin * line.width, sink);
  const float *run = line.values;
  for (std::int64_t row = line.rows.begin; row < line.rows.end; ++row, run += line.stride) {
    if (kPrefetch) prefetch<0, 2>(run, distance, line.columns.count());
    write_zeros(line.columns.begin, sink);
    sink->values(run, line.columns.count());
    write_zeros(line.width - line.columns.end, sink);
  }
  write_zeros((line.height - line.rows.end) * line.width, sink);
}

// Lines written with non-temporal stores.
template <bool kPrefetch, typename Collect>
[[gnu::flatten]] void collect_nontemporal(const Collect &collect, std::int64_t begin, std::int64_t end) {
  NontemporalSink sink(collect.result() + begin * collect.line_size());
  const std::int64_t distance = prefetch_distance<kPrefetch>(collect);
  InterruptPoll poll;
  for (Position at(collect.g, begin); at.index < end && !poll.interrupted(collect.line_size()); at.next(collect.g)) {
    write_line<NontemporalSink, kPrefetch>(collect.line(at), distance, &sink);
  }
  sink.finish();
}

// Lines written with ordinary stores. Their rows have kVectors vectors, or any length if that is 0.
template <int kVectors, bool kPrefetch, typename Collect>
[[gnu::flatten]] void write_lines(const Collect &collect, std::int64_t begin, std::int64_t end) {
  const float *const values = collect.values(), *const values_end = values + collect.values_count();
  const std::int64_t distance = prefetch_distance<kPrefetch>(collect);
  InterruptPoll poll;
  for (Position at(collect.g, begin); at.index < end && !poll.interrupted(collect.line_size()); at.next(collect.g)) {
    const Line line = collect.line(at);
    float *const to = collect.result() + at.index * collect.line_size();
    const float *const first = line.values - line.columns.begin;
    const float *const behind = first + (line.rows.count() - 1) * line.stride + line.width;
    if constexpr (kVectors > 0) {
      if (first >= values && behind <= values_end) {
        clear_floats_interruptible(to, line.rows.begin * line.width);
        write_short_rows<kVectors, kPrefetch>(line, distance, to + line.rows.begin * line.width);
        clear_floats_interruptible(to + line.rows.end * line.width, (line.height - line.rows.end) * line.width);
        continue;
      }
    }
    CachedSink sink(to);
    write_line<CachedSink, kPrefetch>(line, distance, &sink);
  }
}

template <bool kPrefetch, int kVectors = kShortRow, typename Collect>
void collect_cached(const Collect &collect, std::int64_t begin, std::int64_t end) {
  const std::int64_t vectors = collect.line_width() < kLanes ? 0 : squares(collect.line_width());
  if constexpr (kVectors > 0) {
    if (vectors < kVectors) return collect_cached<kPrefetch, kVectors - 1>(collect, begin, end);
    if (vectors == kVectors) return write_lines<kVectors, kPrefetch>(collect, begin, end);
  }
  write_lines<0, kPrefetch>(collect, begin, end);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_COLLECT_H_
