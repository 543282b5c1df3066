// The backward direction. One task owns the gradient of the value for a plane (batch and head) and
// block of channels, and goes through all queries in order, so the order of additions does not
// depend on the threads. Gradients of locations and weights belong to one query and head each. If
// there are enough planes for the threads, a task computes all gradients of one plane, and places
// each sample once. Otherwise gradients of locations and weights come first, in tasks of some
// queries.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_

#include "ops/ms_deform_attn/cpu/gradient_walk.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

class MsDeformAttnBackward {
 public:
  MsDeformAttnBackward(const MsDeformAttnBackwardProblem &problem, const LaneLevels *levels)
      : problem_(problem), g_(problem.geometry), levels_(levels) {
    // Blocks of whole cache lines, as many as give each thread some tasks.
    constexpr std::int64_t kLine = kCacheLine / sizeof(float);
    const std::int64_t lines = (g_.channels + kLine - 1) / kLine;
    const std::int64_t planes = g_.batches * g_.heads, wanted = (4 * thread_count() + planes - 1) / planes;
    width_ = (lines + wanted - 1) / wanted * kLine;
    blocks_ = (g_.channels + width_ - 1) / width_;
    at_once_ = thread_count() == 1 || planes >= 2 * thread_count();
  }

  void run(std::int64_t queries_per_task) const {
    const std::int64_t planes = g_.batches * g_.heads;
    auto all = [this](std::int64_t begin, std::int64_t end) { make_all(begin, end); };
    if (at_once_) return parallel_for(planes, 1, all);
    auto samples = [this](std::int64_t begin, std::int64_t end) { of_samples(begin, end); };
    parallel_for(planes * g_.queries, queries_per_task, samples);
    auto value = [this](std::int64_t begin, std::int64_t end) { of_value(begin, end); };
    if (!interrupted()) parallel_for(planes * blocks_, 1, value);
  }

 private:
  GradientPlane plane_of(std::int64_t plane) const {
    const std::int64_t first = start_of(g_, plane);
    return {problem_.value + first, problem_.grad_value + first, g_.heads * g_.channels};
  }

  // Tasks are planes, which are copied if that pays. Without memory for the copies the tensors are
  // used.
  void make_all(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t size = g_.keys * g_.channels;
    // A masked store delays the next load that overlaps it, so rows shorter than a vector are
    // not copied side by side.
    const bool copies = copies_pay(g_) && size > 0 && g_.channels % (kHasHalf ? kLanes / 2 : kLanes) == 0;
    const Scratch<float> value(copies ? size : 0), gradient(copies ? size : 0);
    for (std::int64_t task = begin; task < end; ++task) {
      const GradientPlane plane = plane_of(task), copy = {value.data(), gradient.data(), g_.channels};
      if (!copies || copy.value == nullptr || copy.gradient == nullptr) {
        if (!go_through<true, true>(task, 0, g_.queries, plane, 0, g_.channels, poll)) return;
        continue;
      }
      if (!copy_keys(value.data(), copy.stride, plane.value, plane.stride, g_, poll)) return;
      clear_floats_interruptible(copy.gradient, size);
      if (!go_through<true, true>(task, 0, g_.queries, copy, 0, g_.channels, poll)) return;
      if (!copy_keys(plane.gradient, plane.stride, copy.gradient, copy.stride, g_, poll)) return;
    }
  }

  // Tasks are planes and blocks of channels.
  void of_value(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t plane = task / blocks_, channel = task % blocks_ * width_;
      if (!go_through<false, true>(plane, 0, g_.queries, plane_of(plane), channel,
                                   smaller(width_, g_.channels - channel), poll))
        return;
    }
  }

  // Queries are counted through all planes.
  void of_samples(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for_each_plane(g_, begin, end, [&](std::int64_t plane, std::int64_t first, std::int64_t last) {
      return go_through<true, false>(plane, first, last, plane_of(plane), 0, g_.channels, poll);
    });
  }

  // Processes some queries of plane `number`. False if the call is interrupted.
  template <bool kSamples, bool kValue>
  bool go_through(std::int64_t number, std::int64_t query, std::int64_t end, const GradientPlane &plane,
                  std::int64_t channel, std::int64_t count, InterruptPoll &poll) const {
    if constexpr (kSamples && kLanes >= 8) {
      if (count == 8) {
        GradientWalk<kSamples, kValue, 8> walk(problem_, levels_, plane, channel, count);
        return walk.go(number, query, end, poll);
      }
    }
    GradientWalk<kSamples, kValue, 16> walk(problem_, levels_, plane, channel, count);
    return walk.go(number, query, end, poll);
  }

  const MsDeformAttnBackwardProblem &problem_;
  const MsDeformAttnGeometry &g_;
  const LaneLevels *const levels_;
  std::int64_t width_, blocks_;
  bool at_once_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_BACKWARD_H_
