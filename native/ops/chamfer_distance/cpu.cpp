// ChamferDistance on the CPU. Points look for the nearest one in a tree over the other cloud where
// both have many; else they look at all of them.
#include "ops/chamfer_distance/cpu_tree.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTilePoints = 512;
constexpr std::int64_t kBlock = 64;  // points that go through a tile together

// Some points as floats, one array for each coordinate. Up to the next whole vector, NaN stands
// behind the last one.
struct PlaneTile {
  alignas(kCacheLine) float x[kTilePoints];
  alignas(kCacheLine) float y[kTilePoints];
  std::int64_t count;

  template <typename T>
  void read(const T *points, std::int64_t number) {
    for (std::int64_t i = 0; i < number; ++i) {
      x[i] = to_float(points[kPlaneCoordinates * i]);
      y[i] = to_float(points[kPlaneCoordinates * i + 1]);
    }
    for (std::int64_t i = number; i % kLanes != 0; ++i) x[i] = y[i] = __builtin_nanf("");
    count = number;
  }
};

// A point, and the nearest of those others that each lane has seen.
template <typename Steps>
class Seeker {
 public:
  Seeker() = default;
  Seeker(float x, float y) : x_(x), y_(y), best_(all_lanes(__builtin_inff())), index_{} {}

  void look(const PlaneTile &tile, std::int32_t first) {
    IntVector number = lane_numbers() + first;
    for (std::int64_t i = 0; i < tile.count; i += kLanes) {
      const Vector dx = Steps::rounded(load(tile.x + i) - x_), dy = Steps::rounded(load(tile.y + i) - y_);
      const Vector distance = squared_length<Steps>(dx, dy);
      const IntVector nearer = distance < best_;  // not if it is NaN
      best_ = nearer ? distance : best_;
      index_ = nearer ? number : index_;
      number += kLanes;
    }
  }

  // Whether a point at a finite distance was seen; of equally near ones the lowest.
  bool found(float *distance, std::int32_t *index) const {
    *distance = __builtin_inff();
    *index = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (best_[lane] < *distance || (best_[lane] == *distance && index_[lane] < *index)) {
        *distance = best_[lane];
        *index = index_[lane];
      }
    }
    return *distance < __builtin_inff();
  }

 private:
  static IntVector lane_numbers() {
    IntVector numbers;
    for (int lane = 0; lane < kLanes; ++lane) numbers[lane] = lane;
    return numbers;
  }

  float x_, y_;
  Vector best_;
  IntVector index_;
};

inline void put(float value, float *to) { *to = value; }
inline void put(float value, Half *to) { store(to, value); }
inline void put(double value, double *to) { *to = value; }

inline float step_of(float value, const float *) { return value; }
inline float step_of(float value, const Half *) { return to_float(to_half(value)); }
inline double step_of(double value, const double *) { return value; }

inline float real(float value) { return value; }
inline float real(Half value) { return to_float(value); }
inline double real(double value) { return value; }

// The squared distance of two points in the steps of their type.
template <typename T>
inline auto squared_distance(const T *from, const T *to) {
  const auto dx = step_of(real(to[0]) - real(from[0]), from), dy = step_of(real(to[1]) - real(from[1]), from);
  return step_of(step_of(dx * dx, from) + step_of(dy * dy, from), from);
}

// For a point that is at no finite distance from another one: the first one from `start` on at an
// infinite distance, or the first of all.
template <typename T>
void settle(const T *from, const T *others, std::int64_t start, std::int64_t count, T *distance, std::int32_t *index) {
  std::int64_t found = start;
  const bool is_place = real(from[0]) == real(from[0]) && real(from[1]) == real(from[1]);
  while (is_place && found < count) {
    const auto d2 = squared_distance(from, others + found * kPlaneCoordinates);
    if (d2 == d2) break;
    ++found;
  }
  found = is_place && found < count ? found : 0;
  put(squared_distance(from, others + found * kPlaneCoordinates), distance);
  *index = static_cast<std::int32_t>(found);
}

template <typename T, typename Steps>
class Forward {
 public:
  explicit Forward(const NearestInPlane &of) : of_(of) {}

