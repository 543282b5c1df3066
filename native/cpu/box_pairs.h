// Values of all pairs of two sets of boxes, or of the boxes that stand in the same place.
#ifndef MLUOPS_CPU_BOX_PAIRS_H_
#define MLUOPS_CPU_BOX_PAIRS_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Box(row) reads a box of Box::kNumbers numbers, and value(a, b) is what a pair gives. Boxes are
// read a tile of both sets at a time, so that no memory is needed but the stack. Those of the
// second set may be of another kind.
template <typename Box, typename Real, typename Value, typename Second = Box>
class BoxPairs {
 public:
  BoxPairs(const Real *first, std::int64_t first_count, const Real *second, std::int64_t second_count, Real *values,
           const Value &value)
      : first_(first),
        first_count_(first_count),
        second_(second),
        second_count_(second_count),
        values_(values),
        value_(value) {}

  // Writes values[i] of the boxes i of both sets.
  void run_aligned() {
    parallel_slots((first_count_ + kTile - 1) / kTile, thread_count(), [&](std::int64_t, std::int64_t tile) {
      const std::int64_t begin = tile * kTile, end = smaller(begin + kTile, first_count_);
      if (interrupted()) return;
      for (std::int64_t i = begin; i < end; ++i) values_[i] = value_(at<Box>(first_, i), at<Second>(second_, i));
    });
  }

  // Writes values[i, j] of box i of the first set and box j of the second one.
  void run() {
    const std::int64_t rows = (first_count_ + kTile - 1) / kTile, columns = (second_count_ + kTile - 1) / kTile;
    parallel_slots(rows * columns, thread_count(),
                   [&](std::int64_t, std::int64_t task) { run_tile(task / columns * kTile, task % columns * kTile); });
  }

 private:
  static constexpr std::int64_t kTile = 64;

  template <typename Any>
  static Any at(const Real *boxes, std::int64_t i) {
    return Any(boxes + i * Any::kNumbers);
  }

  void run_tile(std::int64_t row, std::int64_t column) const {
    if (interrupted()) return;
    const std::int64_t rows = smaller(kTile, first_count_ - row), columns = smaller(kTile, second_count_ - column);
    Second tile[kTile];
    for (std::int64_t j = 0; j < columns; ++j) tile[j] = at<Second>(second_, column + j);
    for (std::int64_t i = row; i < row + rows; ++i) {
      const Box box = at<Box>(first_, i);
      Real *const values = values_ + i * second_count_ + column;
      for (std::int64_t j = 0; j < columns; ++j) values[j] = value_(box, tile[j]);
    }
  }

  const Real *first_;
  const std::int64_t first_count_;
  const Real *second_;
  const std::int64_t second_count_;
  Real *values_;
  const Value &value_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_BOX_PAIRS_H_
