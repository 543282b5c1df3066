// Backward: the gradient of each target added to its three sources.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_CPU_BACKWARD_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_CPU_BACKWARD_H_

#include "ops/three_interpolate/cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Prefetch distance within the rows of gradients.
constexpr std::int64_t kTargetsAhead = 256;

template <typename T>
class Backward {
 public:
  Backward(const ThreeInterpolateBackwardProblem &problem, const Cut &cut)
      : problem_(problem), g_(problem.geometry), cut_(cut) {}

  void tiled(const TaskScratch &scratch, std::int64_t number) const {
    const Task task = cut_.task(number);
    clear_floats_interruptible(scratch.tile, tile_size(g_));
    InterruptPoll poll;
    for (std::int64_t n = 0, end; n < g_.targets; n = end) {
      end = smaller(end_of_tile(gradients(task) + n, n), g_.targets);
      const Targets targets = scratch.ready<T>(problem_, task, n, end - n);
      if (targets.source == nullptr || poll.interrupted((end - n) * kLanes)) return;
      add_targets(scratch.tile, targets, task, n, end - n);
    }
    empty(scratch.tile, task);
  }

  // One channel, accumulated in `sums` of M floats.
  void plain(float *sums, std::int64_t number) const {
    const Task task = cut_.task(number);
    const std::int64_t first = task.batch * g_.targets * kNeighbours;
    const std::int32_t *index = problem_.indices + first;
    const T *weight = static_cast<const T *>(problem_.weights) + first;
    const T *gradient = gradients(task);
    clear_floats_interruptible(sums, g_.sources);
    for_slices(0, g_.targets, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n, index += kNeighbours, weight += kNeighbours) {
        const float share = to_float(gradient[n]);
        for (int i = 0; i < kNeighbours; ++i) {
          const std::int32_t chosen = read_once(index + i);
          if (chosen >= 0 && chosen < g_.sources) sums[chosen] += to_float(weight[i]) * share;
        }
      }
    });
    for_slices(0, g_.sources, [&](std::int64_t begin, std::int64_t end) {
      store_row(results(task) + begin, sums + begin, end - begin);
    });
  }

 private:
  const T *gradients(const Task &task) const {
    return static_cast<const T *>(problem_.grad_output) + (task.batch * g_.channels + task.channel) * g_.targets;
  }

  T *results(const Task &task) const {
    return static_cast<T *>(problem_.grad_features) + (task.batch * g_.channels + task.channel) * g_.sources;
  }

  void add_targets(float *tile, const Targets &targets, const Task &task, std::int64_t n, std::int64_t count) const {
    const T *rows = gradients(task) + n;
    for (std::int64_t start = 0; start < count; start += kLanes) {
      const std::int64_t here = smaller<std::int64_t>(kLanes, count - start);
      // After the end of these rows, prefetch the next task's.
      const std::int64_t next = n + start + kTargetsAhead < g_.targets ? 0 : (task.channels - 1) * g_.targets;
      prefetch_rows<0>(rows, g_.targets, task.channels, start, kTargetsAhead + next);
      Vector square[kLanes];
      load_transposed(rows + start, g_.targets, task.channels, here, square);
      const Targets these = targets.from(start);
      if (here == kLanes) {
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < kLanes; ++j) add(tile, these, j, square[j]);
      } else {
        Vector rest[kLanes];  // a copy in memory for variable indices keeps `square` in registers
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < kLanes; ++j) rest[j] = square[j];
        for (std::int64_t j = 0; j < here; ++j) add(tile, these, j, rest[j]);
      }
    }
  }

  [[gnu::always_inline]] static void add(float *tile, const Targets &targets, std::int64_t target, Vector share) {
#pragma GCC unroll 3
    for (std::int64_t e = target * kNeighbours; e < (target + 1) * kNeighbours; ++e) {
      float *sum = tile + targets.source[e];
      store(sum, load(sum) + targets.weight[e] * share);
    }
  }

  void empty(const float *tile, const Task &task) const {
    T *rows = results(task);
    InterruptPoll poll;
    for (std::int64_t m = 0; m < g_.sources && !poll.interrupted(kLanes * kLanes); m += kLanes) {
      const std::int64_t count = smaller<std::int64_t>(kLanes, g_.sources - m);
      Vector square[kLanes];
      load_square(square, tile + m * kLanes, kLanes);
      transpose(square);
      T *to = rows + m;
      if (count == kLanes && task.channels == kLanes) {
#pragma GCC unroll 16
        for (int c = 0; c < kLanes; ++c, to += g_.sources) store(to, square[c]);
      } else {
        for (std::int64_t c = 0; c < task.channels; ++c, to += g_.sources) store_some(to, square[c], count);
      }
    }
  }

  const ThreeInterpolateBackwardProblem &problem_;
  const ThreeInterpolateGeometry &g_;
  const Cut &cut_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_CPU_BACKWARD_H_
