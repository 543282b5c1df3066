// Prefetching while other work goes on.
#ifndef MLUOPS_OPS_PSAMASK_CPU_PREFETCHER_H_
#define MLUOPS_OPS_PSAMASK_CPU_PREFETCHER_H_

#include <cstdint>

#include "cpu/kernel.h"
#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Prefetches run by run; hardware prefetchers cannot predict where the next run starts. The
// requests are spread evenly over the steps of other work, because a burst of them would stall.
template <typename Runs>
class Prefetcher {
 public:
  explicit Prefetcher(const Runs &runs) : runs_(runs) {}

  std::int64_t left() const { return runs_.left(); }

  // Issues `requests` of the remaining requests during the next `steps`.
  void schedule(std::int64_t requests, std::int64_t steps) {
    requests_ = requests;
    steps_ = steps;
    due_ = 0;
  }

  [[gnu::always_inline]] void step() {
    for (due_ += requests_; due_ >= steps_; due_ -= steps_) runs_.prefetch_next();
  }

  // A step that transposes a square.
  [[gnu::always_inline]] void on_transpose(const float *, std::int64_t) { step(); }

 private:
  Runs runs_;
  std::int64_t requests_ = 0, steps_ = 1, due_ = 0;
};

// Prefetches a later square while one is transposed: `distance` values ahead, possibly outside the
// array.
class SquarePrefetcher {
 public:
  explicit SquarePrefetcher(std::int64_t distance) : distance_(distance) {}

  [[gnu::always_inline]] void on_transpose(const float *square, std::int64_t stride) const {
    const auto place =
        reinterpret_cast<std::uintptr_t>(square) + static_cast<std::uintptr_t>(distance_) * sizeof(float);
    const float *then = reinterpret_cast<const float *>(place);
    for (int row = 0; row < kLanes; ++row, then += stride) {
      prefetch_value<0, 2>(then, 0);
      prefetch_value<0, 2>(then, kLanes - 1);
    }
  }

 private:
  std::int64_t distance_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_PREFETCHER_H_
