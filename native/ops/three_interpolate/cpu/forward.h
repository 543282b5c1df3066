// Forward: the sum of three sources for each target.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_CPU_FORWARD_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_CPU_FORWARD_H_

#include "cpu/nontemporal.h"
#include "ops/three_interpolate/cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Prefetch distance within the rows of features.
constexpr std::int64_t kSourcesAhead = 64;

template <typename T>
class Forward {
 public:
  Forward(const ThreeInterpolateForwardProblem &problem, const Cut &cut)
      : problem_(problem),
        g_(problem.geometry),
        cut_(cut),
        nontemporal_(g_.batches * g_.channels * g_.targets * static_cast<std::int64_t>(sizeof(T)) >= streaming_bytes()),
        whole_tiles_(nontemporal_ && g_.targets % kPerLine<T> == 0) {}

  void tiled(const TaskScratch &scratch, std::int64_t number) const {
    const Task task = cut_.task(number);
    fill(scratch.tile, task);
    InterruptPoll poll;
    for (std::int64_t n = task.begin, end; n < task.end; n = end) {
      end = smaller(end_of_tile(output(task, n), n), task.end);
      const Targets targets = scratch.ready<T>(problem_, task, n, end - n);
      if (targets.source == nullptr || poll.interrupted((end - n) * kLanes)) break;
      if (whole_tiles_ && end - n == kTargetTile<T>) {
        sum_targets<true>(scratch.tile, targets, task, n, end - n);
      } else {
        sum_targets<false>(scratch.tile, targets, task, n, end - n);
      }
    }
    if (nontemporal_) nontemporal_fence();
  }

  // One channel, directly from its features.
  void plain(std::int64_t number) const {
    const Task task = cut_.task(number);
    const T *source = features(task);
    T *target = output(task, task.begin);
    const std::int64_t first = (task.batch * g_.targets + task.begin) * kNeighbours;
    const std::int32_t *index = problem_.indices + first;
    const T *weight = static_cast<const T *>(problem_.weights) + first;
    for_slices(0, task.end - task.begin, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n, index += kNeighbours, weight += kNeighbours) {
        float term[kNeighbours];
        for (int i = 0; i < kNeighbours; ++i) {
          const std::int32_t chosen = read_once(index + i);
          const bool valid = chosen >= 0 && chosen < g_.sources;
          term[i] = valid ? to_float(weight[i]) * to_float(source[chosen]) : 0.0f;
        }
        store(target + n, term[0] + term[1] + term[2]);
      }
    });
  }

 private:
  const T *features(const Task &task) const {
    return static_cast<const T *>(problem_.features) + (task.batch * g_.channels + task.channel) * g_.sources;
  }

  T *output(const Task &task, std::int64_t target) const {
    return static_cast<T *>(problem_.output) + (task.batch * g_.channels + task.channel) * g_.targets + target;
  }

  void fill(float *tile, const Task &task) const {
    const T *rows = features(task);
    Vector square[kLanes];
    InterruptPoll poll;
    for (std::int64_t m = 0; m < g_.sources && !poll.interrupted(kLanes * kLanes); m += kLanes) {
      const std::int64_t count = smaller<std::int64_t>(kLanes, g_.sources - m);
      // After the end of these rows, prefetch the next task's, which has the time of the sums to
      // arrive.
      const std::int64_t next = m + kSourcesAhead < g_.sources ? 0 : (task.channels - 1) * g_.sources;
      prefetch_rows<0>(rows, g_.sources, task.channels, m, kSourcesAhead + next);
      load_transposed(rows + m, g_.sources, task.channels, count, square);
      store_square(tile + m * kLanes, kLanes, square);
    }
    store(tile + g_.sources * kLanes, Vector{});
  }

  // A whole tile starts at a cache line in every row and is written with non-temporal stores, as
  // straight-line code.
  template <bool kWhole>
  void sum_targets(const float *tile, const Targets &targets, const Task &task, std::int64_t n,
                   std::int64_t some) const {
    const std::int64_t count = kWhole ? kTargetTile<T> : some;
    T *rows = output(task, n);
    T results[kLanes][kTargetTile<T>];
    for (std::int64_t start = 0; start < count; start += kLanes) {
      if (!kWhole && !nontemporal_) prefetch_rows<1>(rows, g_.targets, task.channels, start, 0);
      const Targets these = targets.from(start);
      Vector square[kLanes];
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kLanes; ++i) square[i] = sum(tile, these, i);
      transpose(square);
      for (int c = 0; c < kLanes; ++c) store(&results[c][start], square[c]);
    }
    for (std::int64_t c = 0; c < task.channels; ++c) {
      T *const to = rows + c * g_.targets;
      if (kWhole) {
        for (std::int64_t at = 0; at < count; at += kPerLine<T>) {
          copy_line_nontemporal(reinterpret_cast<char *>(to + at), reinterpret_cast<const char *>(results[c] + at));
        }
      } else if (nontemporal_) {
        copy_nontemporal(to, results[c], static_cast<std::size_t>(count) * sizeof(T));
      } else {
        copy_row(to, results[c], count);
      }
    }
  }

  static Vector sum(const float *tile, const Targets &targets, std::int64_t target) {
    const std::int32_t *source = targets.source + target * kNeighbours;
    const float *weight = targets.weight + target * kNeighbours;
    const Vector first = weight[0] * load(tile + source[0]);
    const Vector second = first + weight[1] * load(tile + source[1]);
    return second + weight[2] * load(tile + source[2]);
  }

  const ThreeInterpolateForwardProblem &problem_;
  const ThreeInterpolateGeometry &g_;
  const Cut &cut_;
  const bool nontemporal_;
  const bool whole_tiles_;  // a tile that starts at a cache line in one row does so in all
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_CPU_FORWARD_H_
