// Both directions in double, a channel at a time.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_CPU_DOUBLE_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_CPU_DOUBLE_H_

#include "cpu/kernel.h"
#include "ops/three_interpolate/three_interpolate.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Calls body(n, number of the source, weight) for the three neighbours of each target of a batch,
// those out of range left out, until the call is interrupted.
template <typename Body>
inline void for_neighbours(const ThreeInterpolateGeometry &g, const std::int32_t *indices, const void *weights,
                           std::int64_t batch, const Body &body) {
  const std::int64_t first = batch * g.targets * kNeighbours;
  const double *weight = static_cast<const double *>(weights) + first;
  for_slices(0, g.targets * kNeighbours, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t chosen = read_once(indices + first + i);
      if (chosen >= 0 && chosen < g.sources) body(i / kNeighbours, chosen, weight[i]);
    }
  });
}

inline void clear_doubles(double *values, std::int64_t count) {
  for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) values[i] = 0;
  });
}

struct DoubleForward {
  const ThreeInterpolateForwardProblem &problem;

  // Rows are channels, counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    for (std::int64_t row = begin; row < end && !interrupted(); ++row) {
      const double *features = static_cast<const double *>(problem.features) + row * g.sources;
      double *output = static_cast<double *>(problem.output) + row * g.targets;
      clear_doubles(output, g.targets);
      for_neighbours(g, problem.indices, problem.weights, row / g.channels,
                     [&](std::int64_t n, std::int32_t m, double weight) { output[n] += weight * features[m]; });
    }
  }
};

struct DoubleBackward {
  const ThreeInterpolateBackwardProblem &problem;

  void operator()(std::int64_t begin, std::int64_t end) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    for (std::int64_t row = begin; row < end && !interrupted(); ++row) {
      const double *gradient = static_cast<const double *>(problem.grad_output) + row * g.targets;
      double *sums = static_cast<double *>(problem.grad_features) + row * g.sources;
      clear_doubles(sums, g.sources);
      for_neighbours(g, problem.indices, problem.weights, row / g.channels,
                     [&](std::int64_t n, std::int32_t m, double weight) { sums[m] += weight * gradient[n]; });
    }
  }
};

// Rows per piece.
inline std::int64_t double_grain(const ThreeInterpolateGeometry &g) {
  return (1 << 14) / (g.sources + g.targets * kNeighbours) + 1;
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_CPU_DOUBLE_H_
