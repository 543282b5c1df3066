// Both directions in double, a sample at a time.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_DOUBLE_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_DOUBLE_H_

#include "ops/ms_deform_attn/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

inline const double *doubles(const void *values) { return static_cast<const double *>(values); }
inline double *doubles(void *values) { return static_cast<double *>(values); }

// A sample that counts. A corner outside of the map has key -1.
struct DoubleSample {
  std::int64_t key[kCorners];
  double corner_weight[kCorners];
  double hy, hx, ly, lx;  // distances from the upper and lower corners
  double height, width;
  double weight;        // of attention
  std::int64_t number;  // among those of its query and head
};

// The largest whole number up to x, which an int32 holds.
inline std::int32_t floor_of(double x) {
  const std::int32_t whole = static_cast<std::int32_t>(x);
  return static_cast<double>(whole) > x ? whole - 1 : whole;
}

// Whether the sample at `location`, (x, y), counts; a NaN does not.
inline bool place_sample(const MapLevel &level, const double *location, DoubleSample &sample) {
  const double width = static_cast<double>(level.width), height = static_cast<double>(level.height), half = 0.5;
  const double x = read_once(location) * width - half;
  const double y = read_once(location + 1) * height - half;
  if (!(x > -1 && y > -1 && x < width && y < height)) return false;
  const std::int32_t xl = floor_of(x), yl = floor_of(y);
  sample.lx = x - static_cast<double>(xl);
  sample.ly = y - static_cast<double>(yl);
  sample.hx = 1 - sample.lx;
  sample.hy = 1 - sample.ly;
  sample.width = width;
  sample.height = height;
  for (int corner = 0; corner < kCorners; ++corner) {
    const bool lower = corner >= 2, right = corner % 2 != 0;
    const std::int64_t row = std::int64_t{yl} + (lower ? 1 : 0), column = std::int64_t{xl} + (right ? 1 : 0);
    const bool inside = row >= 0 && row < level.height && column >= 0 && column < level.width;
    sample.key[corner] = inside ? level.start + row * level.width + column : -1;
    sample.corner_weight[corner] = (lower ? sample.ly : sample.hy) * (right ? sample.lx : sample.hx);
  }
  return true;
}

// Goes through the samples of a query and head, level by level.
class DoubleSampleReader {
 public:
  DoubleSampleReader(const MsDeformAttnGeometry &g, const MapLevel *levels, const double *locations,
                     const double *weights)
      : count_(g.levels * g.points), points_(g.points), level_(levels), locations_(locations), weights_(weights) {}

  // The next sample that counts; false behind the last one.
  bool next(DoubleSample &sample) {
    while (number_ < count_) {
      if (point_ == points_) {
        point_ = 0;
        ++level_;
      }
      const std::int64_t number = number_++;
      ++point_;
      if (!place_sample(*level_, locations_ + 2 * number, sample)) continue;
      sample.weight = weights_[number];
      sample.number = number;
      return true;
    }
    return false;
  }

 private:
  const std::int64_t count_, points_;
  const MapLevel *level_;
  const double *const locations_;
  const double *const weights_;
  std::int64_t number_ = 0, point_ = 0;
};

// The values of a corner's channels, which are 0 outside of the map. `value` is that of the batch
// and head.
struct DoubleCorners {
  DoubleCorners(const MsDeformAttnGeometry &g, const double *value, const DoubleSample &sample) {
    for (int corner = 0; corner < kCorners; ++corner)
      row[corner] = sample.key[corner] < 0 ? nullptr : value + sample.key[corner] * g.heads * g.channels;
  }
  double at(int corner, std::int64_t c) const { return row[corner] == nullptr ? 0 : row[corner][c]; }
  const double *row[kCorners];
};

// The common part of both directions for a row: a query and head, counted through all batches.
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
  DoubleSampleReader reader;
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
      DoubleSample sample;
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
      DoubleSample sample;
      while (row.reader.next(sample)) {
        if (poll.interrupted(8 + kCorners * row.g.channels)) return;
        add(row.g, sample, DoubleCorners(row.g, row.value, sample), grad, locations + 2 * sample.number,
            weights + sample.number);
      }
      if (poll.interrupted(row.g.levels * row.g.points)) return;
    }
  }

  static void add(const MsDeformAttnGeometry &g, const DoubleSample &s, const DoubleCorners &corners,
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
        DoubleSample sample;
        while (row.reader.next(sample)) {
          if (poll.interrupted(8 + kCorners * g.channels)) return;
          add(g, sample, grad, value);
        }
        if (poll.interrupted(g.levels * g.points)) return;
      }
    }
  }

  static void add(const MsDeformAttnGeometry &g, const DoubleSample &sample, const double *grad, double *value) {
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
