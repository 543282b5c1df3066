// The forward direction. Samples are placed a vector at a time; then, for each block of channels,
// they are added up in registers.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_

#include "ops/ms_deform_attn/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

class MsDeformAttnForward {
 public:
  MsDeformAttnForward(const MsDeformAttnForwardProblem &problem, const LaneLevels *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels), samples_(g_.levels * g_.points) {}

  void run(std::int64_t queries_per_task) const {
    const std::int64_t planes = g_.batches * g_.heads;
    const bool enough_planes = thread_count() == 1 || planes >= 2 * thread_count();
    auto copied = [this](std::int64_t begin, std::int64_t end) { of_planes(begin, end); };
    if (enough_planes && copies_pay(g_)) return parallel_for(planes, 1, copied);
    auto direct = [this](std::int64_t begin, std::int64_t end) { of_queries(begin, end); };
    parallel_for(planes * g_.queries, queries_per_task, direct);
  }

 private:
  // Copies each plane. Without memory for the copies the tensor is used.
  void of_planes(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const Scratch<float> copy(g_.keys * g_.channels);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const float *value = problem_.value + start_of(g_, plane);
      std::int64_t stride = g_.heads * g_.channels;
      if (copy.data() != nullptr) {
        if (!copy_keys(copy.data(), g_.channels, value, stride, g_, poll)) return;
        value = copy.data();
        stride = g_.channels;
      }
      if (!go_through(plane, 0, g_.queries, value, stride, poll)) return;
    }
  }

  // Queries are counted through all planes.
  void of_queries(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for_each_plane(g_, begin, end, [&](std::int64_t plane, std::int64_t first, std::int64_t last) {
      return go_through(plane, first, last, problem_.value + start_of(g_, plane), g_.heads * g_.channels, poll);
    });
  }

  // Keys are `stride` apart in `value`. False if the call is interrupted.
  bool go_through(std::int64_t plane, std::int64_t query, std::int64_t end, const float *value, std::int64_t stride,
                  InterruptPoll &poll) const {
    for (const std::int64_t at_once = queries_at_once(g_); query < end; query += at_once) {
      if (!process(row_of(g_, plane, query), smaller(at_once, end - query), value, stride, poll)) return false;
    }
    return true;
  }

  // Some queries, of which the first is in this row.
  bool process(std::int64_t row, std::int64_t queries, const float *value, std::int64_t stride,
               InterruptPoll &poll) const {
    PlacedSamples placed;
    CornerRows<const float> corners;
    for (std::int64_t first = 0; first < samples_; first += kLanes) {
      if (poll.interrupted(kLanes * (8 + kCorners * g_.channels))) return false;
      const std::int64_t sample = row * samples_ + first;
      const SampleLanes lanes = {queries, smaller<std::int64_t>(kLanes, samples_ - first), g_.heads * samples_};
      place_samples(levels_[first / kLanes], lanes, problem_.locations + 2 * sample, problem_.weights + sample, stride,
                    placed);
      if (first == 0) lanes.prefetch_later<1>(problem_.output + row * g_.channels, g_.channels, g_.heads * g_.channels);
      for (std::int64_t c = 0; c < g_.channels; c += kMostChannels) {
        corners.find(placed, value + c, kZeros);
        for (std::int64_t query = 0; query < queries; ++query) {
          const Sum sum = {placed, corners, query * lanes.each, (query + 1) * lanes.each, first > 0};
          sum.add(problem_.output + (row + query * g_.heads) * g_.channels + c,
                  smaller(kMostChannels, g_.channels - c));
        }
      }
    }
    return true;
  }

  // The samples of one query.
  struct Sum {
    const PlacedSamples &placed;
    const CornerRows<const float> &corners;
    const std::int64_t begin, end;
    const bool goes_on;  // the output holds the sum of samples before these

    void add(float *output, std::int64_t channels) const {
      std::int64_t c = 0;
      const WholeVector<Vector> whole;
      for (; c + 4 * kLanes <= channels; c += 4 * kLanes) add_block<4>(whole, c, output);
      for (; c + 2 * kLanes <= channels; c += 2 * kLanes) add_block<2>(whole, c, output);
      for (; c + kLanes <= channels; c += kLanes) add_block<1>(whole, c, output);
      visit_rest(c, channels, [&](auto some, std::int64_t at) { add_block<1>(some, at, output); });
    }

    // A sum is never -0, so that samples which do not count and are 0 do not change it.
    template <int kVectors, typename Kind>
    [[gnu::always_inline]] void add_block(const Kind kind, std::int64_t c, float *output) const {
      typename Kind::Channels sum[kVectors] = {};
      if (goes_on) {
        for (int v = 0; v < kVectors; ++v) sum[v] = kind.load(output + c + v * kLanes);
      }
      for (std::int64_t i = begin; i < end; ++i) {
        for (int v = 0; v < kVectors; ++v) {
          const std::int64_t at = c + v * kLanes;
          auto value = placed.corner_weight[0][i] * kind.load(corners.row[0][i] + at);
          for (int corner = 1; corner < kCorners; ++corner)
            value += placed.corner_weight[corner][i] * kind.load(corners.row[corner][i] + at);
          sum[v] += placed.weight[i] * value;
        }
      }
      for (int v = 0; v < kVectors; ++v) kind.store(output + c + v * kLanes, sum[v]);
    }
  };

  const MsDeformAttnForwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const LaneLevels *const levels_;
  const std::int64_t samples_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
