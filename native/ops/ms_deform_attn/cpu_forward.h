// The forward direction. Samples are placed a vector at a time; then, for each block of channels, they are added up in registers.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_

#include "ops/ms_deform_attn/cpu_samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

class MsDeformAttnForward {
 public:
  MsDeformAttnForward(const MsDeformAttnForwardProblem &problem, const LaneLevels *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels) {}

  // Rows are queries and heads, counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      if (!add_row(row, poll)) return;
    }
  }

 private:
  // Whether the row is whole: else the call is interrupted.
  bool add_row(std::int64_t row, InterruptPoll &poll) const {
    const std::int64_t batch = row / g_.heads / g_.queries, head = row % g_.heads;
    const std::int64_t stride = g_.heads * g_.channels;
    const float *value = problem_.value + (batch * g_.keys * g_.heads + head) * g_.channels;
    const std::int64_t samples = g_.levels * g_.points;
    const float *locations = problem_.locations + 2 * row * samples, *weights = problem_.weights + row * samples;
    float *output = problem_.output + row * g_.channels;
    clear_floats(output, g_.channels);
    PlacedSamples placed;
    CornerRows corners[kLanes];
    for (std::int64_t first = 0; first < samples; first += kLanes) {
      if (poll.interrupted(kLanes * (8 + kCorners * g_.channels))) return false;
      place_samples(levels_[first / kLanes], locations + 2 * first, weights + first,
                    smaller<std::int64_t>(kLanes, samples - first), placed);
      for_each_sample(placed, [&](int i) { corners[i].find(placed, i, value, stride); });
      add(placed, corners, output);
    }
    return true;
  }

  void add(const PlacedSamples &placed, const CornerRows *corners, float *output) const {
    std::int64_t c = 0;
    for (; c + 4 * kLanes <= g_.channels; c += 4 * kLanes) add_block<4>(placed, corners, c, kLanes, output);
    for (; c + 2 * kLanes <= g_.channels; c += 2 * kLanes) add_block<2>(placed, corners, c, kLanes, output);
    for (; c < g_.channels; c += kLanes) add_block<1>(placed, corners, c, g_.channels - c, output);
  }

  // Channels from c on: kVectors whole vectors, or some lanes of one.
  template <int kVectors>
  [[gnu::always_inline]] static void add_block(const PlacedSamples &placed, const CornerRows *corners, std::int64_t c,
                                               std::int64_t lanes, float *output) {
    static_assert(kVectors * kLanes <= CornerRows::kMost, "zeros for as many channels");
    Vector sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = load_some(output + c + v * kLanes, lanes);
    for_each_sample(placed, [&](int i) {
      const float *row[kCorners];
      for (int corner = 0; corner < kCorners; ++corner) row[corner] = corners[i].at(corner, c);
      for (int v = 0; v < kVectors; ++v) {
        Vector value = placed.corner_weight[0][i] * load_some(row[0] + v * kLanes, lanes);
        for (int corner = 1; corner < kCorners; ++corner)
          value += placed.corner_weight[corner][i] * load_some(row[corner] + v * kLanes, lanes);
        sum[v] += placed.weight[i] * value;
      }
    });
    for (int v = 0; v < kVectors; ++v) store_some(output + c + v * kLanes, sum[v], lanes);
  }

  const MsDeformAttnForwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const LaneLevels *const levels_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
