// Sorting in place, interruptible and without the C++ library.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_HEAP_SORT_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_HEAP_SORT_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

static inline void swap(std::int32_t &a, std::int32_t &b) {
  const std::int32_t kept = a;
  a = b;
  b = kept;
}

static inline void sift_down(std::int32_t *values, std::int64_t root, std::int64_t count) {
  for (std::int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && values[child] < values[child + 1]) ++child;
    if (values[root] >= values[child]) return;
    swap(values[root], values[child]);
    root = child;
  }
}

// Ascending; not sorted if the call is interrupted.
static inline void heap_sort(std::int32_t *values, std::int64_t count) {
  InterruptPoll poll;
  for (std::int64_t start = count / 2 - 1; start >= 0 && !poll.interrupted(16); --start)
    sift_down(values, start, count);
  for (std::int64_t end = count - 1; end > 0 && !poll.interrupted(64); --end) {
    swap(values[0], values[end]);
    sift_down(values, 0, end);
  }
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_HEAP_SORT_H_
