// Distribute, backward: the masks from the map.
#ifndef MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_BACKWARD_H_
#define MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_BACKWARD_H_

#include <iterator>

#include "ops/psamask/cpu/map.h"
#include "ops/psamask/cpu/prefetcher.h"
#include "ops/psamask/cpu/write_combining_buffer.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Clears `count` rows of kVectors vectors, `stride` apart, as straight-line code.
template <int kVectors>
void clear_rows(float *to, std::int64_t stride, std::int64_t count, std::int64_t width) {
  for (std::int64_t i = 0; i < count; ++i, to += stride) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors - 1; ++v) store(to + v * kLanes, Vector{});
    store(to + width - kLanes, Vector{});
  }
}

typedef void ClearRows(float *, std::int64_t, std::int64_t, std::int64_t);

// For rows of 1, 2, ... vectors.
constexpr ClearRows *kClearRows[] = {clear_rows<1>,  clear_rows<2>,  clear_rows<3>,  clear_rows<4>,  clear_rows<5>,
                                     clear_rows<6>,  clear_rows<7>,  clear_rows<8>,  clear_rows<9>,  clear_rows<10>,
                                     clear_rows<11>, clear_rows<12>, clear_rows<13>, clear_rows<14>, clear_rows<15>,
                                     clear_rows<16>, clear_rows<17>, clear_rows<18>, clear_rows<19>, clear_rows<20>};

// The same part of consecutive lines of the map.
struct LineRuns {
  const float *map;
  std::int64_t from, stride, count, lines;

  std::int64_t left() const { return lines; }

  [[gnu::always_inline]] void prefetch_next() {
    prefetch<0, 2>(map, from, count);
    from += stride;
    --lines;
  }
};

// The masks of one row of positions, from the map of distribute.
struct DistributeBackward {
  DistributeBackward(const Map &map, const PsamaskBackwardProblem &of, bool nontemporal)
      : g(map),
        problem(of),
        direct(!nontemporal),
        prefetches(nontemporal || g.map_in_memory()),
        clears(clears_of(g.mask_w)) {}

  const Map &g;
  const PsamaskBackwardProblem &problem;
  const bool direct;        // rows are written directly into the result
  const bool prefetches;    // whether to prefetch the map
  ClearRows *const clears;  // for rows of cells; NULL if they are too short or too long

  static ClearRows *clears_of(std::int64_t width) {
    const bool fits = width >= kLanes && squares(width) <= static_cast<std::int64_t>(std::size(kClearRows));
    return fits ? kClearRows[squares(width) - 1] : nullptr;
  }

  static constexpr std::int64_t kBufferWidth = 256;

  std::int64_t tasks() const { return g.batches * g.height; }
  std::int64_t buffer_lines() const { return direct || g.mask_w > kBufferWidth ? 0 : smaller(kPositions, g.width); }

  // At least two rows of cells: shorter pieces share more cache lines.
  std::int64_t buffer_width() const { return larger(kBufferWidth, 2 * g.mask_w); }

  std::int64_t values() const { return g.width * g.cells; }

  // Positions of a block: enough that the part of a map line that is read outweighs the jump to the
  // next line.
  static constexpr std::int64_t kPositions = 64;

  // Neighbouring positions of row h, and the range of existing cells in each row of their masks.
  struct Positions {
    std::int64_t h, w, count;
    Range columns[kPositions];
    std::int64_t before[kPositions];
    std::int64_t past[kPositions];
  };

  void run(const WriteCombiningBuffer &buffer, std::int64_t task) const {
    const std::int64_t batch = task / g.height, h = task % g.height;
    for (Tiles<kPositions> w(Range{0, g.width}); w.more(); w.next()) {
      if (w.at() > 0 && interrupted()) return;
      Positions positions;
      positions.h = h;
      positions.w = w.at();
      positions.count = smaller(kPositions, g.width - w.at());
      for (std::int64_t j = 0; j < positions.count; ++j) {
        positions.columns[j] = g.columns_reached(w.at() + j);
        positions.before[j] = positions.columns[j].begin - (w.at() + j) + g.left;
        positions.past[j] = positions.columns[j].end - (w.at() + j) + g.left;
      }
      masks(buffer, positions, problem.mask + ((batch * g.height + h) * g.width + w.at()) * g.cells,
            problem.map + batch * g.area * g.area + h * g.width + w.at());
    }
    buffer.finish();
  }

