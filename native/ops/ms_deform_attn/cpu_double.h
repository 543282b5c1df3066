// Both directions in double, a sample at a time.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_DOUBLE_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_DOUBLE_H_

#include "ops/ms_deform_attn/cpu_samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

inline const double *doubles(const void *values) { return static_cast<const double *>(values); }
inline double *doubles(void *values) { return static_cast<double *>(values); }

// The values of a corner's channels, which are 0 outside of the map. `value` is that of the batch and head.
struct DoubleCorners {
  DoubleCorners(const MsDeformAttnGeometry &g, const double *value, const Sample<double> &sample) {
    for (int corner = 0; corner < kCorners; ++corner)
      row[corner] = sample.key[corner] < 0 ? nullptr : value + sample.key[corner] * g.heads * g.channels;
  }
  double at(int corner, std::int64_t c) const { return row[corner] == nullptr ? 0 : row[corner][c]; }
  const double *row[kCorners];
};

// What both directions know of a row: a query and head, counted through all batches.
struct DoubleRow {
  template <typename Problem>
  DoubleRow(const Problem &problem, const MapLevel *levels, std::int64_t row)
      : g(problem.geometry),
        first(row * g.levels * g.points),
        head_offset((row / g.heads / g.queries * g.keys * g.heads + row % g.heads) * g.channels),
        value(doubles(problem.value) + head_offset),
        reader(g, levels, doubles(problem.locations) + 2 * first, doubles(problem.weights) + first) {}

  const MsDeformAttnGeometry &g;
  const std::int64_t first;        // sample
  const std::int64_t head_offset;  // of the batch and head in the value
  const double *const value;
  SampleReader<double> reader;
};

struct DoubleForward {
  const MsDeformAttnForwardProblem &problem;
  const MapLevel *levels;

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      DoubleRow row(problem, levels, number);
      double *const output = doubles(problem.output) + number * row.g.channels;
      for (std::int64_t c = 0; c < row.g.channels; ++c) output[c] = 0;
      Sample<double> sample;
      while (row.reader.next(sample)) {
        if (poll.interrupted(8 + kCorners * row.g.channels)) return;
        const DoubleCorners corners(row.g, row.value, sample);
        for (std::int64_t c = 0; c < row.g.channels; ++c) {
          double sum = 0;
          for (int corner = 0; corner < kCorners; ++corner) sum += sample.corner_weight[corner] * corners.at(corner, c);
          output[c] += sample.weight * sum;
        }
      }
      if (poll.interrupted(row.g.levels * row.g.points)) return;
    }
  }
};

// Gradients of locations and weights.
struct DoubleSampleGradients {
  const MsDeformAttnBackwardProblem &problem;
  const MapLevel *levels;

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      DoubleRow row(problem, levels, number);
      double *const locations = doubles(problem.grad_locations) + 2 * row.first;
      double *const weights = doubles(problem.grad_weights) + row.first;
      for (std::int64_t i = 0; i < row.g.levels * row.g.points; ++i)
        weights[i] = locations[2 * i] = locations[2 * i + 1] = 0;
      const double *grad = doubles(problem.grad_output) + number * row.g.channels;
      Sample<double> sample;
      while (row.reader.next(sample)) {
        if (poll.interrupted(8 + kCorners * row.g.channels)) return;
        add(row.g, sample, DoubleCorners(row.g, row.value, sample), grad, locations + 2 * sample.number,
            weights + sample.number);
      }
      if (poll.interrupted(row.g.levels * row.g.points)) return;
    }
  }

  static void add(const MsDeformAttnGeometry &g, const Sample<double> &s, const DoubleCorners &corners,
                  const double *grad, double *location, double *weight) {
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const double v[kCorners] = {corners.at(0, c), corners.at(1, c), corners.at(2, c), corners.at(3, c)};
      for (int corner = 0; corner < kCorners; ++corner) *weight += grad[c] * (s.corner_weight[corner] * v[corner]);
      const double along_x = s.hy * (v[1] - v[0]) + s.ly * (v[3] - v[2]);
      const double along_y = s.hx * (v[2] - v[0]) + s.lx * (v[3] - v[1]);
      location[0] += s.width * along_x * (grad[c] * s.weight);
      location[1] += s.height * along_y * (grad[c] * s.weight);
    }
  }
};

// The gradient of the value: a task is a batch and head, and goes through all queries in order.
struct DoubleValueGradient {
  const MsDeformAttnBackwardProblem &problem;
  const MapLevel *levels;

  void operator()(std::int64_t begin, std::int64_t end) const {
    const MsDeformAttnGeometry &g = problem.geometry;
    InterruptPoll poll;
    for (std::int64_t task = begin; task < end; ++task) {
      for (std::int64_t query = 0; query < g.queries; ++query) {
        const std::int64_t number = (task / g.heads * g.queries + query) * g.heads + task % g.heads;
        DoubleRow row(problem, levels, number);
        double *const value = doubles(problem.grad_value) + row.head_offset;
        const double *grad = doubles(problem.grad_output) + number * g.channels;
        Sample<double> sample;
        while (row.reader.next(sample)) {
          if (poll.interrupted(8 + kCorners * g.channels)) return;
          add(g, sample, grad, value);
        }
        if (poll.interrupted(g.levels * g.points)) return;
      }
    }
  }

  static void add(const MsDeformAttnGeometry &g, const Sample<double> &sample, const double *grad, double *value) {
    for (int corner = 0; corner < kCorners; ++corner) {
      if (sample.key[corner] < 0) continue;
      double *const target = value + sample.key[corner] * g.heads * g.channels;
      for (std::int64_t c = 0; c < g.channels; ++c)
        target[c] += sample.corner_weight[corner] * (grad[c] * sample.weight);
    }
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_DOUBLE_H_
