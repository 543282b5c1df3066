// ThreeNN in double: each unknown point goes through the known points in order.
#ifndef MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_
#define MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_

#include "cpu/points.h"
#include "ops/three_nn/three_nn.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

struct DoubleThreeNN {
  const ThreeNNForwardProblem &problem;

  // Unknown points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      if (poll.interrupted(problem.knowns + 1)) return;
      find(number, static_cast<const double *>(problem.unknown) + number * kCoordinates);
    }
  }

  void find(std::int64_t number, const double *point) const {
    const double *known = static_cast<const double *>(problem.known);
    known += number / problem.unknowns * problem.knowns * kCoordinates;
    double best[kNearest] = {__builtin_inf(), __builtin_inf(), __builtin_inf()};
    std::int32_t index[kNearest] = {};
    for_slices(0, problem.knowns, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const double *other = known + k * kCoordinates;
        const double dx = other[0] - point[0], dy = other[1] - point[1], dz = other[2] - point[2];
        insert((dx * dx + dy * dy) + dz * dz, static_cast<std::int32_t>(k), best, index);
      }
    });
    for (int i = 0; i < kNearest; ++i) {
      static_cast<double *>(problem.dist2)[number * kNearest + i] = best[i];
      problem.indices[number * kNearest + i] = index[i];
    }
  }

  // Where `d2` is not smaller, which it never is as a NaN, an earlier index stays.
  static void insert(double d2, std::int32_t k, double (&best)[kNearest], std::int32_t (&index)[kNearest]) {
    if (!(d2 < best[kNearest - 1])) return;
    int place = kNearest - 1;
    for (; place > 0 && d2 < best[place - 1]; --place) {
      best[place] = best[place - 1];
      index[place] = index[place - 1];
    }
    best[place] = d2;
    index[place] = k;
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_
