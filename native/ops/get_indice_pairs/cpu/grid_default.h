// GetIndicePairs on the CPU, default mode, for rows that are dense enough in their space: the
// outputs are marked in a bitmap of the output space, whose ranks are the output rows.
//
// The outputs of a row depend on its place alone, so pairs are counted while outputs are marked,
// and later written to their final places.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_

#include "ops/get_indice_pairs/cpu/kernel_map.h"
#include "ops/get_indice_pairs/cpu/pair_lists.h"
#include "ops/get_indice_pairs/cpu/ranked_bitmap.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Writes the output rows of cells in ascending order.
class OutputWriter {
 public:
  OutputWriter(const SparseGeometry &geometry, std::int32_t *out_indices)
      : g_(geometry), rows_(reinterpret_cast<Row *>(out_indices)) {}

  void operator()(std::uint64_t cell, std::uint64_t rank) {
    if (cell >= line_end_) enter_line(cell);
    place_.width = static_cast<std::int32_t>(cell - line_begin_);
    rows_[rank] = place_;
  }

 private:
  void enter_line(std::uint64_t cell) {
    const std::uint64_t width = static_cast<std::uint64_t>(g_.output_space[kWidth]);
    const std::uint64_t height = static_cast<std::uint64_t>(g_.output_space[kHeight]);
    const std::uint64_t depth = static_cast<std::uint64_t>(g_.output_space[kDepth]);
    const std::uint64_t line = cell / width;
    line_begin_ = line * width;
    line_end_ = line_begin_ + width;
    place_.height = static_cast<std::int32_t>(line % height);
    place_.depth = static_cast<std::int32_t>(line / height % depth);
    place_.batch = static_cast<std::int32_t>(line / height / depth);
  }

  const SparseGeometry &g_;
  Row *rows_;
  std::uint64_t line_begin_ = 0, line_end_ = 0;
  Row place_ = {};
};

