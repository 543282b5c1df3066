// ThreeNN in double: each unknown point goes through the known points in order.
#ifndef MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_
#define MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_

#include "cpu/points.h"
#include "cpu/stacked.h"
#include "ops/three_nn/three_nn.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The points of all batches.
struct Clouds {
  explicit Clouds(const ThreeNNForwardProblem &p)
      : problem(p), unknown{p.batches, p.unknowns, p.unknown_rows}, known{p.batches, p.knowns, p.known_rows} {}

  // Whether the unknown points of a batch are done.
  bool has_tree(std::int64_t batch) const { return trees != nullptr && trees[batch]; }
  // What is added to the indices of a batch.
  std::int32_t base(std::int64_t batch) const {
    return known.first == nullptr ? 0 : static_cast<std::int32_t>(known.begin(batch));
  }

  const ThreeNNForwardProblem &problem;
  const BatchRows unknown, known;
  const bool *trees = nullptr;
};

struct DoubleThreeNN {
  const Clouds &clouds;

  // Unknown points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t batch = clouds.unknown.batch_of(number);
      if (poll.interrupted(clouds.known.count(batch) + 1)) return;
      find(number, batch, static_cast<const double *>(clouds.problem.unknown) + number * kCoordinates);
    }
  }

  void find(std::int64_t number, std::int64_t batch, const double *point) const {
    const double *known = static_cast<const double *>(clouds.problem.known);
    known += clouds.known.begin(batch) * kCoordinates;
    double best[kNearest] = {__builtin_inf(), __builtin_inf(), __builtin_inf()};
    std::int32_t index[kNearest] = {};
    for_slices(0, clouds.known.count(batch), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const double *other = known + k * kCoordinates;
        const double dx = other[0] - point[0], dy = other[1] - point[1], dz = other[2] - point[2];
        insert((dx * dx + dy * dy) + dz * dz, static_cast<std::int32_t>(k), best, index);
      }
    });
    for (int i = 0; i < kNearest; ++i) {
      static_cast<double *>(clouds.problem.dist2)[number * kNearest + i] = best[i];
      clouds.problem.indices[number * kNearest + i] = clouds.base(batch) + index[i];
    }
  }

  // Keeps the earlier index unless `d2` is smaller, which a NaN never is.
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

void run_in_double(const Clouds &clouds) {
  constexpr std::int64_t kDistances = 1 << 16, kLeast = 8;
  DoubleThreeNN body{clouds};
  const std::int64_t each = clouds.problem.knowns / (clouds.known.first == nullptr ? 1 : clouds.known.batches);
  parallel_for(clouds.unknown.all(), larger(kLeast, kDistances / (each + 1)), body);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_NN_CPU_DOUBLE_H_
