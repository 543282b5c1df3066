// Picking features by indices on the CPU, and adding gradients back. Forward moves bits, whatever
// type they are. Backward, a task owns the rows that it adds to, so there are no atomics and one
// order of additions.
#include "cpu/half.h"
#include "ops/group_points/cpu_stack.h"

MLUOPS_BEGIN_LEVEL
namespace {

// A part of the indices of a batch, read once.
struct Places {
  static constexpr std::int64_t kMost = 1024;
  std::int32_t place[kMost];
  std::int64_t count;
  bool all;  // each is a point

  Places(const std::int32_t *indices, std::int64_t number, std::int64_t points) : count(number) {
    copy_once(place, indices, number);
    std::uint32_t greatest = 0;
    for (std::int64_t i = 0; i < number; ++i) greatest = larger(greatest, static_cast<std::uint32_t>(place[i]));
    all = greatest < points;
  }
};

inline bool is_point(std::int32_t place, std::int64_t points) { return static_cast<std::uint32_t>(place) < points; }

// How the rows [batches, channels] are shared: tasks of some channels of a batch, and of some of
// its indices.
struct Shares {
  static constexpr std::int64_t kMostChannels = 8;  // whose rows stay in the caches

  Shares(const GroupPointsProblem &p, bool cut_indices) {
    const std::int64_t wanted = 4 * thread_count(), rows = p.batches * p.channels;
    channels = larger<std::int64_t>(smaller(kMostChannels, rows / wanted), 1);
    blocks = (p.channels + channels - 1) / channels;
    const std::int64_t tiles = (p.indexed + Places::kMost - 1) / Places::kMost;
    pieces = cut_indices ? smaller(tiles, larger<std::int64_t>(wanted / (p.batches * blocks), 1)) : 1;
    piece = (tiles + pieces - 1) / pieces * Places::kMost;
    tasks = p.batches * blocks * pieces;
  }
  std::int64_t channels, blocks, pieces, piece, tasks;
};

template <typename Bits>
void pick(const Places &places, const Bits *row, std::int64_t points, Bits *__restrict to) {
  if (places.all) {
    for (std::int64_t i = 0; i < places.count; ++i) to[i] = row[places.place[i]];
  } else {
    for (std::int64_t i = 0; i < places.count; ++i)
      to[i] = is_point(places.place[i], points) ? row[places.place[i]] : Bits{0};
  }
}

template <typename Bits>
struct Forward {
  const GroupPointsProblem &p;
  const Shares shares;

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t block = task / shares.pieces % shares.blocks, batch = task / shares.pieces / shares.blocks;
      const std::int64_t c = block * shares.channels, last = smaller(c + shares.channels, p.channels);
      const std::int64_t from = task % shares.pieces * shares.piece, to = smaller(from + shares.piece, p.indexed);
      for (std::int64_t i = from; i < to; i += Places::kMost) {
        const Places places(p.indices + batch * p.indexed + i, smaller(Places::kMost, to - i), p.points);
        for (std::int64_t row = batch * p.channels + c; row < batch * p.channels + last; ++row) {
          if (poll.interrupted(places.count)) return;
          pick(places, static_cast<const Bits *>(p.source) + row * p.points, p.points,
               static_cast<Bits *>(p.result) + row * p.indexed + i);
        }
      }
    }
  }
};

// Real is the type of the gradients, Sum that of sums; each slot has rows of sums of its own where
// these differ.
template <typename Real, typename Sum>
struct Backward {
  const GroupPointsProblem &p;
  const Shares shares;
  Sum *const rooms;  // NULL where sums are added up in the result

  void operator()(int slot, std::int64_t task) const {
    const std::int64_t block = task % shares.blocks, batch = task / shares.blocks;
    const std::int64_t c = block * shares.channels, count = smaller(shares.channels, p.channels - c);
    const std::int64_t row = batch * p.channels + c;
    Real *const result = static_cast<Real *>(p.result) + row * p.points;
    Sum *const sums = sums_of(result, slot);
    const Real *gradients = static_cast<const Real *>(p.source) + row * p.indexed;
    for_slices(0, count * p.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sums[i] = 0;
    });
    InterruptPoll poll;
    for (std::int64_t i = 0; i < p.indexed; i += Places::kMost) {
      const Places places(p.indices + batch * p.indexed + i, smaller(Places::kMost, p.indexed - i), p.points);
      for (std::int64_t k = 0; k < count; ++k) {
        if (poll.interrupted(places.count)) return;
        add(places, gradients + k * p.indexed + i, sums + k * p.points);
      }
    }
    write(result, sums, count * p.points);
  }

 private:
  static double *sums_of(double *result, int) { return result; }
  static float *sums_of(float *result, int) { return result; }
  float *sums_of(Half *, int slot) const { return rooms + slot * shares.channels * p.points; }

  void add(const Places &places, const Real *gradients, Sum *sums) const {
    for (std::int64_t i = 0; i < places.count; ++i) {
      if (places.all || is_point(places.place[i], p.points)) sums[places.place[i]] += to_sum(gradients[i]);
    }
  }

  static void write(double *, const double *, std::int64_t) {}
  static void write(float *, const float *, std::int64_t) {}
  static void write(Half *result, const float *sums, std::int64_t count) {
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) store(result + i, sums[i]);
    });
  }
};

template <typename Bits>
mluOpStatus_t pick_all(const GroupPointsProblem &problem) {
  Forward<Bits> forward{problem, Shares(problem, true)};
  parallel_for(forward.shares.tasks, 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real, typename Sum>
mluOpStatus_t add_all(const GroupPointsProblem &problem) {
  const Shares shares(problem, false);
  const std::int64_t slots = useful_slots(shares.tasks, shares.channels * (problem.indexed + problem.points));
  constexpr bool kRooms = sizeof(Real) != sizeof(Sum);
  const Scratch<Sum> rooms(kRooms ? slots * shares.channels * problem.points : 0);
  if (rooms.data() == nullptr) return out_of_memory(problem.function);
  const Backward<Real, Sum> backward{problem, shares, rooms.data()};
  parallel_slots(shares.tasks, slots, backward);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t group_points_forward(const GroupPointsProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return pick_all<std::uint64_t>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? pick_all<std::uint16_t>(problem) : pick_all<std::uint32_t>(problem);
}

mluOpStatus_t group_points_backward(const GroupPointsProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return add_all<double, double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? add_all<Half, float>(problem) : add_all<float, float>(problem);
}

mluOpStatus_t stack_group_points_forward(const StackGroupPointsProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return pick_stack<std::uint64_t>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? pick_stack<std::uint16_t>(problem) : pick_stack<std::uint32_t>(problem);
}

mluOpStatus_t stack_group_points_backward(const StackGroupPointsProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return add_stack<double, double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? add_stack<Half, float>(problem) : add_stack<float, float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_group_points_forward, group_points_forward, GroupPointsProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_group_points_backward, group_points_backward, GroupPointsProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_stack_group_points_forward, stack_group_points_forward, StackGroupPointsProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_stack_group_points_backward, stack_group_points_backward, StackGroupPointsProblem,
                          problem.function);
