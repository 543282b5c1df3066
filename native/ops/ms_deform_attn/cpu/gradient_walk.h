// Goes through queries of a plane for gradients: a sample at a time, whose channels stay in
// registers.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_GRADIENT_WALK_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_GRADIENT_WALK_H_

#include "ops/ms_deform_attn/cpu/channel_sums.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The contributions of some channels to the gradients of a sample. `weighted` is the gradient of
// the output times the weight of attention.
template <typename V>
struct SampleTerms {
  [[gnu::always_inline]] SampleTerms(const PlacedSamples &p, std::int64_t i, const V (&value)[kCorners], V grad,
                                     V weighted) {
    V sampled = p.corner_weight[0][i] * value[0];
    for (int corner = 1; corner < kCorners; ++corner) sampled += p.corner_weight[corner][i] * value[corner];
    const V along_x = ((p.hy[i] * value[1] - p.hy[i] * value[0]) - p.ly[i] * value[2]) + p.ly[i] * value[3];
    const V along_y = ((p.hx[i] * value[2] - p.hx[i] * value[0]) - p.lx[i] * value[1]) + p.lx[i] * value[3];
    of_weight = grad * sampled;
    of_x = (p.width[i] * along_x) * weighted;
    of_y = (p.height[i] * along_y) * weighted;
  }

  V of_weight, of_x, of_y;
};

// The value of a batch and head, and its gradient: rows of channels, of which the keys are `stride`
// apart.
struct GradientPlane {
  const float *value;
  float *gradient;
  std::int64_t stride;
};

typedef float EightChannels __attribute__((vector_size(8 * sizeof(float))));

// Computes the gradients of samples, or their contributions to the gradient of the value, or both.
// kSums: see ChannelSums.
template <bool kSamples, bool kValue, int kSums>
class GradientWalk {
 public:
  // For the value's gradient, `count` channels from `channel` on; for those of samples, all
  // channels.
  GradientWalk(const MsDeformAttnBackwardProblem &problem, const LaneLevels *levels, const GradientPlane &plane,
               std::int64_t channel, std::int64_t count)
      : problem_(problem), g_(problem.geometry), levels_(levels), plane_(plane), channel_(channel), count_(count) {}

  // Processes queries from `query` on of plane `number`. False if the call is interrupted.
  bool go(std::int64_t number, std::int64_t query, std::int64_t end, InterruptPoll &poll) {
    for (const std::int64_t at_once = queries_at_once(g_); query < end; query += at_once) {
      if (!process(row_of(g_, number, query), smaller(at_once, end - query), poll)) return false;
    }
    return true;
  }

 private:
  // Some queries, of which the first is in this row.
  bool process(std::int64_t row, std::int64_t queries, InterruptPoll &poll) {
    const std::int64_t samples = g_.levels * g_.points;
    for (std::int64_t first = 0; first < samples; first += kLanes) {
      if (poll.interrupted(kLanes * (8 + kCorners * count_))) return false;
      const std::int64_t sample = row * samples + first;
      const SampleLanes lanes = {queries, smaller<std::int64_t>(kLanes, samples - first), g_.heads * samples};
      place_samples(levels_[first / kLanes], lanes, problem_.locations + 2 * sample, problem_.weights + sample,
                    plane_.stride, placed_);
      if (first == 0)
        lanes.prefetch_later<0>(problem_.grad_output + row * g_.channels + channel_, count_, g_.heads * g_.channels);
      if constexpr (kSamples) {
        lanes.prefetch_later<1>(problem_.grad_locations + 2 * sample, 2 * lanes.each, 2 * lanes.stride);
        lanes.prefetch_later<1>(problem_.grad_weights + sample, lanes.each, lanes.stride);
      }
      for (std::int64_t c = 0; c < count_; c += kMostChannels) add_channels(row, lanes, c);
      if constexpr (kSamples)
        sums_.write(placed_, lanes, problem_.grad_locations + 2 * sample, problem_.grad_weights + sample);
    }
    return true;
  }

  // Adds the channels that are processed together.
  void add_channels(std::int64_t row, const SampleLanes &lanes, std::int64_t channel) {
    const std::int64_t count = smaller(kMostChannels, count_ - channel), first = channel_ + channel;
    if constexpr (kSamples) values_.find(placed_, plane_.value + first, kZeros);
    if constexpr (kValue) targets_.find(placed_, plane_.gradient + first, beyond_);
    const float *grad = problem_.grad_output + row * g_.channels + first;
    const unsigned counts = lane_bits(reinterpret_cast<IntVector>(placed_.counts));
    for (std::int64_t query = 0, i = 0; query < lanes.queries; ++query, grad += g_.heads * g_.channels) {
      for (const std::int64_t end = i + lanes.each; i < end; ++i) {
        if (counts >> i & 1) add_sample(i, grad, count, channel > 0);
      }
    }
  }

