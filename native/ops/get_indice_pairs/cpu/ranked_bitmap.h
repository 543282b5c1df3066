// A bitmap of marked cells with ranks: the rank of a cell is the number of marked cells before it.
// It is the number of an output row, or the place of an input row in ascending order.
//
// 64 consecutive cells are a word. A small space stores all words. A large one stores only words
// with marks, plus one bit per word that tells which exist: most lookups find nothing, and these
// bits stay in L1 or L2.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RANKED_BITMAP_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RANKED_BITMAP_H_

#include "ops/get_indice_pairs/cpu/rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

class RankedBitmap {
 public:
  RankedBitmap(void *base, const GridWorkspace &parts)
      : dense_(parts.dense),
        shared_(thread_count() > 1),
        word_count_(parts.dense ? parts.word_count : 0),
        group_count_(parts.groups),
        words_(part<SparseWord>(base, parts.words)),
        private_bitmaps_(part<std::uint64_t>(base, parts.private_bitmaps)),
        groups_(part<std::uint64_t>(base, parts.group_bits)),
        words_before_(part<std::uint32_t>(base, parts.group_before)) {}

  // ---- Marking ----

  // Whether marking takes two passes: reserve() for all cells, number_words(), then mark() for all
  // cells. Otherwise nothing is reserved.
  bool in_two_passes() const { return !dense_; }

  void clear() {
    if (dense_) {
      clear_all(words_, word_count_);
    } else {
      clear_all(groups_, group_count_);
    }
  }

  void reserve(std::uint64_t cell) {
    const std::uint64_t word = cell / kCellsPerWord;
    set_bit(groups_ + word / kCellsPerWord, word % kCellsPerWord);
  }

  void number_words() {
    word_count_ = add_up(
        group_count_, [this](std::int64_t group) { return groups_[group]; },
        [this](std::int64_t group, std::int64_t before) { words_before_[group] = static_cast<std::uint32_t>(before); });
    clear_all(words_, word_count_);
  }

  void mark(std::uint64_t cell) { set_bit(&words_[place_of(cell / kCellsPerWord)].marks, cell % kCellsPerWord); }

  // With all words stored, each thread may mark a private bitmap: atomic stores to shared words are
  // slower.
  void clear_private_bitmaps(std::int64_t count) { clear_all(private_bitmaps_, count * word_count_); }

  std::uint64_t *private_bitmap(std::int64_t number) const { return private_bitmaps_ + number * word_count_; }

  // Marks the cells from `cell` on whose bits are set in `marks`; bit `span` is the highest.
  static void mark_privately(std::uint64_t *bitmap, std::uint64_t cell, std::uint64_t marks, std::uint64_t span) {
    const std::uint64_t bit = cell % kCellsPerWord;
    std::uint64_t *const word = bitmap + cell / kCellsPerWord;
    word[0] |= marks << bit;
    if (bit + span >= kCellsPerWord) word[1] |= marks >> (kCellsPerWord - bit);
  }

