// Stacked features of groups of points on the CPU, and the gradient with respect to them.
#ifndef MLUOPS_OPS_GROUP_POINTS_CPU_STACK_H_
#define MLUOPS_OPS_GROUP_POINTS_CPU_STACK_H_

#include "cpu/half.h"
#include "cpu/stacked.h"
#include "ops/group_points/group_points.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The row of features that an index of a group names, or -1.
inline std::int64_t row_of(const StackGroupPointsProblem &p, std::int64_t batch, std::int64_t place) {
  const std::int64_t index = read_once(p.indices + place), first = p.feature_rows[batch];
  return index >= 0 && index < p.feature_rows[batch + 1] - first ? first + index : -1;
}

template <typename Bits>
struct StackForward {
  const StackGroupPointsProblem &p;

  // Groups are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    std::int64_t batch = batch_of(p.group_rows, p.batches, begin);
    for (std::int64_t group = begin; group < end; ++group) {
      while (group >= p.group_rows[batch + 1]) ++batch;
      Bits *const to = static_cast<Bits *>(p.result) + group * p.channels * p.samples;
      for (std::int64_t s = 0; s < p.samples; ++s) {
        if (poll.interrupted(p.channels)) return;
        const std::int64_t row = row_of(p, batch, group * p.samples + s);
        const Bits *from = static_cast<const Bits *>(p.source) + larger<std::int64_t>(row, 0) * p.channels;
        for_slices(0, p.channels, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t c = first; c < last; ++c) to[c * p.samples + s] = row < 0 ? Bits{0} : from[c];
        });
      }
    }
  }
};

// A task owns a band of rows, and looks at all indices.
template <typename Real, typename Sum>
struct StackBackward {
  const StackGroupPointsProblem &p;
  Sum *const sums;  // [points, channels]
  const std::int64_t band;

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task)
      add_all(smaller(task * band, p.points), smaller((task + 1) * band, p.points));
  }

 private:
  void add_all(std::int64_t first, std::int64_t last) const {
    for_slices(first * p.channels, last * p.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sums[i] = 0;
    });
    InterruptPoll poll;
    for (std::int64_t batch = 0; batch < p.batches; ++batch) {
      // Rows of other bands are not added to.
      if (p.feature_rows[batch + 1] <= first || p.feature_rows[batch] >= last) continue;
      for (std::int64_t place = p.group_rows[batch] * p.samples; place < p.group_rows[batch + 1] * p.samples; ++place) {
        if (poll.interrupted(2)) return;
        const std::int64_t row = row_of(p, batch, place);
        if (row < first || row >= last) continue;
        if (poll.interrupted(2 * p.channels)) return;
        add(row, place / p.samples, place % p.samples);
      }
    }
    write(first * p.channels, last * p.channels);
  }

  void add(std::int64_t row, std::int64_t group, std::int64_t sample) const {
    const Real *gradients = static_cast<const Real *>(p.source) + group * p.channels * p.samples + sample;
    Sum *const to = sums + row * p.channels;
    for_slices(0, p.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) to[c] += to_sum(gradients[c * p.samples]);
    });
  }

  void write(std::int64_t begin, std::int64_t end) const {
    if (sizeof(Real) == sizeof(Sum)) return;
    Half *const result = static_cast<Half *>(p.result);
    for_slices(begin, end, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) store(result + i, static_cast<float>(sums[i]));
    });
  }
};

constexpr std::int64_t kValuesPerPiece = 16384;

template <typename Bits>
mluOpStatus_t pick_stack(const StackGroupPointsProblem &problem) {
  StackForward<Bits> forward{problem};
  parallel_for(problem.groups, kValuesPerPiece / (problem.channels * problem.samples) + 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real, typename Sum>
mluOpStatus_t add_stack(const StackGroupPointsProblem &problem) {
  constexpr bool kRooms = sizeof(Real) != sizeof(Sum);
  const Scratch<Sum> room(kRooms ? problem.points * problem.channels : 0);
  if (room.data() == nullptr) return out_of_memory(problem.function);
  const std::int64_t values = (problem.groups * problem.samples + problem.points) * problem.channels;
  const std::int64_t bands =
      smaller(smaller<std::int64_t>(thread_count(), problem.points), values / kValuesPerPiece + 1);
  Sum *const sums = kRooms ? room.data() : static_cast<Sum *>(problem.result);
  StackBackward<Real, Sum> backward{problem, sums, (problem.points + bands - 1) / bands};
  parallel_for(bands, 1, backward);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GROUP_POINTS_CPU_STACK_H_
