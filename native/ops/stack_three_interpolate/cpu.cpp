// StackThreeInterpolate on the CPU. The channels of a row lie side by side, and are computed in
// vectors. Half is computed in float and rounded once.
#include "cpu/tiles.h"
#include "ops/stack_three_interpolate/stack_three_interpolate.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kNeighbours = 3;
constexpr std::int64_t kTile = 4096;  // channels between two polls
constexpr std::int64_t kValuesPerPiece = 16384;

// The row that an index of a target names, or -1.
inline std::int64_t row_of(const StackThreeInterpolateProblem &p, std::int64_t place) {
  const std::int64_t row = read_once(p.indices + place);
  return row >= 0 && row < p.sources ? row : -1;
}

template <typename Real>
struct Forward {
  typedef typename Arithmetic<Real>::Vector Vector;
  static constexpr std::int64_t kWidth = Arithmetic<Real>::kWidth;
  const StackThreeInterpolateProblem &p;

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t target = begin; target < end; ++target) {
      std::int64_t rows[kNeighbours];
      for (int i = 0; i < kNeighbours; ++i) rows[i] = row_of(p, target * kNeighbours + i);
      for (std::int64_t c = 0; c < p.channels; c += kTile) {
        const std::int64_t count = smaller(kTile, p.channels - c);
        if (poll.interrupted(kNeighbours * count)) return;
        add(target, rows, c, c + count);
      }
    }
  }

 private:
  void add(std::int64_t target, const std::int64_t *rows, std::int64_t begin, std::int64_t end) const {
    const Real *weights = static_cast<const Real *>(p.weights) + target * kNeighbours;
    const Real *sources[kNeighbours];
    Vector factors[kNeighbours];
    int number = 0;
    for (int i = 0; i < kNeighbours; ++i) {
      if (rows[i] < 0) continue;
      sources[number] = static_cast<const Real *>(p.source) + rows[i] * p.channels;
      factors[number++] = Arithmetic<Real>::everywhere(to_sum(weights[i]));
    }
    Real *const result = static_cast<Real *>(p.result) + target * p.channels;
    if (number == kNeighbours) return write<kNeighbours>(factors, sources, result, begin, end);
    if (number == 2) return write<2>(factors, sources, result, begin, end);
    if (number == 1) return write<1>(factors, sources, result, begin, end);
    write<0>(factors, sources, result, begin, end);
  }

  template <int kNumber>
  static void write(const Vector *factors, const Real *const *sources, Real *result, std::int64_t begin,
                    std::int64_t end) {
    std::int64_t c = begin;
    for (; c + kWidth <= end; c += kWidth) store_some(result + c, sum<kNumber>(factors, sources, c, kWidth), kWidth);
    if (c < end) store_some(result + c, sum<kNumber>(factors, sources, c, end - c), end - c);
  }

  template <int kNumber>
  static Vector sum(const Vector *factors, const Real *const *sources, std::int64_t c, std::int64_t count) {
    Vector total = {};
#pragma GCC unroll 3
    for (int i = 0; i < kNumber; ++i) total += factors[i] * load_some(sources[i] + c, count);
    return total;
  }
};

// A task owns a band of rows, and looks at all indices.
template <typename Real, typename Sum>
struct Backward {
  typedef typename Arithmetic<Real>::Vector Vector;
  static constexpr std::int64_t kWidth = Arithmetic<Real>::kWidth;
  const StackThreeInterpolateProblem &p;
  Sum *const sums;  // [sources, channels]
  const std::int64_t band;

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task)
      add_all(smaller(task * band, p.sources), smaller((task + 1) * band, p.sources));
  }

 private:
  void add_all(std::int64_t first, std::int64_t last) const {
    for_slices(first * p.channels, last * p.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sums[i] = 0;
    });
    InterruptPoll poll;
    for (std::int64_t place = 0; place < p.targets * kNeighbours; ++place) {
      if (poll.interrupted(2)) return;
      const std::int64_t row = row_of(p, place);
      if (row < first || row >= last) continue;
      if (poll.interrupted(p.channels)) return;
      add(row, place / kNeighbours, to_sum(static_cast<const Real *>(p.weights)[place]));
    }
    write(first * p.channels, last * p.channels);
  }

  void add(std::int64_t row, std::int64_t target, Sum weight) const {
    const Real *gradients = static_cast<const Real *>(p.source) + target * p.channels;
    Sum *const to = sums + row * p.channels;
    const Vector factor = Arithmetic<Real>::everywhere(weight);
    for_slices(0, p.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; c += kWidth)
        store_some(to + c, load_some(to + c, end - c) + factor * load_some(gradients + c, end - c), end - c);
    });
  }

  void write(std::int64_t begin, std::int64_t end) const {
    if (sizeof(Real) == sizeof(Sum)) return;  // the sums are the result
    for_slices(begin, end, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; i += kWidth)
        store_some(static_cast<Real *>(p.result) + i, load_some(sums + i, last - i), last - i);
    });
  }
};

template <typename Real>
mluOpStatus_t interpolate(const StackThreeInterpolateProblem &problem) {
  Forward<Real> forward{problem};
  parallel_for(problem.targets, kValuesPerPiece / (kNeighbours * problem.channels) + 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real, typename Sum>
mluOpStatus_t add_gradients(const StackThreeInterpolateProblem &problem) {
  constexpr bool kRoom = sizeof(Real) != sizeof(Sum);
  const Scratch<Sum> room(kRoom ? problem.sources * problem.channels : 0);
  if (room.data() == nullptr) return out_of_memory(problem.function);
  const std::int64_t values = (problem.targets * kNeighbours + problem.sources) * problem.channels;
  const std::int64_t threads = smaller<std::int64_t>(thread_count(), problem.sources);
  const std::int64_t bands = smaller(threads, values / kValuesPerPiece + 1);
  Sum *const sums = kRoom ? room.data() : static_cast<Sum *>(problem.result);
  Backward<Real, Sum> backward{problem, sums, (problem.sources + bands - 1) / bands};
  parallel_for(bands, 1, backward);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t stack_three_interpolate_forward(const StackThreeInterpolateProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return interpolate<double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? interpolate<Half>(problem) : interpolate<float>(problem);
}

mluOpStatus_t stack_three_interpolate_backward(const StackThreeInterpolateProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return add_gradients<double, double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? add_gradients<Half, float>(problem) : add_gradients<float, float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_stack_three_interpolate_forward, stack_three_interpolate_forward,
                          StackThreeInterpolateProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_stack_three_interpolate_backward, stack_three_interpolate_backward,
                          StackThreeInterpolateProblem, problem.function);
