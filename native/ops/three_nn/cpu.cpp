// ThreeNN on the CPU. Each lane of a vector is an unknown point that goes through the known points in order; their three best are
// kept sorted. What is nearer than the third of them gets rare, so the insertion stands behind a branch later on. Known points are
// taken a tile at a time, in which all groups of a block look before the next one is read.
#include "ops/three_nn/cpu_double.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlockUnknowns = 64;
constexpr int kGroupVectors = 2;  // more would not stay in registers
constexpr std::int64_t kGroup = kGroupVectors * kLanes;
static_assert(kBlockUnknowns % kGroup == 0, "a block is whole groups");

// The nearest three of as many unknown points as a vector has lanes.
struct Nearest {
  Vector distance[kNearest];
  IntVector index[kNearest];

  void clear(float missing) {
    for (int i = 0; i < kNearest; ++i) {
      distance[i] = all_lanes(missing);
      index[i] = IntVector{};
    }
  }

  // Where `d2` is not smaller, which it never is as a NaN, an earlier index stays.
  void insert(Vector d2, IntVector numbers) {
    const IntVector first = d2 < distance[0];
    const IntVector second = d2 < distance[1];
    const IntVector third = d2 < distance[2];
    distance[2] = second ? distance[1] : (third ? d2 : distance[2]);
    index[2] = second ? index[1] : (third ? numbers : index[2]);
    distance[1] = first ? distance[0] : (second ? d2 : distance[1]);
    index[1] = first ? index[0] : (second ? numbers : index[1]);
    distance[0] = first ? d2 : distance[0];
    index[0] = first ? numbers : index[0];
  }
};

// Unknown points that are worked on together.
struct Group {
  Vector x[kGroupVectors], y[kGroupVectors], z[kGroupVectors];
  Nearest nearest[kGroupVectors];

  // Known points as rows of coordinates, numbered from `first` on.
  void look(const float *rows, std::int64_t count, std::int32_t first) {
    const std::int64_t early = smaller(count, larger<std::int64_t>(kEarly - first, 0));
    for (int v = 0; v < kGroupVectors; ++v) insert_all(v, rows, early, first);
    insert_nearer(rows + early * kCoordinates, count - early, first + static_cast<std::int32_t>(early));
  }

 private:
  // Of the first known points most are nearer than the third nearest of some lane: there a branch would cost more than it saves.
  // Without instructions that blend, insertions cost more.
  static constexpr std::int64_t kEarly = kLanes > 4 ? 256 : 0;

  Vector distance_to(int v, const float *row) const {
    const Vector dx = row[0] - x[v], dy = row[1] - y[v], dz = row[2] - z[v];
    return (dx * dx + dy * dy) + dz * dz;
  }

  void insert_all(int v, const float *row, std::int64_t count, std::int32_t first) {
    Nearest found = nearest[v];               // stays in registers
    IntVector numbers = IntVector{} + first;  // counted up as a vector: broadcasts would cost as much as a comparison
    for (std::int64_t k = 0; k < count; ++k, row += kCoordinates, numbers += 1)
      found.insert(distance_to(v, row), numbers);
    nearest[v] = found;
  }

  void insert_nearer(const float *row, std::int64_t count, std::int32_t first) {
    Group group = *this;  // stays in registers
    for (std::int64_t k = 0; k < count; ++k, row += kCoordinates) {
      Vector d2[kGroupVectors];
      IntVector nearer = {};
      for (int v = 0; v < kGroupVectors; ++v) {
        d2[v] = group.distance_to(v, row);
        nearer |= d2[v] < group.nearest[v].distance[kNearest - 1];
      }
      if (lane_bits(nearer) == 0) continue;
      const IntVector numbers = IntVector{} + (first + static_cast<std::int32_t>(k));
      for (int v = 0; v < kGroupVectors; ++v) group.nearest[v].insert(d2[v], numbers);
    }
    *this = group;
  }
};

inline const float *as_floats(const float *values, float *, std::int64_t) { return values; }
inline const float *as_floats(const Half *values, float *room, std::int64_t count) {
  load_row(values, room, count);
  return room;
}

// Distances from here on are infinite in the type of the result.
inline float least_missing(const float *) { return __builtin_inff(); }
inline float least_missing(const Half *) { return 65520.0f; }

