// BorderAlign on the CPU: cutting the work into tasks, and their memory.
#include "ops/border_align/cpu_backward.h"
#include "ops/border_align/cpu_forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kLinesHeld = 2;

template <typename T>
mluOpStatus_t run_forward(const BorderAlignForwardProblem &problem) {
  typedef Forward<T> Kernel;
  const BorderAlignGeometry &g = problem.geometry;
  const Parts parts(g, kLinesHeld);
  const std::int64_t slots = useful_slots(parts.tasks(), parts.values());
  const std::int64_t lines = LinePair::size(parts), boxes = SortedBoxes::size(g), largest = Kernel::largest_size(parts);
  const Scratch<float> floats(slots * (lines + largest));
  const Scratch<std::int32_t> numbers(slots * boxes);
  const Scratch<Samples> samples(slots * Group::kMost);
  if (floats.data() == nullptr || numbers.data() == nullptr || samples.data() == nullptr) {
    return out_of_memory("mluOpBorderAlignForward");
  }
  const Kernel kernel(problem, parts);
  parallel_slots(parts.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    float *own = floats.data() + slot * (lines + largest);
    kernel.run({own, numbers.data() + slot * boxes, samples.data() + slot * Group::kMost, own + lines}, task);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_backward(const BorderAlignBackwardProblem &problem) {
  typedef Backward<T> Kernel;
  const Parts parts(problem.geometry, kLinesHeld);
  const std::int64_t slots = useful_slots(parts.tasks(), parts.values());
  const std::int64_t places = Kernel::places_size(parts), sums = Kernel::sums_size(parts);
  const std::int64_t boxes = SortedBoxes::size(problem.geometry);
  const Scratch<float> floats(slots * (places + sums));
  const Scratch<std::int32_t> numbers(slots * boxes);
  const Scratch<typename Kernel::Shares> shares(slots * Group::kMost);
  if (floats.data() == nullptr || numbers.data() == nullptr || shares.data() == nullptr) {
    return out_of_memory("mluOpBorderAlignBackward");
  }
  const Kernel kernel(problem, parts);
  parallel_slots(parts.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    float *own = floats.data() + slot * (places + sums);
    kernel.run({own, own + places, numbers.data() + slot * boxes, shares.data() + slot * Group::kMost}, task);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t border_align_forward(const BorderAlignForwardProblem &problem) {
  return problem.geometry.half ? run_forward<Half>(problem) : run_forward<float>(problem);
}

mluOpStatus_t border_align_backward(const BorderAlignBackwardProblem &problem) {
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_border_align_forward, border_align_forward, BorderAlignForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_border_align_backward, border_align_backward, BorderAlignBackwardProblem);