  // Rows of cells through write-combining buffers, or directly for wider rows.
  void masks(const WriteCombiningBuffer &buffer, const Positions &positions, float *mask, const float *map) const {
    InterruptPoll poll;
    const std::int64_t work = positions.count * larger(g.mask_w, g.width);
    if (g.mask_w > kBufferWidth) {
      for (std::int64_t i = 0; i < g.mask_h && !poll.interrupted(work); ++i)
        wide_row(mask + i * g.mask_w, lines_of(map, positions.h, i), positions);
      return;
    }
    const std::int64_t rows_at_once = direct ? 1 : buffer_width() / g.mask_w;
    if (!direct) buffer.start(0, mask, g.cells, positions.count);
    for (Range rows{0, rows_at_once}; rows.begin < g.mask_h; rows = Range{rows.end, rows.end + rows_at_once}) {
      rows.end = smaller(rows.end, g.mask_h);
      if (poll.interrupted(rows.count() * work)) return;
      Prefetcher<LineRuns> prefetcher(lines_of(map, positions, Range{rows.end, rows.end + rows_at_once}));
      const std::int64_t steps =
          lines_of(map, positions, rows).left() / g.width * squares(g.width) * squares(positions.count);
      if (prefetches && steps > 0) prefetcher.schedule(direct ? prefetcher.left() : prefetcher.left() / 2, steps);
      if (direct) {
        // The next row overwrites the values that this row writes past its end.
        const bool may_overrun = (g.mask_h - rows.end) * g.mask_w >= kLanes;
        fill_row(WriteCombiningBuffer::view(mask + rows.begin * g.mask_w, g.cells), 0, map, rows.begin, positions,
                 may_overrun, prefetcher);
        continue;
      }
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        fill_row(buffer, (i - rows.begin) * g.mask_w, map, i, positions, true, prefetcher);
      }
      if (prefetches) prefetcher.schedule(prefetcher.left(), positions.count);
      for (std::int64_t j = 0; j < positions.count; ++j) {
        prefetcher.step();
        buffer.write(j, mask + j * g.cells + rows.begin * g.mask_w, rows.count() * g.mask_w, rows.end == g.mask_h);
      }
    }
  }

  // Lines of the targets of mask row i at height h; NULL outside the map.
  const float *lines_of(const float *map, std::int64_t h, std::int64_t i) const {
    const std::int64_t row = h + i - g.up;
    return row >= 0 && row < g.height ? map + row * g.width * g.area : nullptr;
  }

  // Lines of the map that are the source of these mask rows of these positions.
  LineRuns lines_of(const float *map, const Positions &positions, const Range &rows) const {
    const std::int64_t begin = larger<std::int64_t>(rows.begin + positions.h - g.up, 0);
    const std::int64_t end = smaller(rows.end + positions.h - g.up, g.height);
    return LineRuns{map, begin * g.width * g.area, g.area, positions.count,
                    larger<std::int64_t>(end - begin, 0) * g.width};
  }

  // Row i of the cells of each position, at `at` of its line: zeros first, then values over them.
  void fill_row(const WriteCombiningBuffer &shared, std::int64_t at, const float *map, std::int64_t i,
                const Positions &positions, bool may_overrun, Prefetcher<LineRuns> &shared_prefetcher) const {
    const WriteCombiningBuffer buffer = shared;  // a local copy, because vector stores may alias the original
    const float *lines = lines_of(map, positions.h, i);
    if (clears != nullptr) {
      clears(buffer.line(0) + at, buffer.stride(), positions.count, g.mask_w);
    } else {
      for (std::int64_t j = 0; j < positions.count; ++j) clear(buffer.line(j) + at, g.mask_w, may_overrun);
    }
    if (lines == nullptr) return;
    Prefetcher<LineRuns> prefetcher = shared_prefetcher;
    for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) {
      for (std::int64_t first = 0; first < positions.count; first += kLanes) {
        prefetcher.step();
        const std::int64_t here = smaller<std::int64_t>(kLanes, positions.count - first);
        Vector square[kLanes];
        load_targets(square, lines + first, target.at(), here);
        float *to = buffer.line(first) + at + target.at() - (positions.w + first) + g.left;
        if (here == kLanes && positions.columns[first + kLanes - 1].begin <= target.at() &&
            positions.columns[first].end >= target.at() + kLanes) {
          store_square(to, buffer.stride() - 1, square);
          continue;
        }
        // A copy in memory for variable indices, so that `square` itself stays in registers.
        Vector edge[kLanes];
        for (std::int64_t j = 0; j < kLanes; ++j) edge[j] = square[j];
        for (std::int64_t j = 0; j < here; ++j) {
          const Range &columns = positions.columns[first + j];
          store_window(to + j * (buffer.stride() - 1), edge[j], columns.begin - target.at(), columns.end - target.at());
        }
      }
    }
    shared_prefetcher = prefetcher;
  }

  static void clear(float *to, std::int64_t count, bool may_overrun) {
    if (may_overrun) {
      clear_floats_may_overrun(to, count);
    } else {
      clear_floats(to, count);
    }
  }

  // The same, directly into the masks in memory.
  void wide_row(float *mask, const float *map, const Positions &positions) const {
    InterruptPoll poll;
    for (std::int64_t j = 0; j < positions.count && !poll.interrupted(g.mask_w); ++j) {
      clear_floats_interruptible(mask + j * g.cells, map != nullptr ? positions.before[j] : g.mask_w);
      if (map != nullptr)
        clear_floats_interruptible(mask + j * g.cells + positions.past[j], g.mask_w - positions.past[j]);
    }
    for (Tiles<> target(Range{0, g.width}); map != nullptr && target.more(); target.next()) {
      if (poll.interrupted(positions.count * kLanes)) return;
      for_squares(map, target.at(), positions.count, [&](std::int64_t j, Vector values) {
        const Range &columns = positions.columns[j];
        store_window(mask + j * g.cells + target.at() - (positions.w + j) + g.left, values, columns.begin - target.at(),
                     columns.end - target.at());
      });
    }
  }

  // Calls use(j, values) for `count` positions with their values for kLanes targets from `target`
  // on.
  template <typename Use>
  void for_squares(const float *map, std::int64_t target, std::int64_t count, const Use &use) const {
    for (std::int64_t first = 0; first < count; first += kLanes) {
      const std::int64_t here = smaller<std::int64_t>(kLanes, count - first);
      Vector square[kLanes];
      load_targets(square, map + first, target, here);
      for (std::int64_t j = 0; j < here; ++j) use(first + j, square[j]);
    }
  }

  // kLanes targets from `target` on, transposed: one vector over the targets per position.
  void load_targets(Vector (&square)[kLanes], const float *map, std::int64_t target, std::int64_t count) const {
    if (target + kLanes <= g.width && count == kLanes) {
      load_square(square, map + target * g.area, g.area);
    } else {
      for (std::int64_t i = 0; i < kLanes; ++i) {
        square[i] = target + i < g.width ? load_window(map + (target + i) * g.area, 0, count) : Vector{};
      }
    }
    transpose(square);
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_BACKWARD_H_