template <typename T>
class ThreeNN {
 public:
  explicit ThreeNN(const ThreeNNForwardProblem &problem) : problem_(problem) {}

  // Unknown points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    while (begin < end && !interrupted()) {
      const std::int64_t batch = begin / problem_.unknowns;
      const std::int64_t in_batch = (batch + 1) * problem_.unknowns - begin;
      const std::int64_t count = smaller(smaller(end - begin, in_batch), kBlockUnknowns);
      block(batch, begin, count);
      begin += count;
    }
  }

 private:
  void block(std::int64_t batch, std::int64_t begin, std::int64_t count) const {
    Group groups[kBlockUnknowns / kGroup];
    const std::int64_t used = (count + kGroup - 1) / kGroup;
    for (std::int64_t g = 0; g < used; ++g) start(groups[g], begin + g * kGroup, count - g * kGroup);
    const T *known = static_cast<const T *>(problem_.known) + batch * problem_.knowns * kCoordinates;
    float room[kTilePoints * kCoordinates];
    InterruptPoll poll;
    for (std::int64_t k = 0; k < problem_.knowns; k += kTilePoints) {
      const std::int64_t tile = smaller(kTilePoints, problem_.knowns - k);
      const float *rows = as_floats(known + k * kCoordinates, room, tile * kCoordinates);
      for (std::int64_t g = 0; g < used; ++g) groups[g].look(rows, tile, static_cast<std::int32_t>(k));
      if (poll.interrupted(tile * used * kGroup)) return;
    }
    for (std::int64_t g = 0; g < used; ++g) write(groups[g], begin + g * kGroup, count - g * kGroup);
  }

  // Lanes without a point have NaN, to which nothing is near.
  void start(Group &group, std::int64_t number, std::int64_t count) const {
    const T *from = static_cast<const T *>(problem_.unknown) + number * kCoordinates;
    alignas(kCacheLine) float points[kCoordinates][kGroup];
    for (std::int64_t i = 0; i < kGroup; ++i) {
      for (std::int64_t c = 0; c < kCoordinates; ++c)
        points[c][i] = i < count ? to_float(from[i * kCoordinates + c]) : __builtin_nanf("");
    }
    for (int v = 0; v < kGroupVectors; ++v) {
      group.x[v] = load(points[0] + v * kLanes);
      group.y[v] = load(points[1] + v * kLanes);
      group.z[v] = load(points[2] + v * kLanes);
      group.nearest[v].clear(least_missing(from));
    }
  }

  void write(const Group &group, std::int64_t number, std::int64_t count) const {
    T *const dist2 = static_cast<T *>(problem_.dist2) + number * kNearest;
    std::int32_t *const indices = problem_.indices + number * kNearest;
    for (int v = 0; v < kGroupVectors; ++v) {
      const std::int64_t lanes = smaller<std::int64_t>(kLanes, count - v * kLanes);
      for (int i = 0; i < kNearest; ++i) {
        float distance[kLanes];
        std::int32_t index[kLanes];
        store(distance, group.nearest[v].distance[i]);
        store(index, group.nearest[v].index[i]);
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const std::int64_t place = (v * kLanes + lane) * kNearest + i;
          store(dist2 + place, distance[lane]);
          indices[place] = index[lane];
        }
      }
    }
  }

  const ThreeNNForwardProblem &problem_;
};

template <typename Body>
void run(const ThreeNNForwardProblem &problem) {
  constexpr std::int64_t kDistances = 1 << 16;
  const std::int64_t grain = larger(kGroup, kDistances / larger<std::int64_t>(problem.knowns, 1));
  Body body{problem};
  parallel_for(problem.batches * problem.unknowns, grain, body);
}

}  // namespace

mluOpStatus_t three_nn_forward(const ThreeNNForwardProblem &problem) {
  if (problem.is_double) {
    run<DoubleThreeNN>(problem);
  } else if (problem.half) {
    run<ThreeNN<Half>>(problem);
  } else {
    run<ThreeNN<float>>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_three_nn_forward, three_nn_forward, ThreeNNForwardProblem,
                     problem.is_double ? "mluopsExtThreeNNForwardDouble" : "mluOpThreeNNForward");
