// GetIndicePairs on the CPU, sub-manifold mode, for rows that are not too few in their space: the outputs are the input rows, so the
// rows are marked in a grid of bricks, and each looks for others in the bricks within the filter's reach.
//
// Most searches find nothing, and the few that find something wait for memory that no hardware prefetcher foresees. So they go
// through lists: a brick that may have something is put on one and asked for, what is there on the next. A chunk of rows does not
// know how much its forerunners find: its stretches of the lists of pairs are pushed together at the end.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_

#include "ops/get_indice_pairs/cpu_bricks.h"
#include "ops/get_indice_pairs/cpu_marked_cells.h"
#include "ops/get_indice_pairs/cpu_pair_lists.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// What a chunk of rows finds, on its way into the lists of pairs.
class SubManifoldSearch {
 public:
  SubManifoldSearch(const MarkedCells &cells, const Bricks &bricks, const std::int32_t *numbers, const PairLists &lists,
                    std::int64_t chunk)
      : cells_(cells), bricks_(bricks), numbers_(numbers), lists_(lists), ends_(lists.ends_of(chunk)) {}

  // Looks for `cells` of a brick that may have marks; a row would reach the lowest of them all through filter cell k.
  void look(std::uint64_t brick, std::uint64_t cells, std::int32_t row, std::int32_t k) {
    looks_[look_count_] = Look{brick, cells, row, k};
    if (++look_count_ == kRoom) visit_bricks();
  }

  void finish() {
    visit_bricks();
    add_pairs();
  }

 private:
  struct Look {
    std::uint64_t brick, cells;
    std::int32_t row, filter_cell;
  };

  struct Found {
    std::uint64_t rank;
    std::int32_t row, filter_cell;
  };

  static constexpr std::int64_t kRoom = 128, kFoundRoom = 256;

  void visit_bricks() {
    const SparseWord *words[kRoom];
    for (std::int64_t i = 0; i < look_count_; ++i) {
      words[i] = &cells_.word(looks_[i].brick);
      __builtin_prefetch(words[i]);
    }
    for (std::int64_t i = 0; i < look_count_; ++i) {
      const Look &look = looks_[i];
      const SparseWord &word = *words[i];
      for (std::uint64_t left = word.marks & look.cells; left != 0; left &= left - 1) {
        const std::uint64_t inner = static_cast<std::uint64_t>(__builtin_ctzll(left));
        const std::uint64_t rank = MarkedCells::rank_in(word, inner);
        __builtin_prefetch(numbers_ + rank);
        found_[found_count_++] = Found{rank, look.row, look.filter_cell - bricks_.inner_filter_cell(inner)};
      }
      if (found_count_ > kFoundRoom - 64) add_pairs();
    }
    look_count_ = 0;
  }

  void add_pairs() {
    for (std::int64_t i = 0; i < found_count_; ++i) {
      lists_.add(ends_, found_[i].filter_cell, found_[i].row, numbers_[found_[i].rank]);
    }
    found_count_ = 0;
  }

  const MarkedCells &cells_;
  const Bricks &bricks_;
  const std::int32_t *const numbers_;
  const PairLists &lists_;
  std::int32_t *const ends_;
  std::int64_t look_count_ = 0, found_count_ = 0;
  Look looks_[kRoom];
  Found found_[kFoundRoom];
};

