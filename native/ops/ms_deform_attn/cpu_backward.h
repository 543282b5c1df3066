// The backward direction, in two phases. Gradients of locations and weights belong to one query and head each. The gradient of the
// value is owned by batch, head and block of channels: whoever has one goes through all queries in order, so that the order of
// additions does not depend on the thread.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_

#include "ops/ms_deform_attn/cpu_samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// A sum over channels whose order is the same on every level: channel c is added to sum c % 16, then these are added in a tree.
class ChannelSum {
 public:
  static constexpr int kSums = 16;
  static constexpr int kVectors = kSums / kLanes;

  void add(int vector, Vector terms) { sums_[vector] += terms; }

  float total() const {
    float sums[kSums];
    for (int v = 0; v < kVectors; ++v) store(sums + v * kLanes, sums_[v]);
    for (int half = kSums / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    return sums[0];
  }

 private:
  Vector sums_[kVectors] = {};
};

class SampleGradients {
 public:
  SampleGradients(const MsDeformAttnBackwardProblem &problem, const MapLevel *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels) {}

  // Rows are queries and heads, counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      if (!fill_row(row, poll)) return;
    }
  }

 private:
  // Whether the row is whole: else the call is interrupted.
  bool fill_row(std::int64_t row, InterruptPoll &poll) const {
    const std::int64_t batch = row / g_.heads / g_.queries, head = row % g_.heads;
    const std::int64_t stride = g_.heads * g_.channels;
    const float *value = problem_.value + (batch * g_.keys * g_.heads + head) * g_.channels;
    const float *grad = problem_.grad_output + row * g_.channels;
    const std::int64_t samples = g_.levels * g_.points, first = row * samples;
    float *locations = problem_.grad_locations + 2 * first, *weights = problem_.grad_weights + first;
    clear_floats(locations, 2 * samples);
    clear_floats(weights, samples);
    SampleReader<float> reader(g_, levels_, problem_.locations + 2 * first, problem_.weights + first);
    Sample<float> sample;
    while (reader.next(sample)) {
      if (poll.interrupted(8 + kCorners * g_.channels)) return false;
      CornerRows corners;
      corners.find(sample, value, stride);
      fill(sample, corners, grad, locations + 2 * sample.number, weights + sample.number);
    }
    return !poll.interrupted(samples);
  }

  void fill(const Sample<float> &sample, const CornerRows &corners, const float *grad, float *location,
            float *weight) const {
    ChannelSum of_weight, of_x, of_y;
    std::int64_t c = 0;
    for (; c + ChannelSum::kSums <= g_.channels; c += ChannelSum::kSums) {
#pragma GCC unroll 4
      for (int v = 0; v < ChannelSum::kVectors; ++v)
        add<false>(sample, corners, grad, c + v * kLanes, kLanes, v, of_weight, of_x, of_y);
    }
    for (int v = 0; c < g_.channels; ++v, c += kLanes)
      add<true>(sample, corners, grad, c, g_.channels - c, v, of_weight, of_x, of_y);
    *weight = of_weight.total();
    location[0] = of_x.total();
    location[1] = of_y.total();
  }

  // kSome: there may be fewer channels than lanes; others add nothing, not even NaN.
  template <bool kSome>
  [[gnu::always_inline]] static void add(const Sample<float> &s, const CornerRows &corners, const float *grad,
                                         std::int64_t c, std::int64_t lanes, int v, ChannelSum &of_weight,
                                         ChannelSum &of_x, ChannelSum &of_y) {
    Vector value[kCorners];
    for (int corner = 0; corner < kCorners; ++corner) value[corner] = load_some(corners.at(corner, c), lanes);
    const Vector g = load_some(grad + c, lanes);
    const Vector weighted = g * s.weight;
    Vector sampled = s.corner_weight[0] * value[0];
    for (int corner = 1; corner < kCorners; ++corner) sampled += s.corner_weight[corner] * value[corner];
    const Vector along_x = ((s.hy * value[1] - s.hy * value[0]) - s.ly * value[2]) + s.ly * value[3];
    const Vector along_y = ((s.hx * value[2] - s.hx * value[0]) - s.lx * value[1]) + s.lx * value[3];
    const UnsignedVector used = window_bits(0, lanes);
    const auto chosen = [&](Vector terms) { return kSome ? masked(terms, used) : terms; };
    of_weight.add(v, chosen(g * sampled));
    of_x.add(v, chosen((s.width * along_x) * weighted));
    of_y.add(v, chosen((s.height * along_y) * weighted));
  }

  const MsDeformAttnBackwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const MapLevel *const levels_;
};

class ValueGradient {
 public:
  ValueGradient(const MsDeformAttnBackwardProblem &problem, const MapLevel *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels) {
    // Blocks of whole cache lines, as many as give each thread some tasks.
    constexpr std::int64_t kLine = kCacheLine / sizeof(float);
    const std::int64_t lines = (g_.channels + kLine - 1) / kLine;
    const std::int64_t wanted = 4 * thread_count() / (g_.batches * g_.heads) + 1;
    width_ = (lines + wanted - 1) / wanted * kLine;
    blocks_ = (g_.channels + width_ - 1) / width_;
  }

  std::int64_t tasks() const { return g_.batches * g_.heads * blocks_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end && !interrupted(); ++task) add_task(task);
  }

 private:
  void add_task(std::int64_t task) const {
    const std::int64_t batch = task / blocks_ / g_.heads, head = task / blocks_ % g_.heads;
    const std::int64_t channel = task % blocks_ * width_, count = smaller(width_, g_.channels - channel);
    float *value = problem_.grad_value + (batch * g_.keys * g_.heads + head) * g_.channels + channel;
    const std::int64_t samples = g_.levels * g_.points;
    InterruptPoll poll;
    for (std::int64_t query = 0; query < g_.queries; ++query) {
      const std::int64_t row = (batch * g_.queries + query) * g_.heads + head;
      const float *grad = problem_.grad_output + row * g_.channels + channel;
      SampleReader<float> reader(g_, levels_, problem_.locations + 2 * row * samples, problem_.weights + row * samples);
      Sample<float> sample;
      while (reader.next(sample)) {
        if (poll.interrupted(8 + kCorners * count)) return;
        add(sample, grad, value, count);
      }
      if (poll.interrupted(samples)) return;
    }
  }

  void add(const Sample<float> &sample, const float *grad, float *value, std::int64_t count) const {
    for (int corner = 0; corner < kCorners; ++corner) {
      if (sample.key[corner] < 0) continue;
      float *target = value + sample.key[corner] * g_.heads * g_.channels;
      const float corner_weight = sample.corner_weight[corner];
      for (std::int64_t c = 0; c < count; c += kLanes) {
        const Vector sum =
            load_some(target + c, count - c) + corner_weight * (load_some(grad + c, count - c) * sample.weight);
        store_some(target + c, sum, count - c);
      }
    }
  }

  const MsDeformAttnBackwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const MapLevel *const levels_;
  std::int64_t width_, blocks_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_
