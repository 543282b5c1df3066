// The kernel map of GetIndicePairs in default mode on the CPU: entries (input row, filter cell,
// output cell).
//
// With a stride, a row reaches one or two outputs along each axis, which no branch predictor can
// foresee. But all rows that one filter cell sends to outputs are of one kind: the groups that
// their coordinates belong to. So rows are first collected into blocks of one kind, without
// branches. Each block is then processed once per filter cell of the kind, which gives runs of rows
// and output cells in row order.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_KERNEL_MAP_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_KERNEL_MAP_H_

#include "cpu/vector.h"
#include "ops/get_indice_pairs/cpu/grid_axes.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Entries of `times` filter cells: row rows[i] is sent by cell filter_cell(t) to cell(i, t) of the
// output space.
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

// Collects rows into blocks by kind. The blocks of a kind keep the order of the rows.
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
    // Hardware prefetchers cannot follow writes to this many blocks.
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

// Calls visit(run) for the rows of a block whose output by the run's only filter cell is inside the
// space; `bits` are those of that cell.
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

// Calls visit(run) for the filter cells of a block's kind. Cells that differ only in width form one
// run if all their outputs are inside the space, the usual case.
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
