// GetIndicePairs on the CPU, default mode, for rows that are not too few in their space: the cells that rows reach are marked in a
// grid with a bit for each, and what a row meets is looked up there.
//
// What a row reaches depends on its place alone, so the pairs are counted while the outputs are marked, and later written where they
// belong.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_

#include "ops/get_indice_pairs/cpu_marked_cells.h"
#include "ops/get_indice_pairs/cpu_meetings.h"
#include "ops/get_indice_pairs/cpu_pair_lists.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Writes output rows of cells that come in ascending order.
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
        axes_(problem.geometry, part<GridAxis::Entry>(align(problem.workspace), parts.axes)),
        cells_(align(problem.workspace), parts),
        most_sheets_(parts.most_sheets),
        lists_(problem, parts.chunks, part<std::int32_t>(align(problem.workspace), parts.ends)) {}

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    outcome.rows_out = mark();
    outcome.room = outcome.rows_out <= problem_.out_rows;
    if (!outcome.room) return MLUOP_STATUS_SUCCESS;
    cells_.for_all(OutputWriter(problem_.geometry, problem_.out_indices));
    lists_.join_stretches();
    lists_.for_joined_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *ends = lists_.ends_of(chunk);
      for_meetings(begin, end, [&](const Meeting &m) {
        lists_.add(ends, m.filter_cell, m.row, static_cast<std::int32_t>(cells_.rank_of(m.cell)));
      });
    });
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  // Marks the outputs, counts every chunk's pairs, and returns how many outputs there are.
  std::int64_t mark() {
    if (cells_.in_two_rounds()) {
      mark_in_two_rounds();
    } else {
      mark_on_sheets();
    }
    return cells_.rank();
  }

  void mark_in_two_rounds() {
    cells_.clear();
    lists_.for_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *counts = lists_.clear_counts(chunk);
      for_meetings(begin, end, [&](const Meeting &m) {
        ++counts[m.filter_cell];
        cells_.announce(m.cell);
      });
    });
    cells_.number_words();
    lists_.for_chunks([this](std::int64_t, std::int64_t begin, std::int64_t end) {
      for_meetings(begin, end, [&](const Meeting &m) { cells_.mark(m.cell); });
    });
  }

  void mark_on_sheets() {
    const std::int64_t sheets = smaller(smaller<std::int64_t>(thread_count(), most_sheets_), lists_.chunks());
    cells_.clear_sheets(sheets);
    parallel_slots(lists_.chunks(), sheets, [this](std::int64_t sheet, std::int64_t chunk) {
      std::int32_t *counts = lists_.clear_counts(chunk);
      for_meetings(lists_.chunk_begin(chunk), lists_.chunk_begin(chunk + 1), [&](const Meeting &m) {
        ++counts[m.filter_cell];
        cells_.mark_on_sheet(sheet, m.cell);
      });
    });
    cells_.collect_sheets(sheets);
  }

  // Calls visit(meeting) for everything that rows begin .. end reach, in the order of the rows.
  template <typename Visit>
  void for_meetings(std::int64_t begin, std::int64_t end, const Visit &visit) const {
    switch (larger(larger(axes_[kDepth].most, axes_[kHeight].most), axes_[kWidth].most)) {
      case 2:
        return for_listed<2>(begin, end, visit);
      case 3:
        return for_listed<3>(begin, end, visit);
      default:
        for (std::int64_t l = begin; l < end; ++l) for_row(l, visit);
    }
  }

  template <int kMost, typename Visit>
  void for_listed(std::int64_t begin, std::int64_t end, const Visit &visit) const {
    MeetingList<kMost> list(axes_);
    for (std::int64_t l = begin; l < end; ++l) {
      list.add(row_of(problem_, l), static_cast<std::int32_t>(l));
      if (!list.has_room()) list.visit(visit);
    }
    list.visit(visit);
  }

  template <typename Visit>
  void for_row(std::int64_t number, const Visit &visit) const {
    const Row &row = row_of(problem_, number);
    const GridAxis::Entry depth = axes_.depth(row), height = axes_.height(row), width = axes_.width(row);
    const std::uint64_t first = axes_.batch(row) + depth.output + height.output + width.output;
    const std::int64_t first_cell = std::int64_t{depth.filter_cell} + height.filter_cell + width.filter_cell;
    for (std::int32_t d = 0; d < depth.count; ++d) {
      for (std::int32_t h = 0; h < height.count; ++h) {
        const std::uint64_t line = first - static_cast<std::uint64_t>(d) * axes_[kDepth].output_step -
                                   static_cast<std::uint64_t>(h) * axes_[kHeight].output_step;
        const std::int64_t plane = first_cell + d * axes_[kDepth].filter_step + h * axes_[kHeight].filter_step;
        for (std::int32_t w = 0; w < width.count; ++w) {
          visit(Meeting{line - static_cast<std::uint64_t>(w) * axes_[kWidth].output_step,
                        static_cast<std::int32_t>(number),
                        static_cast<std::int32_t>(plane + w * axes_[kWidth].filter_step)});
        }
      }
    }
  }

  const GetIndicePairsProblem &problem_;
  const GridAxes axes_;
  MarkedCells cells_;
  const std::int64_t most_sheets_;
  const PairLists lists_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_DEFAULT_H_