  // Points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    while (begin < end && !interrupted()) {
      const std::int64_t batch = begin / of_.points;
      const std::int64_t count = smaller(smaller(end - begin, (batch + 1) * of_.points - begin), kBlock);
      block(begin, count, static_cast<const T *>(of_.to) + batch * of_.others * kPlaneCoordinates);
      begin += count;
    }
  }

 private:
  const T *point(std::int64_t number) const { return static_cast<const T *>(of_.from) + number * kPlaneCoordinates; }

  void block(std::int64_t first, std::int64_t count, const T *others) const {
    Seeker<Steps> seekers[kBlock];
    for (std::int64_t i = 0; i < count; ++i) {
      const T *const from = point(first + i);
      seekers[i] = Seeker<Steps>(to_float(from[0]), to_float(from[1]));
    }
    PlaneTile tile;
    InterruptPoll poll;
    for (std::int64_t j = 0; j < of_.others; j += kTilePoints) {
      tile.read(others + j * kPlaneCoordinates, smaller(kTilePoints, of_.others - j));
      if (poll.interrupted(count * kTilePoints)) return;
      for (std::int64_t i = 0; i < count; ++i) seekers[i].look(tile, static_cast<std::int32_t>(j));
    }
    for (std::int64_t i = 0; i < count; ++i) finish(first + i, seekers[i], others);
  }

  void finish(std::int64_t number, const Seeker<Steps> &seeker, const T *others) const {
    T *const distance = static_cast<T *>(of_.distance) + number;
    float best;
    if (seeker.found(&best, of_.indices + number)) {
      put(best, distance);
    } else {
      settle(point(number), others, 0, of_.others, distance, of_.indices + number);
    }
  }

  const NearestInPlane &of_;
};

// In double, each point goes through the others in order.
struct DoubleForward {
  explicit DoubleForward(const NearestInPlane &given) : of(given) {}

  // Points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t number = begin; number < end && !interrupted(); ++number) find(number);
  }

  void find(std::int64_t number) const {
    const double *const from = static_cast<const double *>(of.from) + number * kPlaneCoordinates;
    const double *const others =
        static_cast<const double *>(of.to) + number / of.points * of.others * kPlaneCoordinates;
    double best = __builtin_inf();
    std::int64_t found = -1;
    for_slices(0, of.others, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j) {
        const double d2 = squared_distance(from, others + j * kPlaneCoordinates);
        if (!(d2 < best)) continue;
        best = d2;
        found = j;
      }
    });
    double *const distance = static_cast<double *>(of.distance) + number;
    if (found < 0) return settle(from, others, 0, of.others, distance, of.indices + number);
    *distance = best;
    of.indices[number] = static_cast<std::int32_t>(found);
  }

  const NearestInPlane &of;
};

// Searches for the points of one cloud of a batch in the tree over the other one, in the order of
// the leaves of their own tree, so that each begins with what the one before found.
template <typename T, typename Steps>
class TreeSearch {
 public:
  TreeSearch(const NearestInPlane &of, std::int64_t batch, const PlaneTree &own, const PlaneTree &other)
      : own_(own),
        other_(other),
        others_(of.others),
        from_(static_cast<const T *>(of.from) + batch * of.points * kPlaneCoordinates),
        to_(static_cast<const T *>(of.to) + batch * of.others * kPlaneCoordinates),
        distance_(static_cast<T *>(of.distance) + batch * of.points),
        indices_(of.indices + batch * of.points) {}

