// GetIndicePairs on the CPU, sub-manifold mode, for rows that are dense enough in their space: the
// outputs are the input rows, which are marked in a grid of bricks; each row looks up the bricks
// within the filter's reach.
//
// Most lookups find nothing, and the others miss the caches unpredictably. So lookups go through
// lists: bricks that may have marks are listed and prefetched, then the marks found in them. Chunks
// of rows write to separate segments of the pair lists, which are compacted at the end.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_

#include "ops/get_indice_pairs/cpu/bricks.h"
#include "ops/get_indice_pairs/cpu/pair_lists.h"
#include "ops/get_indice_pairs/cpu/ranked_bitmap.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Lookups of one chunk of rows, batched on their way to the pair lists.
class SubManifoldSearch {
 public:
  SubManifoldSearch(const RankedBitmap &cells, const Bricks &bricks, const std::int32_t *numbers,
                    const PairLists &lists, std::int64_t chunk)
      : cells_(cells), bricks_(bricks), numbers_(numbers), lists_(lists), ends_(lists.ends_of(chunk)) {}

  // Looks up `cells` of a brick that may have marks; filter cell k would lead from the row to the
  // lowest of them all.
  void look(std::uint64_t brick, std::uint64_t cells, std::int32_t row, std::int32_t k) {
    looks_[look_count_] = Look{brick, cells, row, k};
    if (++look_count_ == kCapacity) visit_bricks();
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

  static constexpr std::int64_t kCapacity = 128, kFoundCapacity = 256;

  // Branch-free, because hits are unpredictable: misses are overwritten by the next lookup, and the
  // cells of all hits are processed in one loop.
  void visit_bricks() {
    const SparseWord *words[kCapacity];
    for (std::int64_t i = 0; i < look_count_; ++i) {
      words[i] = &cells_.word(looks_[i].brick);
      __builtin_prefetch(words[i]);
    }
    std::uint64_t hits[kCapacity + 1];
    std::int32_t hit_looks[kCapacity + 1];
    std::int64_t hit_count = 0, cell_count = 0;
    for (std::int64_t i = 0; i < look_count_; ++i) {
      const std::uint64_t hit = words[i]->marks & looks_[i].cells;
      hits[hit_count] = hit;
      hit_looks[hit_count] = static_cast<std::int32_t>(i);
      hit_count += hit != 0;
      cell_count += __builtin_popcountll(hit);
    }
    hits[hit_count] = 0;
    hit_looks[hit_count] = 0;
    look_count_ = 0;
    std::uint64_t left = hits[0];
    for (std::int64_t at = 0; cell_count > 0;) {
      const std::int64_t now = smaller(cell_count, kFoundCapacity - found_count_);
      for (std::int64_t i = 0; i < now; ++i) {
        const std::int64_t number = hit_looks[at];
        const Look &look = looks_[number];
        const std::uint64_t inner = static_cast<std::uint64_t>(__builtin_ctzll(left));
        const std::uint64_t rank = RankedBitmap::rank_in(*words[number], inner);
        __builtin_prefetch(numbers_ + rank);
        found_[found_count_ + i] = Found{rank, look.row, look.filter_cell - bricks_.inner_filter_cell(inner)};
        left &= left - 1;
        at += left == 0;
        left = left == 0 ? hits[at] : left;
      }
      found_count_ += now;
      cell_count -= now;
      if (found_count_ == kFoundCapacity) add_pairs();
    }
  }

  void add_pairs() {
    for (std::int64_t i = 0; i < found_count_; ++i) {
      lists_.add(ends_, found_[i].filter_cell, found_[i].row, numbers_[found_[i].rank]);
    }
    found_count_ = 0;
  }

  const RankedBitmap &cells_;
  const Bricks &bricks_;
  const std::int32_t *const numbers_;
  const PairLists &lists_;
  std::int32_t *const ends_;
  std::int64_t look_count_ = 0, found_count_ = 0;
  Look looks_[kCapacity];
  Found found_[kFoundCapacity];
};

class SubManifoldGrid {
 public:
  SubManifoldGrid(const GetIndicePairsProblem &problem, const GridWorkspace &parts)
      : problem_(problem),
        bricks_(problem.geometry, brick_shape(problem.geometry),
                part<BrickReach>(align(problem.workspace), parts.axes)),
        rows_(problem.rows),
        input_(problem),
        places_(reinterpret_cast<Row *>(problem.out_indices)),
        cells_(align(problem.workspace), parts),
        slots_(part<std::uint64_t>(align(problem.workspace), parts.slots)),
        numbers_(part<std::int32_t>(align(problem.workspace), parts.numbers)),
        lists_(problem, parts.chunks, part<std::int32_t>(align(problem.workspace), parts.ends)) {}

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    outcome.rows_out = rows_;
    outcome.fits = outcome.rows_out <= problem_.out_rows;
    if (interrupted() || !outcome.fits || !find_slots()) return MLUOP_STATUS_SUCCESS;
    mark_slots();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    distinct_ = cells_.rank() == rows_;
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    number_rows();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    lists_.for_chunks([this](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      lists_.start_segment(chunk);
      if (distinct_) pair_with_themselves(chunk, begin, end);
      if (bricks_.most() <= 2) {
        match_pairs(chunk, begin, end);
      } else {
        match(chunk, begin, end);
      }
    });
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    lists_.finish();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kRowsAhead = 16;

