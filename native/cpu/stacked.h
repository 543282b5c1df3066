// Clouds of points in one array: of one size, or stacked, the rows of all batches one after
// another.
#ifndef MLUOPS_CPU_STACKED_H_
#define MLUOPS_CPU_STACKED_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The batch that has a row; `first` has where the rows of each of them begin, and end.
static inline std::int64_t batch_of(const std::int64_t *first, std::int64_t batches, std::int64_t row) {
  std::int64_t low = 0, high = batches;  // first[low] <= row < first[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (first[middle] <= row ? low : high) = middle;
  }
  return low;
}

// Rows of batches: `each` of a batch, or as `first` says.
struct BatchRows {
  std::int64_t batches;
  std::int64_t each;
  const std::int64_t *first;

  std::int64_t begin(std::int64_t batch) const { return first == nullptr ? batch * each : first[batch]; }
  std::int64_t end(std::int64_t batch) const { return begin(batch + 1); }
  std::int64_t count(std::int64_t batch) const { return begin(batch + 1) - begin(batch); }
  std::int64_t all() const { return begin(batches); }
  std::int64_t batch_of(std::int64_t row) const {
    return first == nullptr ? row / each : MLUOPS_LEVEL::batch_of(first, batches, row);
  }
};

// Calls body(batch, begin, end) for blocks of at most `most` of the rows begin .. end, each of one
// batch, until the call is interrupted.
template <typename Body>
static inline void for_blocks(const BatchRows &rows, std::int64_t begin, std::int64_t end, std::int64_t most,
                              const Body &body) {
  while (begin < end && !interrupted()) {
    const std::int64_t batch = rows.batch_of(begin);
    const std::int64_t last = smaller(smaller(end, rows.end(batch)), begin + most);
    body(batch, begin, last);
    begin = last;
  }
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_STACKED_H_
