// The pairs of each block of target rows, which one task owns.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_BLOCK_PAIRS_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_BLOCK_PAIRS_H_

#include "ops/indice_convolution/cpu/rulebook.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Sorts pairs by the block of their target, then by cell and number.
class PairSort {
 public:
  PairSort(const IndiceProductProblem &problem, const ProductPlan &plan)
      : problem_(problem), plan_(plan), target_side_(1 - problem.source_side) {
    rows_[problem.source_side] = problem.source_rows;
    rows_[target_side_] = problem.target_rows;
  }

  // Finds a fault, or sorts. Nothing but the workspace is written.
  PairFault run() const {
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
    // Most pairs follow one of the same block: they are counted in a register, since additions in
    // memory wait for one another.
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

  // The pairs may have changed since they were counted: places without a pair are marked, and pairs
  // without a place are left out.
  void scatter(std::int64_t number) const {
    const PairSegment &segment = plan_.segment[number];
    std::int32_t *left = plan_.counts + number * plan_.blocks;
    std::int64_t *next = plan_.places + number * plan_.blocks;
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    const int source_side = problem_.source_side, target_side = target_side_;
    const std::int64_t shift = plan_.block_shift;
    std::int32_t *const sources = plan_.sorted_sources, *const targets = plan_.sorted_targets;
    // The remaining pairs of the last pair's block, and the place of its next pair, stay in
    // registers.
    std::int64_t block = 0;
    std::int32_t room = left[0];
    std::int64_t to = next[0];
    for (std::int64_t l = segment.begin; l < segment.end; ++l) {
      std::int32_t pair[2];
      if (!reader.read(l, pair)) continue;
      const std::int32_t source = pair[source_side], target = pair[target_side];
      if (target >> shift != block) {
        next[block] = to;
        left[block] = room;
        block = target >> shift;
        to = next[block];
        room = left[block];
      }
      if (room == 0) continue;
      --room;
      sources[to] = source;
      targets[to++] = target;
    }
    next[block] = to;
    left[block] = room;
    for (std::int64_t b = 0; b < plan_.blocks; ++b) {
      for (; left[b] > 0; --left[b]) sources[next[b]++] = -1;
    }
  }

  const IndiceProductProblem &problem_;
  const ProductPlan &plan_;
  const int target_side_;
  std::int64_t rows_[2];
};

// Some pairs of a cell.
struct PairRange {
  const std::int32_t *sources;
  const std::int32_t *targets;
  std::int64_t count;
};

// The pairs of a block and a cell. Where the targets of each cell ascend, as behind sorted voxels,
// they are ranges of the rulebook; else all pairs are sorted.
class BlockPairs {
 public:
  BlockPairs(const IndiceProductProblem &problem, const ProductPlan &plan) : problem_(problem), plan_(plan) {}

  // Finds a fault, or the ranges. Nothing but the workspace is written.
  PairFault find() {
    cut_segments(problem_.rulebook, plan_.segment_length, plan_.segment);
    ascending_ = ascend();
    if (interrupted()) return PairFault();
    if (!ascending_) return PairSort(problem_, plan_).run();
    cut_cells();
    return PairFault();
  }

  // Whether the targets of a range differ, unless pairs have changed since.
  bool ascending() const { return ascending_; }

  // Pairs of the rulebook may have changed: users must check again that rows exist and lie in the
  // block.
  PairRange of(std::int64_t block, std::int64_t cell) const {
    const std::int64_t cells = problem_.rulebook.cells;
    const std::int64_t *start = plan_.starts + block * cells + cell;
    if (ascending_) return {sources_of(cell) + start[0], targets_of(cell) + start[0], start[cells] - start[0]};
    return {plan_.sorted_sources + start[0], plan_.sorted_targets + start[0], start[1] - start[0]};
  }

 private:
  const std::int32_t *side_of(std::int64_t cell, int side) const {
    return problem_.rulebook.pairs + (2 * cell + side) * problem_.rulebook.length;
  }
  const std::int32_t *sources_of(std::int64_t cell) const { return side_of(cell, problem_.source_side); }
  const std::int32_t *targets_of(std::int64_t cell) const { return side_of(cell, 1 - problem_.source_side); }

  bool ascend() const {
    int found = 1;
    parallel_slots(plan_.segments, useful_slots(plan_.segments, plan_.segment_length),
                   [&](std::int64_t, std::int64_t number) {
                     if (__atomic_load_n(&found, __ATOMIC_RELAXED) == 0 || interrupted()) return;
                     if (!ascends(plan_.segment[number])) __atomic_store_n(&found, 0, __ATOMIC_RELAXED);
                   });
    return found != 0;
  }

  // Whether the rows of a segment exist, and its targets ascend, from the one before it on. Loops
  // without branches become vectors.
  bool ascends(const PairSegment &segment) const {
    constexpr std::int64_t kPiece = 1024;
    const std::int32_t *const sources = sources_of(segment.cell), *const targets = targets_of(segment.cell);
    const std::uint32_t source_rows = static_cast<std::uint32_t>(problem_.source_rows);
    std::int32_t last = segment.begin > 0 ? targets[segment.begin - 1] : -1;
    for (std::int64_t begin = segment.begin; begin < segment.end; begin += kPiece) {
      const std::int64_t end = smaller(begin + kPiece, segment.end);
      std::uint32_t wrong = targets[begin] <= last;
      for (std::int64_t l = begin; l < end; ++l) wrong |= static_cast<std::uint32_t>(sources[l]) >= source_rows;
      for (std::int64_t l = begin + 1; l < end; ++l) wrong |= targets[l] <= targets[l - 1];
      last = targets[end - 1];
      if (wrong != 0 || last >= problem_.target_rows) return false;
    }
    return true;
  }

  // Finds where the targets of each block begin.
  void cut_cells() const {
    const std::int64_t cells = problem_.rulebook.cells;
    constexpr std::int64_t kBlocksPerPiece = 1 << 10;
    auto cut = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t cell = begin; cell < end; ++cell) {
        const std::int32_t *targets = targets_of(cell);
        const std::int64_t count = problem_.rulebook.counts[cell];
        std::int64_t start = 0;
        for (std::int64_t block = 0; block <= plan_.blocks && !poll.interrupted(kHalvings); ++block) {
          start += count_below(targets + start, count - start, block << plan_.block_shift);
          plan_.starts[block * cells + cell] = start;
        }
      }
    };
    parallel_for(cells, kBlocksPerPiece / plan_.blocks + 1, cut);
  }

  // Returns the number of values below a bound among `count` ascending numbers.
  static std::int64_t count_below(const std::int32_t *numbers, std::int64_t count, std::int64_t bound) {
    const std::int32_t *from = numbers;
    for (; count > 1; count -= count / 2) from += from[count / 2 - 1] < bound ? count / 2 : 0;
    return from - numbers + (count == 1 && *from < bound ? 1 : 0);
  }

  static constexpr std::int64_t kHalvings = 32;  // enough to reduce a count to 1

  const IndiceProductProblem &problem_;
  const ProductPlan &plan_;
  bool ascending_ = false;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_BLOCK_PAIRS_H_
