// The pairs of a rulebook: looking at all of them before anything is written, and sorting them by the block of rows that owns their
// target.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_

#include "cpu/kernel.h"
#include "ops/indice_convolution/cpu_workspace.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Reads the pairs of a cell and tells which of them name rows that exist.
class PairReader {
 public:
  // `rows` of side 0 and side 1.
  PairReader(const Rulebook &rulebook, std::int64_t cell, const std::int64_t (&rows)[2])
      : first_(rulebook.pairs + cell * 2 * rulebook.length),
        second_(first_ + rulebook.length),
        rows_{static_cast<std::uint32_t>(rows[0]), static_cast<std::uint32_t>(rows[1])} {}

  // Whether both rows exist; `pair` has one for each side.
  bool read(std::int64_t number, std::int32_t (&pair)[2]) const {
    pair[0] = read_once(first_ + number);
    pair[1] = read_once(second_ + number);
    return exists(pair, 0) && exists(pair, 1);
  }

  bool exists(const std::int32_t (&pair)[2], int side) const {
    return static_cast<std::uint32_t>(pair[side]) < rows_[side];
  }

 private:
  const std::int32_t *first_;
  const std::int32_t *second_;
  const std::uint32_t rows_[2];
};

// Calls body(pair) for pairs begin .. end of a segment until one of them is wrong, which becomes the segment's fault.
template <typename Body>
inline void read_pairs(const PairReader &reader, std::int64_t begin, std::int64_t end, PairSegment &segment,
                       const Body &body) {
  for (std::int64_t l = begin; l < end; ++l) {
    std::int32_t pair[2];
    if (!reader.read(l, pair)) {
      const int side = reader.exists(pair, 0) ? 1 : 0;
      segment.fault = PairFault{segment.cell, side, l, pair[side]};
      return;
    }
    body(pair);
  }
}

// The fault of the first segment that has one. Segments are in the order of cells and numbers.
inline PairFault first_fault(const PairSegment *segments, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (segments[i].fault.cell >= 0) return segments[i].fault;
  }
  return PairFault();
}

class PairSort {
 public:
  PairSort(const IndiceProductProblem &problem, const ProductPlan &plan)
      : problem_(problem), plan_(plan), target_side_(1 - problem.source_side) {
    rows_[problem.source_side] = problem.source_rows;
    rows_[target_side_] = problem.target_rows;
  }

  // Finds a fault, or sorts. Nothing but the workspace is written.
  PairFault run() const {
    cut_segments(problem_.rulebook, plan_.segment_length, plan_.segment);
    const std::int64_t slots = useful_slots(plan_.segments, plan_.segment_length);
    parallel_slots(plan_.segments, slots, [&](std::int64_t, std::int64_t number) {
      if (!interrupted()) count(number);
    });
    if (interrupted()) return PairFault();
    const PairFault fault = first_fault(plan_.segment, plan_.segments);
    if (fault.cell >= 0) return fault;
    place_segments();
    parallel_slots(plan_.segments, slots, [&](std::int64_t, std::int64_t number) {
      if (!interrupted()) scatter(number);
    });
    return fault;
  }

 private:
  void count(std::int64_t number) const {
    std::int32_t *counts = plan_.counts + number * plan_.blocks;
    std::memset(counts, 0, static_cast<std::size_t>(plan_.blocks) * sizeof *counts);
    PairSegment &segment = plan_.segment[number];
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    // Most pairs follow one of the same block: they are counted in a register, since additions in memory wait for one another.
    std::int64_t block = 0;
    std::int32_t run = 0;
    read_pairs(reader, segment.begin, segment.end, segment, [&](const std::int32_t (&pair)[2]) {
      const std::int64_t other = pair[target_side_] >> plan_.block_shift;
      if (other != block) {
        counts[block] += run;
        block = other;
        run = 0;
      }
      ++run;
    });
    counts[block] += run;
  }

  void place_segments() const {
    const std::int64_t cells = problem_.rulebook.cells;
    std::int64_t next = 0;
    for (std::int64_t block = 0; block < plan_.blocks; ++block) {
      std::int64_t number = 0;
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        plan_.starts[block * cells + cell] = next;
        for (; number < plan_.segments && plan_.segment[number].cell == cell; ++number) {
          plan_.places[number * plan_.blocks + block] = next;
          next += plan_.counts[number * plan_.blocks + block];
        }
      }
    }
    plan_.starts[plan_.blocks * cells] = next;
  }

  // The pairs may have changed since they were counted: places that are left are marked, and pairs without a place are left out.
  void scatter(std::int64_t number) const {
    const PairSegment &segment = plan_.segment[number];
    std::int32_t *left = plan_.counts + number * plan_.blocks;
    std::int64_t *next = plan_.places + number * plan_.blocks;
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    const int source_side = problem_.source_side, target_side = target_side_;
    const std::int64_t shift = plan_.block_shift;
    // What is left of the last pair's block, and the place of its next pair, stay in registers.
    std::int64_t block = 0;
    std::int32_t room = left[0];
    RowPair *to = plan_.sorted + next[0];
    for (std::int64_t l = segment.begin; l < segment.end; ++l) {
      std::int32_t pair[2];
      if (!reader.read(l, pair)) continue;
      const std::int32_t source = pair[source_side], target = pair[target_side];
      if (target >> shift != block) {
        next[block] = to - plan_.sorted;
        left[block] = room;
        block = target >> shift;
        to = plan_.sorted + next[block];
        room = left[block];
      }
      if (room == 0) continue;
      --room;
      *to++ = RowPair{source, target};
    }
    next[block] = to - plan_.sorted;
    left[block] = room;
    for (std::int64_t b = 0; b < plan_.blocks; ++b) {
      for (; left[b] > 0; --left[b]) plan_.sorted[next[b]++] = RowPair{-1, 0};
    }
  }

  const IndiceProductProblem &problem_;
  const ProductPlan &plan_;
  const int target_side_;
  std::int64_t rows_[2];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_