  // goes_on: the sums hold those of the channels before these.
  [[gnu::always_inline]] void add_sample(std::int64_t i, const float *grad, std::int64_t count, bool goes_on) {
    if constexpr (kSums == 8) {
      SumVectors<EightChannels, 1> sums;
      add_vector(WholeVector<EightChannels>(), i, grad, 0, 0, sums);
      sums.store(sums_, i);
    } else {
      SumVectors<Vector, kSums / kLanes> sums;
      if (kSamples && goes_on) sums.load(sums_, i);
      add_vectors(i, grad, count, sums);
      if constexpr (kSamples) sums.store(sums_, i);
    }
  }

  // The sums of a sample, in registers.
  template <typename V, int kVectors>
  struct SumVectors {
    V of_weight[kVectors] = {}, of_x[kVectors] = {}, of_y[kVectors] = {};

    [[gnu::always_inline]] void load(const SampleSums<kSums> &from, std::int64_t i) {
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t at = i * kSums + v * kLanes;
        of_weight[v] = WholeVector<V>::load(from.of_weight.sums + at);
        of_x[v] = WholeVector<V>::load(from.of_x.sums + at);
        of_y[v] = WholeVector<V>::load(from.of_y.sums + at);
      }
    }
    [[gnu::always_inline]] void store(SampleSums<kSums> &to, std::int64_t i) const {
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t at = i * kSums + v * kLanes;
        WholeVector<V>::store(to.of_weight.sums + at, of_weight[v]);
        WholeVector<V>::store(to.of_x.sums + at, of_x[v]);
        WholeVector<V>::store(to.of_y.sums + at, of_y[v]);
      }
    }
  };

  template <typename Sums>
  [[gnu::always_inline]] void add_vectors(std::int64_t i, const float *grad, std::int64_t count, Sums &sums) {
    constexpr int kVectors = kSums / kLanes;
    std::int64_t c = 0;
    for (; c + kSums <= count; c += kSums) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) add_vector(WholeVector<Vector>(), i, grad, c + v * kLanes, v, sums);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v, c += kLanes) {
      if (count - c < kLanes) {
        visit_rest(c, count, [&](auto some, std::int64_t at) { add_vector(some, i, grad, at, v, sums); });
        return;
      }
      add_vector(WholeVector<Vector>(), i, grad, c, v, sums);
    }
  }

  // The channels from c on, which belong to vector v of the sums.
  template <typename Kind, typename Sums>
  [[gnu::always_inline]] void add_vector(const Kind kind, std::int64_t i, const float *grad, std::int64_t c, int v,
                                         Sums &sums) {
    typedef typename Kind::Channels V;
    const V gradient = kind.load(grad + c), weighted = gradient * placed_.weight[i];
    if constexpr (kSamples) {
      V value[kCorners];
      for (int corner = 0; corner < kCorners; ++corner) value[corner] = kind.load(values_.row[corner][i] + c);
      const SampleTerms<V> terms(placed_, i, value, gradient, weighted);
      add_to(sums.of_weight[v], kind.used(terms.of_weight));
      add_to(sums.of_x[v], kind.used(terms.of_x));
      add_to(sums.of_y[v], kind.used(terms.of_y));
    }
    if constexpr (kValue) {
      for (int corner = 0; corner < kCorners; ++corner) {
        float *target = targets_.row[corner][i] + c;
        kind.store(target, kind.load(target) + placed_.corner_weight[corner][i] * weighted);
      }
    }
  }

  // Half a vector belongs to the lower lanes; adding 0 to the others does not change them, since no
  // sum is -0.
  template <typename Sum, typename V>
  [[gnu::always_inline]] static void add_to(Sum &sum, V terms) {
    if constexpr (sizeof terms == sizeof sum) {
      sum += terms;
    } else {
      sum += with_zeros(terms, AllLanes());
    }
  }

  template <typename V, int... kLane>
  [[gnu::always_inline]] static Vector with_zeros(V lower, Lanes<kLane...>) {
    return __builtin_shufflevector(lower, V{}, kLane...);
  }

  const MsDeformAttnBackwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const LaneLevels *const levels_;
  const GradientPlane plane_;
  const std::int64_t channel_, count_;
  PlacedSamples placed_;
  CornerRows<const float> values_;
  CornerRows<float> targets_;
  SampleSums<kSums> sums_ = {};
  alignas(kCacheLine) float beyond_[kMostChannels] = {};  // the contributions outside the map, which are dropped
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_GRADIENT_WALK_H_
