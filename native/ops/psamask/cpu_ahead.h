// Asking for memory while other work goes on.
#ifndef MLUOPS_OPS_PSAMASK_CPU_AHEAD_H_
#define MLUOPS_OPS_PSAMASK_CPU_AHEAD_H_

#include <cstdint>

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Asks for what will be read soon, run by run: each lies too far from the next for the hardware to foresee it. Requests are dealt out to
// the steps of the work that goes on meanwhile, since many at once have to wait.
template <typename Runs>
class Ahead {
 public:
  explicit Ahead(const Runs &runs) : runs_(runs) {}

  std::int64_t left() const { return runs_.left(); }

  // `requests` of those that are left belong to the next `steps`.
  void deal(std::int64_t requests, std::int64_t steps) {
    requests_ = requests;
    steps_ = steps;
    due_ = 0;
  }

  [[gnu::always_inline]] void step() {
    for (due_ += requests_; due_ >= steps_; due_ -= steps_) runs_.ask();
  }

 private:
  Runs runs_;
  std::int64_t requests_ = 0, steps_ = 1, due_ = 0;
};

// Where all comes from the caches.
struct NothingAhead {
  void step() const {}
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_AHEAD_H_
