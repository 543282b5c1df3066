// The backward direction. The gradient of the value is owned by batch, head and block of channels: whoever has one goes through all
// queries in order, so that the order of additions does not depend on the thread. Gradients of locations and weights belong to one
// query and head each. If there are enough batches and heads for the threads, a task makes all gradients of one batch and head, and
// places each sample once. Else gradients of locations and weights come first, with tasks of some queries and heads.
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
    Vector sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = sums_[v];
    for (int half = kVectors / 2; half > 0; half /= 2) {
      for (int v = 0; v < half; ++v) sums[v] += sums[v + half];
    }
    return sum_of_lanes<kLanes / 2>(sums[0]);
  }

 private:
  template <int kHalf>
  struct Behind {
    static constexpr int of(int k) { return (k + kHalf) % kLanes; }
  };

  // In a tree whose first level adds lanes i and i + kHalf.
  template <int kHalf>
  static float sum_of_lanes(Vector vector) {
    if constexpr (kHalf == 0) {
      return vector[0];
    } else {
      return sum_of_lanes<kHalf / 2>(vector + pick<Behind<kHalf>>(vector, vector, AllLanes()));
    }
  }

  Vector sums_[kVectors] = {};
};

// Computes the gradients of the location and of the weight of one sample.
class SampleGradient {
 public:
  static void fill(const PlacedSamples &placed, int i, const CornerRows &corners, const float *grad,
                   std::int64_t channels, float *location, float *weight) {
    ChannelSum of_weight, of_x, of_y;
    std::int64_t c = 0;
    for (; c + ChannelSum::kSums <= channels; c += ChannelSum::kSums) {
#pragma GCC unroll 4
      for (int v = 0; v < ChannelSum::kVectors; ++v)
        add<false>(placed, i, corners, grad, c + v * kLanes, kLanes, v, of_weight, of_x, of_y);
    }
    for (int v = 0; c < channels; ++v, c += kLanes)
      add<true>(placed, i, corners, grad, c, channels - c, v, of_weight, of_x, of_y);
    *weight = of_weight.total();
    location[0] = of_x.total();
    location[1] = of_y.total();
  }

 private:
  // kSome: there may be fewer channels than lanes; others add nothing, not even NaN.
  template <bool kSome>
  [[gnu::always_inline]] static void add(const PlacedSamples &p, int i, const CornerRows &corners, const float *grad,
                                         std::int64_t c, std::int64_t lanes, int v, ChannelSum &of_weight,
                                         ChannelSum &of_x, ChannelSum &of_y) {
    Vector value[kCorners];
    for (int corner = 0; corner < kCorners; ++corner) value[corner] = load_some(corners.at(corner, c), lanes);
    const Vector g = load_some(grad + c, lanes);
    const Vector weighted = g * p.weight[i];
    Vector sampled = p.corner_weight[0][i] * value[0];
    for (int corner = 1; corner < kCorners; ++corner) sampled += p.corner_weight[corner][i] * value[corner];
    const Vector along_x = ((p.hy[i] * value[1] - p.hy[i] * value[0]) - p.ly[i] * value[2]) + p.ly[i] * value[3];
    const Vector along_y = ((p.hx[i] * value[2] - p.hx[i] * value[0]) - p.lx[i] * value[1]) + p.lx[i] * value[3];
    const UnsignedVector used = window_bits(0, lanes);
    const auto chosen = [&](Vector terms) { return kSome ? masked(terms, used) : terms; };
    of_weight.add(v, chosen(g * sampled));
    of_x.add(v, chosen((p.width[i] * along_x) * weighted));
    of_y.add(v, chosen((p.height[i] * along_y) * weighted));
  }
};

class MsDeformAttnBackward {
 public:
  MsDeformAttnBackward(const MsDeformAttnBackwardProblem &problem, const LaneLevels *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels), samples_(g_.levels * g_.points) {
    // Blocks of whole cache lines, as many as give each thread some tasks.
    constexpr std::int64_t kLine = kCacheLine / sizeof(float);
    const std::int64_t lines = (g_.channels + kLine - 1) / kLine;
    const std::int64_t heads = g_.batches * g_.heads, wanted = (4 * thread_count() + heads - 1) / heads;
    width_ = (lines + wanted - 1) / wanted * kLine;
    blocks_ = (g_.channels + width_ - 1) / width_;
    at_once_ = thread_count() == 1 || heads >= 2 * thread_count();
  }

  void run(std::int64_t rows_per_task) const {
    const std::int64_t heads = g_.batches * g_.heads;
    auto all = [this](std::int64_t begin, std::int64_t end) { make_all(begin, end); };
    if (at_once_) return parallel_for(heads, 1, all);
    auto samples = [this](std::int64_t begin, std::int64_t end) { of_samples(begin, end); };
    parallel_for(heads * g_.queries, rows_per_task, samples);
    auto value = [this](std::int64_t begin, std::int64_t end) { of_value(begin, end); };
    if (!interrupted()) parallel_for(heads * blocks_, 1, value);
  }

 private:
  // The value of a batch and head, and its gradient: rows of channels, of which the keys are `stride` apart.
  struct Plane {
    const float *value;
    float *gradient;
    std::int64_t stride;
  };