  void merge_private_bitmaps(std::int64_t count) {
    auto collect = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t place = begin; place < end; ++place) {
        std::uint64_t marks = 0;
        for (std::int64_t bitmap = 0; bitmap < count; ++bitmap) marks |= private_bitmaps_[bitmap * word_count_ + place];
        words_[place].marks = marks;
      }
    };
    parallel_for(word_count_, kWordsPerPiece, collect);
  }

  // Counts the marked cells and computes their ranks.
  std::int64_t rank() {
    return add_up(
        word_count_, [this](std::int64_t place) { return words_[place].marks; },
        [this](std::int64_t place, std::int64_t before) { words_[place].before = static_cast<std::uint64_t>(before); });
  }

  // ---- Slots: numbers of cells by the places of their words in memory ----

  std::uint64_t slot_of(std::uint64_t cell) const {
    return place_of(cell / kCellsPerWord) * kCellsPerWord + cell % kCellsPerWord;
  }

  // The first slot of a share of the slots.
  std::uint64_t slot_share(std::int64_t share, std::int64_t shares) const {
    return static_cast<std::uint64_t>(word_count_ * share / shares) * kCellsPerWord;
  }

  // No other thread may mark in the same word.
  void mark_slot(std::uint64_t slot) { words_[slot / kCellsPerWord].marks |= std::uint64_t{1} << slot % kCellsPerWord; }

  [[gnu::always_inline]] void prefetch_slot(std::uint64_t slot) const {
    __builtin_prefetch(words_ + slot / kCellsPerWord);
  }

  const SparseWord &word_at(std::uint64_t slot) const { return words_[slot / kCellsPerWord]; }

  static std::uint64_t rank_in(const SparseWord &word, std::uint64_t cell) {
    return word.before + bits_below(word.marks, cell % kCellsPerWord);
  }

  std::uint64_t rank_at(std::uint64_t slot) const { return rank_in(word_at(slot), slot); }

  // ---- Searching ----

  // The rank of a marked cell.
  std::uint64_t rank_of(std::uint64_t cell) const { return rank_at(slot_of(cell)); }

  // Whether word `number` may have marks.
  bool may_have(std::uint64_t number) const { return dense_ || has_word(number) != 0; }

  // The same for word `number` in bit 0 and for the next one in bit 1.
  std::uint64_t may_have_two(std::uint64_t number) const {
    if (dense_) return 3;
    const std::uint64_t group = number / kCellsPerWord, bit = number % kCellsPerWord;
    std::uint64_t bits = groups_[group] >> bit;
    if (bit == kCellsPerWord - 1) bits |= groups_[group + 1] << 1;
    return bits & 3;
  }

  // The word, which must be one for which may_have() is true.
  const SparseWord &word(std::uint64_t number) const { return words_[place_of(number)]; }

  // Calls visit(cell, rank) for all marked cells. Pieces run concurrently, each in ascending order
  // with its own copy of `visit`.
  template <typename Visit>
  void for_all(const Visit &visit) const {
    constexpr std::int64_t kGrain = 512;
    auto visit_words = [&](std::int64_t begin, std::int64_t end) {
      Visit own = visit;
      for (std::int64_t number = begin; number < end; ++number) visit_word(number, number, own);
    };
    auto visit_groups = [&](std::int64_t begin, std::int64_t end) {
      Visit own = visit;
      for (std::int64_t group = begin; group < end; ++group) {
        std::int64_t place = words_before_[group];
        for (std::uint64_t left = groups_[group]; left != 0; left &= left - 1) {
          visit_word(place++, group * kCellsPerWord + __builtin_ctzll(left), own);
        }
      }
    };
    if (dense_) {
      parallel_for(word_count_, kGrain, visit_words);
    } else {
      parallel_for(group_count_, kGrain, visit_groups);
    }
  }

 private:
  static constexpr std::int64_t kCellsPerWord = 64, kWordsPerPiece = 1024;

  // Prefix sum: calls keep(i, bits before i) for all i below `count`, and returns the number of
  // bits. Several threads first count their shares.
  template <typename Bits, typename Keep>
  static std::int64_t add_up(std::int64_t count, const Bits &bits, const Keep &keep) {
    constexpr std::int64_t kMostShares = 32;
    const std::int64_t wanted = smaller<std::int64_t>(thread_count(), count / kWordsPerPiece);
    const std::int64_t shares = larger<std::int64_t>(smaller(wanted, kMostShares), 1);
    std::int64_t before[kMostShares + 1] = {};  // bits before each share
    auto first_of = [&](std::int64_t share) { return count * share / shares; };
    auto count_bits = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t share = begin; share < end; ++share) {
        std::int64_t here = 0;
        for_slices(first_of(share), first_of(share + 1), [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) here += __builtin_popcountll(bits(i));
        });
        before[share + 1] = here;
      }
    };
    auto number = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t share = begin; share < end; ++share) {
        std::int64_t so_far = before[share];
        for_slices(first_of(share), first_of(share + 1), [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) {
            keep(i, so_far);
            so_far += __builtin_popcountll(bits(i));
          }
        });
        if (share == shares - 1) before[shares] = so_far;
      }
    };
    if (shares > 1) parallel_for(shares, 1, count_bits);
    for (std::int64_t share = 1; share < shares; ++share) before[share] += before[share - 1];
    parallel_for(shares, 1, number);
    return before[shares];
  }

  static std::uint64_t bits_below(std::uint64_t bits, std::uint64_t bit) {
    return static_cast<std::uint64_t>(__builtin_popcountll(bits & ((std::uint64_t{1} << bit) - 1)));
  }

  std::uint64_t has_word(std::uint64_t number) const {
    return groups_[number / kCellsPerWord] >> number % kCellsPerWord & 1;
  }

  // Place of word `number`, which must be stored.
  std::uint64_t place_of(std::uint64_t number) const {
    if (dense_) return number;
    const std::uint64_t group = number / kCellsPerWord;
    return words_before_[group] + bits_below(groups_[group], number % kCellsPerWord);
  }

  // Many cells are marked repeatedly: testing first is cheaper than an atomic write.
  void set_bit(std::uint64_t *word, std::uint64_t bit) const {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != 0) return;
    if (shared_) {
      __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    } else {
      *word |= mask;
    }
  }

  template <typename T>
  static void clear_all(T *values, std::int64_t count) {
    constexpr std::int64_t kGrain = 65536 / sizeof(T);
    auto clear = [&](std::int64_t begin, std::int64_t end) {
      std::memset(values + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
    };
    parallel_for(count, kGrain, clear);
  }

  template <typename Visit>
  void visit_word(std::int64_t place, std::int64_t number, Visit &visit) const {
    std::uint64_t rank = words_[place].before;
    for (std::uint64_t left = words_[place].marks; left != 0; left &= left - 1) {
      visit(static_cast<std::uint64_t>(number * kCellsPerWord + __builtin_ctzll(left)), rank++);
    }
  }

  const bool dense_;
  const bool shared_;  // several threads may mark concurrently
  std::int64_t word_count_, group_count_;
  SparseWord *const words_;               // all, or those with a mark
  std::uint64_t *const private_bitmaps_;  // if dense: marks, [sheets][words]
  std::uint64_t *const groups_;           // unless dense: a bit for each word that has a mark
  std::uint32_t *const words_before_;     // unless dense: words with a mark before a group
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RANKED_BITMAP_H_