  // The points of some leaves.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    std::int32_t last = -1;
    for (std::int64_t number = begin; number < end; ++number) {
      if (poll.interrupted(kVisited)) return;
      const PlaneTree::Leaf &leaf = own_.leaf(number);
      for (int i = 0; i < leaf.count; ++i) last = find(leaf.x[i], leaf.y[i], leaf.index[i], last);
    }
  }

  // Points that are not finite, of some in their order.
  void settle_others(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll.interrupted(1)) return;
      const float x = real(from_[kPlaneCoordinates * i]), y = real(from_[kPlaneCoordinates * i + 1]);
      if (x - x == 0 && y - y == 0) continue;
      settle(i);
    }
  }

 private:
  static constexpr std::int64_t kVisited = 1 << 12;  // numbers that the searches of a leaf look at

  std::int32_t find(float x, float y, std::int32_t number, std::int32_t last) const {
    NearKey best = no_key();
    if (last >= 0) best = key_of(x, y, last);
    best = other_.nearest<Steps>(x, y, smaller(best, no_key()));
    if (best == no_key()) {
      settle(number);
      return -1;
    }
    put(distance_of(best), distance_ + number);
    indices_[number] = index_of(best);
    return index_of(best);
  }

  void settle(std::int64_t number) const {
    const std::int64_t first = other_.first_number(), start = first < 0 ? others_ : first;
    MLUOPS_LEVEL::settle(from_ + kPlaneCoordinates * number, to_, start, others_, distance_ + number,
                         indices_ + number);
  }

  NearKey key_of(float x, float y, std::int32_t other) const {
    const float dx = Steps::rounded(real(to_[kPlaneCoordinates * other]) - x);
    const float dy = Steps::rounded(real(to_[kPlaneCoordinates * other + 1]) - y);
    return near_key(squared_length<Steps>(dx, dy), other);
  }

  const PlaneTree &own_;
  const PlaneTree &other_;
  const std::int64_t others_;
  const T *const from_;
  const T *const to_;
  T *const distance_;
  std::int32_t *const indices_;
};

// Both directions, one batch after another, with a tree over each cloud.
template <typename T, typename Steps>
mluOpStatus_t search_trees(const ChamferDistanceForwardProblem &problem) {
  const NearestInPlane &first = problem.directions[0], &second = problem.directions[1];
  Arena size(nullptr);
  PlaneTree(size, first.points);
  PlaneTree(size, second.points);
  const Scratch<char> memory(size.used());
  if (memory.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(memory.data());
  PlaneTree trees[2] = {PlaneTree(arena, first.points), PlaneTree(arena, second.points)};
  for (std::int64_t batch = 0; batch < problem.batches && !interrupted(); ++batch) {
    parallel_slots(2, 2, [&](std::int64_t, std::int64_t cloud) {
      const NearestInPlane &of = problem.directions[cloud];
      trees[cloud].build(static_cast<const T *>(of.from) + batch * of.points * kPlaneCoordinates, of.points);
    });
    for (int cloud = 0; cloud < 2 && !interrupted(); ++cloud) {
      TreeSearch<T, Steps> search(problem.directions[cloud], batch, trees[cloud], trees[1 - cloud]);
      constexpr std::int64_t kLeaves = 16, kPoints = 1 << 14;
      parallel_for(trees[cloud].leaves(), kLeaves, search);
      auto rest = [&](std::int64_t begin, std::int64_t end) { search.settle_others(begin, end); };
      parallel_for(problem.directions[cloud].points, kPoints, rest);
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

// Writes what there is without other points.
template <typename T>
void write_zeros(const NearestInPlane &of, std::int64_t count) {
  for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
    std::memset(static_cast<T *>(of.distance) + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
    std::memset(of.indices + begin, 0, static_cast<std::size_t>(end - begin) * sizeof *of.indices);
  });
}

template <typename T, typename Body>
void nearest(const NearestInPlane &of, std::int64_t batches) {
  constexpr std::int64_t kDistances = 1 << 16;
  const std::int64_t count = batches * of.points;
  if (count == 0) return;
  if (of.others == 0) return write_zeros<T>(of, count);
  Body body(of);
  parallel_for(count, kDistances / of.others + 8, body);
}

// ---- gradients ----

// The gradient of one cloud in a batch, added up in float or double.
template <typename T>
class Backward {
 public:
  typedef decltype(real(T{})) Real;

  explicit Backward(const ChamferDistanceBackwardProblem &problem) : problem_(problem) {}

  // The gradient of cloud 0 or 1, which is added up in `sums`: that of T itself where it is wide
  // enough.
  void run(std::int64_t batch, int cloud, Real *sums) const {
    const PlaneGradient &own = problem_.directions[cloud], &other = problem_.directions[1 - cloud];
    for_slices(0, own.points * kPlaneCoordinates, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sums[i] = 0;
    });
    if (cloud == 0) {
      add_own(batch, own, other, sums);
      add_named(batch, other, own, sums);
    } else {
      add_named(batch, other, own, sums);
      add_own(batch, own, other, sums);
    }
  }

 private:
  static const T *row(const void *rows, std::int64_t number) {
    return static_cast<const T *>(rows) + number * kPlaneCoordinates;
  }

  // To each point of `own` what its own distance gives.
  void add_own(std::int64_t batch, const PlaneGradient &own, const PlaneGradient &other, Real *sums) const {
    for_slices(0, own.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t number = batch * own.points + i;
        const std::int64_t j = read_once(own.indices + number);
        if (j < 0 || j >= other.points) continue;
        add(own, number, row(other.from, batch * other.points + j), 1, sums + i * kPlaneCoordinates);
      }
    });
  }

  // To each point of `own` what the distances of those of `other` give that name it.
  void add_named(std::int64_t batch, const PlaneGradient &other, const PlaneGradient &own, Real *sums) const {
    for_slices(0, other.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t number = batch * other.points + i;
        const std::int64_t j = read_once(other.indices + number);
        if (j < 0 || j >= own.points) continue;
        add(other, number, row(own.from, batch * own.points + j), -1, sums + j * kPlaneCoordinates);
      }
    });
  }

  static void add(const PlaneGradient &of, std::int64_t number, const T *to, Real sign, Real *sums) {
    const T *const from = row(of.from, number);
    const Real gradient = real(static_cast<const T *>(of.grad_distance)[number]) * 2;
    for (int k = 0; k < kPlaneCoordinates; ++k) sums[k] += sign * (gradient * (real(from[k]) - real(to[k])));
  }

  const ChamferDistanceBackwardProblem &problem_;
};

