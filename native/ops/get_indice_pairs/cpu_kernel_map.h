// What rows of GetIndicePairs meet in default mode on the CPU: output cells, each through one filter cell.
//
// Along each axis a row reaches now one output and now two, as the stride has it: no branch could foresee that. But the rows that one
// filter cell sends to outputs are all of one kind, by the groups that their coordinates belong to. So rows are put with others of their
// kind, which needs no branch, and then gone through once for each filter cell of the kind: runs of rows and of cells, in the order of
// the rows.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_KERNEL_MAP_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_KERNEL_MAP_H_

#include "cpu/vector.h"
#include "ops/get_indice_pairs/cpu_grid_axes.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Rows that each of `times` filter cells sends to outputs: row rows[i] by cell filter_cell(t) to cell(i, t) of the output space.
struct KernelMapRun {
  const std::int32_t *rows;
  const std::uint64_t *cells;
  std::int64_t count;
  std::int64_t first_filter_cell, filter_step;
  std::uint64_t below, output_step;
  std::int64_t times;

  std::int64_t filter_cell(std::int64_t t) const { return first_filter_cell + t * filter_step; }
  std::uint64_t cell(std::int64_t i, std::int64_t t) const {
    return cells[i] - below - static_cast<std::uint64_t>(t) * output_step;
  }
};

// Puts rows into blocks by their kind. Blocks of a kind, one behind another, have its rows in their order.
class RowBlocks {
 public:
  RowBlocks(const GridAxes &axes, std::int64_t kinds, RowBlock *blocks) : axes_(axes), blocks_(blocks) {
    for (std::int64_t kind = 0; kind < kinds; ++kind) open(kind);
  }

  void add(const Row &row, std::int32_t number) {
    const GridAxis::Entry &depth = axes_.depth(row), &height = axes_.height(row), &width = axes_.width(row);
    const std::uint64_t kind_and_reached = depth.kind_and_reached + height.kind_and_reached + width.kind_and_reached;
    const std::uint64_t kind = kind_and_reached >> GridAxis::kKindBit;
    RowBlock &block = *open_[kind];
    const std::int32_t place = block.count++;
    block.cells[place] = axes_.batch(row) + depth.output + height.output + width.output;
    block.rows[place] = number;
    block.reached[place] = static_cast<std::uint32_t>(kind_and_reached);
    if (place == RowBlock::kCapacity - 1) open(static_cast<std::int64_t>(kind));
  }

  std::int64_t count() const { return count_; }

 private:
  void open(std::int64_t kind) {
    RowBlock &block = blocks_[count_++];
    // It is written in a few places at a time, too many for the hardware to foresee.
    prefetch<1>(reinterpret_cast<const std::uint64_t *>(&block), 0, sizeof block / sizeof(std::uint64_t));
    block.count = 0;
    block.kind = static_cast<std::int32_t>(kind);
    open_[kind] = &block;
  }

  const GridAxes &axes_;
  RowBlock *const blocks_;
  std::int64_t count_ = 0;
  RowBlock *open_[kMostKinds];
};

// Calls visit(run) for those rows of a block whose output by the one filter cell of `run` lies in the space, which has these bits.
template <typename Visit>
void visit_reached(const RowBlock &block, std::uint32_t bits, KernelMapRun run, const Visit &visit) {
  std::int32_t rows[RowBlock::kCapacity];
  std::uint64_t cells[RowBlock::kCapacity];
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < block.count; ++i) {
    rows[count] = block.rows[i];
    cells[count] = block.cells[i];
    count += (block.reached[i] & bits) == bits;
  }
  run.rows = rows;
  run.cells = cells;
  run.count = count;
  visit(run);
}

// Calls visit(run) for the filter cells of the kind of a block, for those together that differ in width only if all their outputs lie
// in the space, as they nearly always do.
template <typename Visit>
void for_runs(const GridAxes &axes, const RowBlock &block, const Visit &visit) {
  const GridAxis &depths = axes[kDepth], &heights = axes[kHeight], &widths = axes[kWidth];
  const std::int64_t depth = block.kind / depths.kind_scale, height = block.kind / heights.kind_scale % heights.groups,
                     width = block.kind % widths.groups, times = widths.in_group(width);
  const std::int64_t first = depth * depths.filter_scale + height * heights.filter_scale + width;
  std::uint32_t reached = ~std::uint32_t{0};
  for (std::int64_t i = 0; i < block.count; ++i) reached &= block.reached[i];
  for (std::int64_t d = 0; d < depths.in_group(depth); ++d) {
    for (std::int64_t h = 0; h < heights.in_group(height); ++h) {
      const std::uint32_t bits = depths.bit(d) | heights.bit(h), all = bits | widths.bits(times);
      KernelMapRun run{block.rows,         block.cells,
                       block.count,        first + depths.further(d) + heights.further(h),
                       widths.stride,      depths.below(d) + heights.below(h),
                       widths.output_step, times};
      if ((reached & all) == all) {
        visit(run);
        continue;
      }
      run.times = 1;
      for (std::int64_t w = 0; w < times; ++w) {
        const std::uint32_t one = bits | widths.bit(w);
        if ((reached & one) == one) {
          visit(run);
        } else {
          visit_reached(block, one, run, visit);
        }
        run.first_filter_cell += run.filter_step;
        run.below += run.output_step;
      }
    }
  }
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_KERNEL_MAP_H_
