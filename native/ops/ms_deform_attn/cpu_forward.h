// The forward direction. Samples are placed some at a time; then, for each block of channels, they are added up in registers.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_

#include "ops/ms_deform_attn/cpu_samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

class MsDeformAttnForward {
 public:
  MsDeformAttnForward(const MsDeformAttnForwardProblem &problem, const MapLevel *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels) {}

  // Rows are queries and heads, counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      if (!add_row(row, poll)) return;
    }
  }

 private:
  static constexpr int kPlaced = 32;

  struct Placed {
    CornerRows corners;
    float corner_weight[kCorners];
    float weight;
  };

  // Whether the row is whole: else the call is interrupted.
  bool add_row(std::int64_t row, InterruptPoll &poll) const {
    const std::int64_t batch = row / g_.heads / g_.queries, head = row % g_.heads;
    const std::int64_t stride = g_.heads * g_.channels;
    const float *value = problem_.value + (batch * g_.keys * g_.heads + head) * g_.channels;
    const std::int64_t first = row * g_.levels * g_.points;
    SampleReader<float> reader(g_, levels_, problem_.locations + 2 * first, problem_.weights + first);
    float *output = problem_.output + row * g_.channels;
    clear_floats(output, g_.channels);
    Placed placed[kPlaced];
    int count = kPlaced;
    while (count == kPlaced) {
      if (poll.interrupted(kPlaced * (8 + kCorners * g_.channels))) return false;
      Sample<float> sample;
      for (count = 0; count < kPlaced && reader.next(sample); ++count) {
        placed[count].corners.find(sample, value, stride);
        std::memcpy(placed[count].corner_weight, sample.corner_weight, sizeof sample.corner_weight);
        placed[count].weight = sample.weight;
      }
      add(placed, count, output);
    }
    return true;
  }

  void add(const Placed *placed, int count, float *output) const {
    std::int64_t c = 0;
    for (; c + 4 * kLanes <= g_.channels; c += 4 * kLanes) add_block<4>(placed, count, c, kLanes, output);
    for (; c + 2 * kLanes <= g_.channels; c += 2 * kLanes) add_block<2>(placed, count, c, kLanes, output);
    for (; c < g_.channels; c += kLanes) add_block<1>(placed, count, c, g_.channels - c, output);
  }

  // Channels from c on: kVectors whole vectors, or some lanes of one.
  template <int kVectors>
  [[gnu::always_inline]] static void add_block(const Placed *placed, int count, std::int64_t c, std::int64_t lanes,
                                               float *output) {
    static_assert(kVectors * kLanes <= CornerRows::kMost, "zeros for as many channels");
    Vector sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = load_some(output + c + v * kLanes, lanes);
    for (int i = 0; i < count; ++i) {
      const Placed &sample = placed[i];
      const float *row[kCorners];
      for (int corner = 0; corner < kCorners; ++corner) row[corner] = sample.corners.at(corner, c);
      for (int v = 0; v < kVectors; ++v) {
        Vector value = sample.corner_weight[0] * load_some(row[0] + v * kLanes, lanes);
        for (int corner = 1; corner < kCorners; ++corner)
          value += sample.corner_weight[corner] * load_some(row[corner] + v * kLanes, lanes);
        sum[v] += sample.weight * value;
      }
    }
    for (int v = 0; v < kVectors; ++v) store_some(output + c + v * kLanes, sum[v], lanes);
  }

  const MsDeformAttnForwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const MapLevel *const levels_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_FORWARD_H_
