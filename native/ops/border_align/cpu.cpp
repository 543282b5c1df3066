// BorderAlign on the CPU: division into tasks, and their scratch memory.
#include "ops/border_align/cpu/backward.h"
#include "ops/border_align/cpu/double.h"
#include "ops/border_align/cpu/forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Minimum number of sides with few borders per piece.
constexpr std::int64_t kFewGrain = 64;

template <typename Kernel>
mluOpStatus_t run(const typename Kernel::Problem &problem) {
  const Parts parts(problem.geometry);
  const Kernel kernel(problem, parts);
  if (Kernel::are_few(problem.geometry)) {
    auto run_few = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t number = begin; number < end; ++number) kernel.run_few(number);
    };
    parallel_for(problem.geometry.batches * kBorders, kFewGrain, run_few);
    return MLUOP_STATUS_SUCCESS;
  }
  const std::int64_t slots = useful_slots(parts.tasks(), parts.values());
  Arena counter(nullptr);
  const typename Kernel::TaskScratch counted(parts, counter);
  const Scratch<char> memory(slots * counter.used());
  if (memory.data() == nullptr) return out_of_memory(problem.function);
  parallel_slots(parts.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    Arena arena(memory.data() + slot * counter.used());
    kernel.run(typename Kernel::TaskScratch(parts, arena), task);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t border_align_forward(const BorderAlignForwardProblem &problem) {
  if (problem.geometry.is_double) {
    DoubleForward forward(problem);
    parallel_for(problem.geometry.batches * problem.geometry.boxes * kBorders, kFewGrain, forward);
    return MLUOP_STATUS_SUCCESS;
  }
  return problem.geometry.half ? run<Forward<Half>>(problem) : run<Forward<float>>(problem);
}

mluOpStatus_t border_align_backward(const BorderAlignBackwardProblem &problem) {
  if (problem.geometry.is_double) {
    DoubleBackward backward(problem);
    parallel_for(problem.geometry.batches * kBorders, 1, backward);
    return MLUOP_STATUS_SUCCESS;
  }
  return problem.geometry.half ? run<Backward<Half>>(problem) : run<Backward<float>>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_border_align_forward, border_align_forward, BorderAlignForwardProblem, problem.function);
MLUOPS_DEFINE_LAUNCH(launch_border_align_backward, border_align_backward, BorderAlignBackwardProblem, problem.function);