class DefaultGrid {
 public:
  DefaultGrid(const GetIndicePairsProblem &problem, const GridWorkspace &parts)
      : problem_(problem),
        along_{Axis(problem.geometry, kDepth), Axis(problem.geometry, kHeight), Axis(problem.geometry, kWidth)},
        axes_(problem.geometry,
              parts.kinds > 0 ? part<GridAxis::Entry>(align(problem.workspace), parts.axes) : nullptr),
        cells_(align(problem.workspace), parts),
        parts_(parts),
        rows_(problem),
        copies_(part<Row>(align(problem.workspace), parts.rows)),
        blocks_(part<RowBlock>(align(problem.workspace), parts.blocks)),
        block_counts_(part<std::int64_t>(align(problem.workspace), parts.block_counts)),
        lists_(problem, parts.chunks, part<std::int32_t>(align(problem.workspace), parts.ends)) {}

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    if (interrupted() || !mark()) return MLUOP_STATUS_SUCCESS;
    outcome.rows_out = cells_.rank();
    outcome.fits = outcome.rows_out <= problem_.out_rows;
    if (interrupted() || !outcome.fits) return MLUOP_STATUS_SUCCESS;
    cells_.for_all(OutputWriter(problem_.geometry, problem_.out_indices));
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    lists_.join_segments();
    lists_.for_joined_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *ends = lists_.ends_of(chunk);
      for_kernel_map(chunk, begin, end, [&](const KernelMapRun &run) {
        for (std::int64_t t = 0; t < run.times; ++t) {
          lists_.add_run(ends, run.filter_cell(t), run.rows, run.count,
                         [&](std::int64_t i) { return static_cast<std::int32_t>(cells_.rank_of(run.cell(i, t))); });
        }
      });
    });
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  // Marks the outputs and counts every chunk's pairs; returns false if the call is interrupted.
  bool mark() { return (cells_.in_two_passes() ? mark_in_two_passes() : mark_in_private_bitmaps()) && !interrupted(); }

  bool mark_in_two_passes() {
    cells_.clear();
    if (interrupted()) return false;
    lists_.for_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *counts = lists_.clear_counts(chunk);
      sort_rows(chunk, begin, end);
      for_kernel_map(chunk, begin, end, [&](const KernelMapRun &run) {
        count(run, counts);
        for (std::int64_t t = 0; t < run.times; ++t) {
          for (std::int64_t i = 0; i < run.count; ++i) cells_.reserve(run.cell(i, t));
        }
      });
    });
    if (interrupted()) return false;
    cells_.number_words();
    if (interrupted()) return false;
    lists_.for_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      for_kernel_map(chunk, begin, end, [&](const KernelMapRun &run) {
        for (std::int64_t t = 0; t < run.times; ++t) {
          for (std::int64_t i = 0; i < run.count; ++i) cells_.mark(run.cell(i, t));
        }
      });
    });
    return true;
  }

  bool mark_in_private_bitmaps() {
    const std::int64_t bitmaps =
        smaller(smaller<std::int64_t>(thread_count(), parts_.most_private_bitmaps), lists_.chunks());
    cells_.clear_private_bitmaps(bitmaps);
    if (interrupted()) return false;
    parallel_slots(lists_.chunks(), bitmaps, [this](std::int64_t slot, std::int64_t chunk) {
      std::int32_t *counts = lists_.clear_counts(chunk);
      std::uint64_t *marks = cells_.private_bitmap(slot);
      const std::int64_t begin = lists_.chunk_begin(chunk), end = lists_.chunk_begin(chunk + 1);
      sort_rows(chunk, begin, end);
      for_kernel_map(chunk, begin, end, [&](const KernelMapRun &run) {
        count(run, counts);
        mark_privately(run, marks);
      });
    });
    if (interrupted()) return false;
    cells_.merge_private_bitmaps(bitmaps);
    return true;
  }

  static void count(const KernelMapRun &run, std::int32_t *counts) {
    for (std::int64_t t = 0; t < run.times; ++t) counts[run.filter_cell(t)] += static_cast<std::int32_t>(run.count);
  }

  // The cells of a row in one line are marked together if they fit into 64 bits.
  static void mark_privately(const KernelMapRun &run, std::uint64_t *bitmap) {
    const std::int64_t last = run.times - 1;
    const std::uint64_t span = static_cast<std::uint64_t>(last) * run.output_step;
    if (span < 64) {
      std::uint64_t marks = 0;
      for (std::int64_t t = 0; t <= last; ++t)
        marks |= std::uint64_t{1} << static_cast<std::uint64_t>(t) * run.output_step;
      for (std::int64_t i = 0; i < run.count; ++i) RankedBitmap::mark_privately(bitmap, run.cell(i, last), marks, span);
      return;
    }
    for (std::int64_t t = 0; t <= last; ++t) {
      for (std::int64_t i = 0; i < run.count; ++i) RankedBitmap::mark_privately(bitmap, run.cell(i, t), 1, 0);
    }
  }

  // Reads the rows of a chunk, once: into blocks, or into copies if there are too many kinds.
  void sort_rows(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    if (parts_.kinds == 0) {
      for (std::int64_t l = begin; l < end; ++l) copies_[l] = rows_[l];
      return;
    }
    RowBlocks sorter(axes_, parts_.kinds, blocks_of(chunk));
    for (std::int64_t l = begin; l < end; ++l) sorter.add(rows_[l], static_cast<std::int32_t>(l));
    block_counts_[chunk] = sorter.count();
  }

  RowBlock *blocks_of(std::int64_t chunk) const { return blocks_ + chunk * parts_.most_blocks; }

  // Calls visit(run) for the kernel map of a chunk of rows begin .. end. The entries of one filter
  // cell are in row order.
  template <typename Visit>
  void for_kernel_map(std::int64_t chunk, std::int64_t begin, std::int64_t end, const Visit &visit) const {
    InterruptPoll poll;
    const std::int64_t volume = lists_.volume();
    if (parts_.kinds == 0) {
      for (std::int64_t l = begin; l < end && !poll.interrupted(volume); ++l) for_row(l, visit);
    }
    for (std::int64_t i = 0;
         parts_.kinds > 0 && i < block_counts_[chunk] && !poll.interrupted(volume * RowBlock::kCapacity); ++i) {
      for_runs(axes_, blocks_of(chunk)[i], visit);
    }
  }

  // The same for one row, without blocks: for filters much larger than the stride, or for too many
  // kinds of rows.
  template <typename Visit>
  void for_row(std::int64_t number, const Visit &visit) const {
    const Row &row = copies_[number];
    const Reach depth = along_[kDepth].reach(row.depth), height = along_[kHeight].reach(row.height),
                width = along_[kWidth].reach(row.width);
    const auto number32 = static_cast<std::int32_t>(number);
    for (std::int64_t d = 0; d < depth.count; ++d) {
      const std::int64_t plane = row.batch * along_[kDepth].outputs + depth.output - d * along_[kDepth].dilation;
      const std::int64_t filter_plane = (depth.cell + d * along_[kDepth].stride) * axes_[kDepth].filter_scale;
      for (std::int64_t h = 0; h < height.count; ++h) {
        const std::int64_t line = plane * along_[kHeight].outputs + height.output - h * along_[kHeight].dilation;
        const std::int64_t filter_line =
            filter_plane + (height.cell + h * along_[kHeight].stride) * axes_[kHeight].filter_scale;
        const auto cell = static_cast<std::uint64_t>(line * along_[kWidth].outputs + width.output);
        visit(KernelMapRun{&number32, &cell, 1, filter_line + width.cell, along_[kWidth].stride, 0,
                           static_cast<std::uint64_t>(along_[kWidth].dilation), width.count});
      }
    }
  }

  const GetIndicePairsProblem &problem_;
  const Axis along_[kSpaceDims];
  const GridAxes axes_;
  RankedBitmap cells_;
  const GridWorkspace parts_;
  const InputRows rows_;
  Row *const copies_;       // of the rows, without blocks
  RowBlock *const blocks_;  // [chunks][most_blocks]
  std::int64_t *const block_counts_;
  const PairLists lists_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_
