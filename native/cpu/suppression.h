// Suppression of boxes: from the highest score down, each box that is left is kept, and suppresses
// those below it that overlap it too much.
#ifndef MLUOPS_CPU_SUPPRESSION_H_
#define MLUOPS_CPU_SUPPRESSION_H_

#include "cpu/ranking.h"
#include "cpu/rotated_rects.h"
#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Some kept boxes, which another box is compared with many at a time.
template <typename Real, typename Box>
class KeptBoxes {
 public:
  static constexpr int kMost = 64;

  void clear() {
    count_ = 0;
    for (int i = 0; i < kMost; ++i) reach_x_[i] = static_cast<Real>(__builtin_nan(""));  // is near no box
  }

  void add(const Box &box) {
    x_[count_] = box.x;
    y_[count_] = box.y;
    reach_x_[count_] = box.reach_x;
    reach_y_[count_] = box.reach_y;
    boxes_[count_++] = box;
  }

  // Whether overlap(kept, box) is above the threshold for one of those that are near.
  template <typename Overlap>
  bool any_above(const Box &box, const Overlap &overlap, Real threshold) const {
    for (int i = 0; i < count_; i += kLanes) {
      for (unsigned near = near_lanes(box, i); near != 0; near &= near - 1) {
        if (overlap(boxes_[i + __builtin_ctz(near)], box) > threshold) return true;
      }
    }
    return false;
  }

 private:
  static_assert(kMost % kLanes == 0, "the arrays are whole vectors");

  static Vector magnitude_of(Vector value) { return value < 0.0f ? -value : value; }

  // A bit for each of kLanes boxes from `first` on, as are_near() tells.
  unsigned near_lanes(const Box &box, int first) const {
    if constexpr (sizeof(Real) == sizeof(float)) {
      const IntVector near_x = magnitude_of(load(x_ + first) - box.x) <= load(reach_x_ + first) + box.reach_x;
      const IntVector near_y = magnitude_of(load(y_ + first) - box.y) <= load(reach_y_ + first) + box.reach_y;
      return lane_bits(near_x & near_y);
    } else {
      unsigned near = 0;
      for (int i = first; i < first + kLanes && i < count_; ++i)
        near |= (are_near(boxes_[i], box) ? 1u : 0u) << (i - first);
      return near;
    }
  }

  alignas(kCacheLine) Real x_[kMost] = {};
  alignas(kCacheLine) Real y_[kMost] = {};
  alignas(kCacheLine) Real reach_x_[kMost];
  alignas(kCacheLine) Real reach_y_[kMost] = {};
  Box boxes_[kMost];
  int count_ = 0;
};

// Memory that the suppression of `count` boxes needs.
template <typename Box>
struct SuppressionMemory {
  SuppressionMemory(Arena &arena, std::int64_t count)
      : ranked(arena.allocate<Ranked>(count)),
        other(arena.allocate<Ranked>(count)),
        boxes(arena.allocate<Box>(count)),
        suppressed(arena.allocate<unsigned char>(count)) {}
  Ranked *ranked, *other;
  Box *boxes;
  unsigned char *suppressed;
};

// Goes through `count` boxes in their order: writes the numbers of the kept ones to `kept`, at most
// `most` of them, and returns how many there are. read(number) makes the box with a number. Block
// has some kept boxes: kMost of them at most, clear(), add(box), and any_above(box), whether one of
// them suppresses a box.
template <typename Block, typename Box, typename Read>
static inline std::int64_t suppress_ranked(const Ranked *ranked, std::int64_t count, const Read &read, Block &block,
                                           const SuppressionMemory<Box> &memory, std::int64_t most,
                                           std::int32_t *kept) {
  constexpr std::int64_t kBlock = Block::kMost;
  constexpr std::int64_t kGrain = 1024;
  auto prepare = [&](std::int64_t begin, std::int64_t end) {
    if (interrupted()) return;
    for (std::int64_t i = begin; i < end; ++i) {
      memory.boxes[i] = read(ranked[i].index);
      memory.suppressed[i] = 0;
    }
  };
  parallel_for(count, kGrain, prepare);
  std::int64_t found = 0;
  for (std::int64_t begin = 0; begin < count && found < most && !interrupted(); begin += kBlock) {
    const std::int64_t end = smaller(begin + kBlock, count);
    block.clear();
    for (std::int64_t i = begin; i < end && found < most; ++i) {
      if (memory.suppressed[i] != 0 || block.any_above(memory.boxes[i])) continue;
      block.add(memory.boxes[i]);
      kept[found++] = ranked[i].index;
    }
    auto compare = [&](std::int64_t first, std::int64_t last) {
      InterruptPoll poll;
      for (std::int64_t i = end + first; i < end + last; ++i) {
        if (memory.suppressed[i] != 0) continue;
        if (poll.interrupted(kBlock)) return;
        if (block.any_above(memory.boxes[i])) memory.suppressed[i] = 1;
      }
    };
    if (found < most) parallel_for(count - end, kGrain, compare);
  }
  return found;
}

// What is suppressed. Boxes have `columns` numbers each, of which Box reads the first ones.
template <typename Real>
struct Candidates {
  const Real *boxes;
  std::int64_t columns;
  const Real *scores;
  std::int64_t count;
};

// Kept boxes with the overlap that suppresses; where boxes are not near, the overlap is 0.
template <typename Real, typename Box, typename Overlap>
struct NearBlock {
  static constexpr int kMost = KeptBoxes<Real, Box>::kMost;
  void clear() { boxes.clear(); }
  void add(const Box &box) { boxes.add(box); }
  bool any_above(const Box &box) const { return boxes.any_above(box, overlap, threshold); }

  const Overlap &overlap;
  Real threshold;
  KeptBoxes<Real, Box> boxes;
};

// Writes the numbers of the kept boxes to `kept`, in the order of their scores, and returns how
// many there are. A score of minus infinity or NaN counts as none. A box suppresses another one if
// overlap(box, other) > threshold; where boxes are not near, the overlap is 0.
template <typename Real, typename Box, typename Overlap>
static inline std::int64_t suppress(const Candidates<Real> &of, const Overlap &overlap, Real threshold,
                                    const SuppressionMemory<Box> &memory, std::int32_t *kept) {
  const std::int64_t count = ranked_scores(of.scores, of.count, memory.ranked);
  const Ranked *const ranked = sort_ranked(memory.ranked, memory.other, count);
  if (count == 0) return 0;
  if (threshold < 0) {  // the first one suppresses all others
    kept[0] = ranked[0].index;
    return 1;
  }
  NearBlock<Real, Box, Overlap> block{overlap, threshold, {}};
  const auto read = [&of](std::int64_t number) { return Box(of.boxes + number * of.columns); };
  return suppress_ranked(ranked, count, read, block, memory, count, kept);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_SUPPRESSION_H_