// Points in each cloud from which on trees are faster.
constexpr std::int64_t kTreePoints = 256;

template <typename T, typename Body>
mluOpStatus_t look_at_all(const ChamferDistanceForwardProblem &problem) {
  for (const NearestInPlane &of : problem.directions) {
    nearest<T, Body>(of, problem.batches);
    if (interrupted()) break;
  }
  return MLUOP_STATUS_SUCCESS;
}

template <typename T, typename Steps>
mluOpStatus_t forward(const ChamferDistanceForwardProblem &problem) {
  const bool many = smaller(problem.directions[0].points, problem.directions[1].points) >= kTreePoints;
  return many ? search_trees<T, Steps>(problem) : look_at_all<T, Forward<T, Steps>>(problem);
}

// Each task is the gradient of one cloud in one batch, so that additions have one order.
template <typename T>
mluOpStatus_t backward(const ChamferDistanceBackwardProblem &problem) {
  const Backward<T> gradients(problem);
  constexpr bool kRounded = sizeof(T) < sizeof(float);
  const std::int64_t tasks = 2 * problem.batches;
  const std::int64_t most = larger(problem.directions[0].points, problem.directions[1].points) * kPlaneCoordinates;
  const std::int64_t slots = useful_slots(tasks, most);
  const Scratch<float> sums(kRounded ? slots * most : 0);
  if (sums.data() == nullptr) return out_of_memory(problem.function);
  parallel_slots(tasks, slots, [&](std::int64_t slot, std::int64_t task) {
    if (interrupted()) return;
    const std::int64_t batch = task / 2;
    const PlaneGradient &of = problem.directions[task % 2];
    const std::int64_t count = of.points * kPlaneCoordinates;
    T *const result = static_cast<T *>(of.gradient) + batch * count;
    if constexpr (kRounded) {
      float *const own = sums.data() + slot * most;
      gradients.run(batch, static_cast<int>(task % 2), own);
      for (std::int64_t i = 0; i < count; ++i) put(own[i], result + i);
    } else {
      gradients.run(batch, static_cast<int>(task % 2), result);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t chamfer_distance_forward(const ChamferDistanceForwardProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return look_at_all<double, DoubleForward>(problem);
  if (problem.type == MLUOP_DTYPE_HALF) return forward<Half, HalfDistance>(problem);
  return forward<float, FloatDistance>(problem);
}

mluOpStatus_t chamfer_distance_backward(const ChamferDistanceBackwardProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_chamfer_distance_forward, chamfer_distance_forward, ChamferDistanceForwardProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_chamfer_distance_backward, chamfer_distance_backward, ChamferDistanceBackwardProblem,
                          problem.function);
