// ThreeInterpolate on the CPU.
//
// As many channels as a vector has lanes are processed together. Their features are transposed once
// into a tile [M][lanes], in which every source point is one vector: forward sums three vectors per
// target, backward adds a multiple of a target's vector to three. Squares of results are transposed
// back in registers. The order of additions is by target, then by neighbour, for any number of
// threads.
//
// With too few channels, or so many sources that tiles would need much memory, the same sums are
// computed one channel at a time.
#include "ops/three_interpolate/cpu/backward.h"
#include "ops/three_interpolate/cpu/double.h"
#include "ops/three_interpolate/cpu/forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Runs kernel.tiled() for all tasks.
template <typename Kernel>
mluOpStatus_t run_tiled(const char *function, const Kernel &kernel, const Cut &cut) {
  const std::int64_t slots = useful_slots(cut.tasks(), cut.values());
  const bool keeps = TaskScratch::keeps_targets(cut, slots);
  Arena counter(nullptr);
  const TaskScratch counted(cut.g, keeps, counter);
  const Scratch<char> memory(slots * counter.used());
  if (memory.data() == nullptr) return out_of_memory(function);
  auto scratch_of = [&](std::int64_t slot) {
    Arena arena(memory.data() + slot * counter.used());
    return TaskScratch(cut.g, keeps, arena);
  };
  for (std::int64_t slot = 0; slot < slots; ++slot) *scratch_of(slot).batch = -1;
  parallel_slots(cut.tasks(), slots,
                 [&](std::int64_t slot, std::int64_t number) { kernel.tiled(scratch_of(slot), number); });
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_forward(const ThreeInterpolateForwardProblem &problem) {
  const ThreeInterpolateGeometry &g = problem.geometry;
  if (tiles_pay(g)) {
    const Cut cut(g, kLanes, wanted_chunks(g));
    return run_tiled(problem.function, Forward<T>(problem, cut), cut);
  }
  const Cut rows(g, 1, wanted_chunks(g));
  const Forward<T> forward(problem, rows);
  auto sum = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) forward.plain(number);
  };
  parallel_for(rows.tasks(), 4096 / rows.chunk + 1, sum);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_backward(const ThreeInterpolateBackwardProblem &problem) {
  const ThreeInterpolateGeometry &g = problem.geometry;
  const Cut cut(g, tiles_pay(g) ? kLanes : 1, 1);
  const Backward<T> backward(problem, cut);
  if (tiles_pay(g)) return run_tiled(problem.function, backward, cut);
  const std::int64_t slots = useful_slots(cut.tasks(), cut.values());
  const Scratch<float> sums(slots * g.sources);
  if (sums.data() == nullptr) return out_of_memory(problem.function);
  parallel_slots(cut.tasks(), slots, [&](std::int64_t slot, std::int64_t number) {
    backward.plain(sums.data() + slot * g.sources, number);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <typename Rows>
mluOpStatus_t run_double(const ThreeInterpolateGeometry &g, Rows rows) {
  parallel_for(g.batches * g.channels, double_grain(g), rows);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t three_interpolate_forward(const ThreeInterpolateForwardProblem &problem) {
  if (problem.geometry.is_double) return run_double(problem.geometry, DoubleForward{problem});
  return problem.geometry.half ? run_forward<Half>(problem) : run_forward<float>(problem);
}

mluOpStatus_t three_interpolate_backward(const ThreeInterpolateBackwardProblem &problem) {
  if (problem.geometry.is_double) return run_double(problem.geometry, DoubleBackward{problem});
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_forward, three_interpolate_forward, ThreeInterpolateForwardProblem,
                     problem.function);
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_backward, three_interpolate_backward, ThreeInterpolateBackwardProblem,
                     problem.function);