class SubManifoldGrid {
 public:
  SubManifoldGrid(const GetIndicePairsProblem &problem, const GridWorkspace &parts)
      : problem_(problem),
        bricks_(problem.geometry, brick_shape(problem.geometry),
                part<BrickReach>(align(problem.workspace), parts.axes)),
        rows_(problem.rows),
        cells_(align(problem.workspace), parts),
        slots_(part<std::uint64_t>(align(problem.workspace), parts.slots)),
        numbers_(part<std::int32_t>(align(problem.workspace), parts.numbers)),
        lists_(problem, parts.chunks, part<std::int32_t>(align(problem.workspace), parts.ends)) {}

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    outcome.rows_out = rows_;
    outcome.room = outcome.rows_out <= problem_.out_rows;
    if (!outcome.room) return MLUOP_STATUS_SUCCESS;
    find_slots();
    mark_slots();
    distinct_ = cells_.rank() == rows_;
    number_rows();
    copy_outputs();
    lists_.for_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      lists_.start_stretch(chunk);
      if (distinct_) pair_with_themselves(chunk, begin, end);
      if (bricks_.most() <= 2) {
        match_pairs(chunk, begin, end);
      } else {
        match(chunk, begin, end);
      }
    });
    lists_.finish();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kRowsAhead = 16;

  // Set in the slot of a row that has its brick to itself.
  static constexpr std::uint64_t kAlone = std::uint64_t{1} << 63;

  // For every row, where in the grid its mark is.
  void find_slots() {
    cells_.clear();
    const bool announced = cells_.in_two_rounds();
    lists_.for_chunks([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) {
        slots_[l] = bricks_.cell_at(row_of(problem_, l));
        if (announced) cells_.announce(slots_[l]);
      }
    });
    if (!announced) return;  // cells are slots
    cells_.number_words();
    lists_.for_chunks([this](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) slots_[l] = cells_.slot_of(slots_[l]);
    });
  }

  // Each thread marks in a part of the grid that is its own: marks that others see at once would wait for one another.
  void mark_slots() {
    const std::int64_t shares = smaller<std::int64_t>(thread_count(), rows_ / kRowsPerPiece + 1);
    auto mark = [&](std::int64_t begin, std::int64_t end) {
      const std::uint64_t low = cells_.slot_share(begin, shares), high = cells_.slot_share(end, shares);
      for (std::int64_t l = 0; l < rows_; ++l) {
        if (slots_[l] >= low && slots_[l] < high) cells_.mark_slot(slots_[l]);
      }
    };
    parallel_for(shares, 1, mark);
  }

  // Which row is at which place, the first of those that share one.
  void number_rows() {
    if (!distinct_) {
      for (std::int64_t l = rows_ - 1; l >= 0; --l) numbers_[cells_.rank_at(slots_[l])] = static_cast<std::int32_t>(l);
      return;
    }
    lists_.for_chunks([this](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) {
        if (l + kRowsAhead < end) cells_.ask_for_slot(slots_[l + kRowsAhead]);
        const SparseWord &word = cells_.word_at(slots_[l]);
        numbers_[MarkedCells::rank_in(word, slots_[l])] = static_cast<std::int32_t>(l);
        slots_[l] |= (word.marks & (word.marks - 1)) == 0 ? kAlone : 0;
      }
    });
  }

  void copy_outputs() const {
    auto copy = [this](std::int64_t begin, std::int64_t end) {
      std::memcpy(problem_.out_indices + begin * 4, problem_.indices + begin * 4,
                  static_cast<std::size_t>(end - begin) * sizeof(Row));
    };
    parallel_for(rows_, kRowsPerPiece, copy);
  }

  // The filter cell that sends every row to its own place, or -1.
  std::int64_t centre() const {
    const SparseGeometry &g = problem_.geometry;
    std::int64_t cell = 0;
    for (int axis = 0; axis < kSpaceDims; ++axis) {
      if (g.pad[axis] >= g.filter_space[axis]) return -1;
      cell = cell * g.filter_space[axis] + g.pad[axis];
    }
    return cell;
  }

  // Where no rows share a place, each row of a chunk meets itself under that filter cell; nothing has to be looked for.
  void pair_with_themselves(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    if (centre() < 0) return;
    for (std::int64_t l = begin; l < end; ++l) {
      lists_.add(lists_.ends_of(chunk), centre(), static_cast<std::int32_t>(l), static_cast<std::int32_t>(l));
    }
  }

  // Those cells of its own brick that a row has to look for.
  std::uint64_t cells_of_own_brick(std::int64_t row) const {
    if (!distinct_) return ~std::uint64_t{0};
    return (slots_[row] & kAlone) != 0 ? 0 : ~(std::uint64_t{1} << slots_[row] % 64);
  }

  // Lists the pairs of a chunk where rows reach one or two bricks on each axis. How many it is, and what is in them, no branch
  // could foresee, except that there is nothing: so all four lines are looked at, both bricks of a line at a time.
  void match_pairs(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    const MarkedCells cells = cells_;
    SubManifoldSearch search(cells, bricks_, numbers_, lists_, chunk);
    const std::uint64_t deep_step = bricks_.brick_step(kDepth), high_step = bricks_.brick_step(kHeight);
    const std::int32_t k_deep = bricks_.filter_step(kDepth), k_high = bricks_.filter_step(kHeight);
    const std::int32_t k_wide = bricks_.filter_step(kWidth);
    for (std::int64_t l = begin; l < end; ++l) {
      const Row row = row_of(problem_, l);
      const BrickReach &depth = bricks_.reach(kDepth, row.depth), &height = bricks_.reach(kHeight, row.height);
      const BrickReach &width = bricks_.reach(kWidth, row.width);
      const std::uint64_t own_cells = cells_of_own_brick(l);
      const std::uint64_t first = bricks_.batch(row) + depth.brick + height.brick + width.brick;
      const std::int32_t first_k = depth.filter_cell + height.filter_cell + width.filter_cell;
      const std::int32_t number = static_cast<std::int32_t>(l);
      const std::uint64_t both = (std::uint64_t{1} << width.count) - 1;
      auto look_along = [&](const bool d, const bool h) __attribute__((always_inline)) {
        const bool reached = (d < depth.count) & (h < height.count);
        const std::uint64_t line = reached ? first + (d ? deep_step : 0) + (h ? high_step : 0) : first;
        std::uint64_t bits = reached ? both & cells.may_have_two(line) : 0;
        const std::uint64_t own = (depth.own == d) & (height.own == h) ? std::uint64_t{1} << width.own : 0;
        if (own_cells == 0) bits &= ~own;
        if (bits == 0) return;
        const std::uint64_t reach =
            (d ? depth.last_cells : depth.first_cells) & (h ? height.last_cells : height.first_cells);
        const std::int32_t k = first_k - (d ? k_deep : 0) - (h ? k_high : 0);
        const std::uint64_t near = reach & width.first_cells, far = reach & width.last_cells;
        if ((bits & 1) != 0) search.look(line, (own & 1) != 0 ? near & own_cells : near, number, k);
        if ((bits & 2) != 0) search.look(line + 1, (own & 2) != 0 ? far & own_cells : far, number, k - k_wide);
      };
      look_along(false, false);
      look_along(false, true);
      look_along(true, false);
      look_along(true, true);
    }
    search.finish();
  }

  // Lists the pairs of a chunk, whatever number of bricks the rows reach.
  void match(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    SubManifoldSearch search(cells_, bricks_, numbers_, lists_, chunk);
    for (std::int64_t l = begin; l < end; ++l) {
      const Row &row = row_of(problem_, l);
      const BrickReach &depth = bricks_.reach(kDepth, row.depth), &height = bricks_.reach(kHeight, row.height);
      const BrickReach &width = bricks_.reach(kWidth, row.width);
      const std::uint64_t own_cells = cells_of_own_brick(l);
      const std::uint64_t first = bricks_.batch(row) + depth.brick + height.brick + width.brick;
      const std::int32_t first_k = depth.filter_cell + height.filter_cell + width.filter_cell;
      for (std::int32_t d = 0; d < depth.count; ++d) {
        for (std::int32_t h = 0; h < height.count; ++h) {
          for (std::int32_t w = 0; w < width.count; ++w) {
            const std::uint64_t brick = first + static_cast<std::uint64_t>(d) * bricks_.brick_step(kDepth) +
                                        static_cast<std::uint64_t>(h) * bricks_.brick_step(kHeight) +
                                        static_cast<std::uint64_t>(w);
            std::uint64_t reach = cells_in(depth, d) & cells_in(height, h) & cells_in(width, w);
            if (d == depth.own && h == height.own && w == width.own) reach &= own_cells;
            if (reach == 0 || !cells_.may_have(brick)) continue;
            search.look(brick, reach, static_cast<std::int32_t>(l),
                        first_k - d * bricks_.filter_step(kDepth) - h * bricks_.filter_step(kHeight) -
                            w * bricks_.filter_step(kWidth));
          }
        }
      }
    }
    search.finish();
  }

  // What a row reaches along one axis, in its i-th brick of those.
  static std::uint64_t cells_in(const BrickReach &reach, std::int32_t i) {
    return i == 0 ? reach.first_cells : i + 1 == reach.count ? reach.last_cells : ~std::uint64_t{0};
  }

  const GetIndicePairsProblem &problem_;
  const Bricks bricks_;
  const std::int64_t rows_;
  MarkedCells cells_;
  std::uint64_t *const slots_;
  std::int32_t *const numbers_;  // of the row at each marked cell
  bool distinct_ = false;        // no two rows share a place
  const PairLists lists_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_