  // Set in the slot of a row that has its brick to itself.
  static constexpr std::uint64_t kAlone = std::uint64_t{1} << 63;

  // Reads the rows, for the only time, and writes them as outputs; finds for every row where in the
  // grid its mark is. Returns false if the call is interrupted.
  bool find_slots() {
    cells_.clear();
    if (interrupted()) return false;
    const bool reserved = cells_.in_two_passes();
    lists_.for_chunks([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) {
        const Row row = input_[l];
        places_[l] = row;
        slots_[l] = bricks_.cell_at(row);
        if (reserved) cells_.reserve(slots_[l]);
      }
    });
    if (!reserved || interrupted()) return !interrupted();  // cells are slots
    cells_.number_words();
    if (interrupted()) return false;
    lists_.for_chunks([this](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) slots_[l] = cells_.slot_of(slots_[l]);
    });
    return !interrupted();
  }

  // Each thread marks its own part of the grid, since atomic marks would be slower.
  void mark_slots() {
    const std::int64_t shares = smaller<std::int64_t>(thread_count(), rows_ / kRowsPerPiece + 1);
    auto mark = [&](std::int64_t begin, std::int64_t end) {
      const std::uint64_t low = cells_.slot_share(begin, shares), high = cells_.slot_share(end, shares);
      for_slices(0, rows_, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t l = first; l < last; ++l) {
          if (slots_[l] >= low && slots_[l] < high) cells_.mark_slot(slots_[l]);
        }
      });
    };
    parallel_for(shares, 1, mark);
  }

  // Row number of each marked cell; the first of rows that share a place.
  void number_rows() {
    if (!distinct_) {
      for_slices(0, rows_, [this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t l = rows_ - 1 - begin; l >= rows_ - end; --l) {
          numbers_[cells_.rank_at(slots_[l])] = static_cast<std::int32_t>(l);
        }
      });
      return;
    }
    lists_.for_chunks([this](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) {
        if (l + kRowsAhead < end) cells_.prefetch_slot(slots_[l + kRowsAhead]);
        const SparseWord &word = cells_.word_at(slots_[l]);
        numbers_[RankedBitmap::rank_in(word, slots_[l])] = static_cast<std::int32_t>(l);
        slots_[l] |= (word.marks & (word.marks - 1)) == 0 ? kAlone : 0;
      }
    });
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

  // If no rows share a place, each row of a chunk pairs with itself under the centre cell, without
  // lookup.
  void pair_with_themselves(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    if (centre() < 0) return;
    for (std::int64_t l = begin; l < end; ++l) {
      lists_.add(lists_.ends_of(chunk), centre(), static_cast<std::int32_t>(l), static_cast<std::int32_t>(l));
    }
  }

  // Cells of its own brick that a row must look up.
  std::uint64_t cells_of_own_brick(std::int64_t row) const {
    if (!distinct_) return ~std::uint64_t{0};
    return (slots_[row] & kAlone) != 0 ? 0 : ~(std::uint64_t{1} << slots_[row] % 64);
  }

  // Lists the pairs of a chunk whose rows reach one or two bricks per axis. Their number and
  // contents are unpredictable, except that most are empty: so all four lines are tested, both
  // bricks of a line at once.
  void match_pairs(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    const RankedBitmap cells = cells_;
    SubManifoldSearch search(cells, bricks_, numbers_, lists_, chunk);
    // Of brick 4 d + 2 h + w.
    std::uint64_t further[8];
    std::int32_t k_less[8];
    for (int i = 0; i < 8; ++i) {
      further[i] = (i & 4 ? bricks_.brick_step(kDepth) : 0) + (i & 2 ? bricks_.brick_step(kHeight) : 0) + (i & 1);
      k_less[i] = (i & 4 ? bricks_.filter_step(kDepth) : 0) + (i & 2 ? bricks_.filter_step(kHeight) : 0) +
                  (i & 1 ? bricks_.filter_step(kWidth) : 0);
    }
    // One bit per brick, indexed by the number of bricks reached on an axis, and by the index of
    // the row's own brick.
    static constexpr std::uint8_t kReached[kSpaceDims][3] = {{0, 0x0f, 0xff}, {0, 0x33, 0xff}, {0, 0x55, 0xff}};
    static constexpr std::uint8_t kOwn[kSpaceDims][3] = {{0x0f, 0xf0, 0}, {0x33, 0xcc, 0}, {0x55, 0xaa, 0}};
    InterruptPoll poll;
    for (std::int64_t l = begin; l < end && !poll.interrupted(64); ++l) {
      const Row row = places_[l];
      const BrickReach &depth = bricks_.reach(kDepth, row.depth), &height = bricks_.reach(kHeight, row.height);
      const BrickReach &width = bricks_.reach(kWidth, row.width);
      const std::uint64_t own_cells = cells_of_own_brick(l);
      const std::uint64_t first = bricks_.batch(row) + depth.brick + height.brick + width.brick;
      const std::int32_t first_k = depth.filter_cell + height.filter_cell + width.filter_cell;
      // If only one is reached, the same line is tested again, which is inside the grid.
      const std::uint64_t deep = depth.count == 2 ? further[4] : 0, high = height.count == 2 ? further[2] : 0;
      std::uint64_t left = cells.may_have_two(first) | cells.may_have_two(first + high) << 2 |
                           cells.may_have_two(first + deep) << 4 | cells.may_have_two(first + deep + high) << 6;
      left &= kReached[kDepth][depth.count] & kReached[kHeight][height.count] & kReached[kWidth][width.count];
      const std::uint64_t own = kOwn[kDepth][depth.own] & kOwn[kHeight][height.own] & kOwn[kWidth][width.own];
      if (own_cells == 0) left &= ~own;
      for (; left != 0; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        const std::uint64_t reach = depth.cells[i >> 2] & height.cells[i >> 1 & 1] & width.cells[i & 1];
        search.look(first + further[i], (own >> i & 1) != 0 ? reach & own_cells : reach, static_cast<std::int32_t>(l),
                    first_k - k_less[i]);
      }
    }
    search.finish();
  }

  // Lists the pairs of a chunk for any number of bricks per row.
  void match(std::int64_t chunk, std::int64_t begin, std::int64_t end) const {
    SubManifoldSearch search(cells_, bricks_, numbers_, lists_, chunk);
    InterruptPoll poll;
    for (std::int64_t l = begin; l < end && !poll.interrupted(lists_.volume()); ++l) {
      const Row row = places_[l];
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

  // Reachable cells along one axis in the i-th brick.
  static std::uint64_t cells_in(const BrickReach &reach, std::int32_t i) {
    return i == 0 ? reach.cells[0] : i + 1 == reach.count ? reach.cells[1] : ~std::uint64_t{0};
  }

  const GetIndicePairsProblem &problem_;
  const Bricks bricks_;
  const std::int64_t rows_;
  const InputRows input_;
  Row *const places_;  // of the rows; they are the outputs
  RankedBitmap cells_;
  std::uint64_t *const slots_;
  std::int32_t *const numbers_;  // of the row at each marked cell
  bool distinct_ = false;        // whether no two rows share a place
  const PairLists lists_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_SUB_MANIFOLD_H_