  Plane plane_of(std::int64_t task) const {
    const std::int64_t first = (task / g_.heads * g_.keys * g_.heads + task % g_.heads) * g_.channels;
    return {problem_.value + first, problem_.grad_value + first, g_.heads * g_.channels};
  }

  // Tasks are batches and heads. Their planes are copied: in the tensors the keys of a head are often powers of two apart, so
  // that they share few sets of a cache. Without memory for the copies the tensors are used.
  void make_all(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t size = g_.keys * g_.channels;
    // A masked store slows the next load down that overlaps it, so rows of less than a vector stay apart.
    const bool copies = g_.heads > 1 && size > 0 && g_.channels % kLanes == 0;
    const Scratch<float> value(copies ? size : 0), gradient(copies ? size : 0);
    for (std::int64_t task = begin; task < end; ++task) {
      const Plane plane = plane_of(task), copy = {value.data(), gradient.data(), g_.channels};
      if (!copies || copy.value == nullptr || copy.gradient == nullptr) {
        if (!go_through<true, true>(task, plane, 0, g_.channels, poll)) return;
        continue;
      }
      if (!copy_rows(value.data(), copy.stride, plane.value, plane.stride, poll)) return;
      clear_floats_interruptible(copy.gradient, size);
      if (!go_through<true, true>(task, copy, 0, g_.channels, poll)) return;
      if (!copy_rows(plane.gradient, plane.stride, copy.gradient, copy.stride, poll)) return;
    }
  }

  // Copies the channels of all keys. False: the call is interrupted.
  bool copy_rows(float *to, std::int64_t to_stride, const float *from, std::int64_t from_stride,
                 InterruptPoll &poll) const {
    for (std::int64_t key = 0; key < g_.keys; ++key) {
      if (poll.interrupted(g_.channels)) return false;
      std::memcpy(to + key * to_stride, from + key * from_stride,
                  static_cast<std::size_t>(g_.channels) * sizeof(float));
    }
    return true;
  }

  // Tasks are batches, heads and blocks of channels.
  void of_value(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t channel = task % blocks_ * width_;
      if (!go_through<false, true>(task / blocks_, plane_of(task / blocks_), channel,
                                   smaller(width_, g_.channels - channel), poll))
        return;
    }
  }

  // Rows are queries and heads, counted through all batches.
  void of_samples(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      if (!process<true, false>(row, plane_of(row / g_.heads / g_.queries * g_.heads + row % g_.heads), 0, g_.channels,
                                poll))
        return;
    }
  }

  // All queries of a batch and head. False: the call is interrupted.
  template <bool kSamples, bool kValue>
  bool go_through(std::int64_t task, const Plane &plane, std::int64_t channel, std::int64_t count,
                  InterruptPoll &poll) const {
    const std::int64_t batch = task / g_.heads, head = task % g_.heads;
    for (std::int64_t query = 0; query < g_.queries; ++query) {
      if (!process<kSamples, kValue>((batch * g_.queries + query) * g_.heads + head, plane, channel, count, poll))
        return false;
    }
    return true;
  }

  // The row's gradients of its samples, and what it adds to `count` channels of the gradient of the value. False: the call is
  // interrupted.
  template <bool kSamples, bool kValue>
  bool process(std::int64_t row, const Plane &plane, std::int64_t channel, std::int64_t count,
               InterruptPoll &poll) const {
    const std::int64_t sample = row * samples_;
    const float *grad = problem_.grad_output + row * g_.channels;
    float *locations = problem_.grad_locations + 2 * sample, *weights = problem_.grad_weights + sample;
    if constexpr (kSamples) {
      clear_floats(locations, 2 * samples_);
      clear_floats(weights, samples_);
    }
    PlacedSamples placed;
    for (std::int64_t first = 0; first < samples_; first += kLanes) {
      if (poll.interrupted(kLanes * (8 + kCorners * count))) return false;
      place_samples(levels_[first / kLanes], problem_.locations + 2 * (sample + first),
                    problem_.weights + sample + first, smaller<std::int64_t>(kLanes, samples_ - first), placed);
      for_each_sample(placed, [&](int i) {
        if constexpr (kSamples) {
          CornerRows corners;
          corners.find(placed, i, plane.value, plane.stride);
          SampleGradient::fill(placed, i, corners, grad, g_.channels, locations + 2 * (first + i), weights + first + i);
        }
        if constexpr (kValue) add(placed, i, grad + channel, plane.gradient + channel, plane.stride, count);
      });
    }
    return true;
  }

  void add(const PlacedSamples &placed, int i, const float *grad, float *value, std::int64_t stride,
           std::int64_t count) const {
    for (int corner = 0; corner < kCorners; ++corner) {
      if ((placed.inside[corner] >> i & 1) == 0) continue;
      float *target = value + key_of(placed, i, corner) * stride;
      const float corner_weight = placed.corner_weight[corner][i];
      for (std::int64_t c = 0; c < count; c += kLanes) {
        const Vector sum =
            load_some(target + c, count - c) + corner_weight * (load_some(grad + c, count - c) * placed.weight[i]);
        store_some(target + c, sum, count - c);
      }
    }
  }

  const MsDeformAttnBackwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const LaneLevels *const levels_;
  const std::int64_t samples_;
  std::int64_t width_, blocks_;
  bool at_once_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_
