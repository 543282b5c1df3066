// ThreeNN on the CPU. Each lane of a vector is an unknown point that goes through the known points
// in order; its three nearest are kept sorted. A point nearer than the third becomes rare, so the
// insertion is behind a branch after the first points. Known points are read a tile at a time, for
// all groups of a block.
#include "cpu/tree_search.h"
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

  // Keeps the earlier index unless `d2` is smaller, which a NaN never is.
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

// Unknown points that are processed together.
struct Group {
  Vector x[kGroupVectors], y[kGroupVectors], z[kGroupVectors];
  Nearest nearest[kGroupVectors];

  // Goes through known points: rows of coordinates, numbered from `first` on.
  void look(const float *rows, std::int64_t count, std::int32_t first) {
    const std::int64_t early = smaller(count, larger<std::int64_t>(kEarly - first, 0));
    for (int v = 0; v < kGroupVectors; ++v) insert_all(v, rows, early, first);
    insert_nearer(rows + early * kCoordinates, count - early, first + static_cast<std::int32_t>(early));
  }

 private:
  // Most of the first known points are nearer than the third nearest of some lane: a branch would
  // cost more than it saves. Without blend instructions, insertions cost more.
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

// All known points, for all batches for which a tree does not pay.
template <typename T>
class ThreeNN {
 public:
  explicit ThreeNN(const Clouds &clouds) : clouds_(clouds), problem_(clouds.problem) {}

  // Unknown points are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for_blocks(clouds_.unknown, begin, end, kBlockUnknowns,
               [&](std::int64_t batch, std::int64_t first, std::int64_t last) {
                 if (!clouds_.has_tree(batch)) block(batch, first, last - first);
               });
  }

 private:
  void block(std::int64_t batch, std::int64_t begin, std::int64_t count) const {
    Group groups[kBlockUnknowns / kGroup];
    const std::int64_t used = (count + kGroup - 1) / kGroup, knowns = clouds_.known.count(batch);
    for (std::int64_t g = 0; g < used; ++g) start(groups[g], begin + g * kGroup, count - g * kGroup);
    const T *known = static_cast<const T *>(problem_.known) + clouds_.known.begin(batch) * kCoordinates;
    float room[kTilePoints * kCoordinates];
    InterruptPoll poll;
    for (std::int64_t k = 0; k < knowns; k += kTilePoints) {
      const std::int64_t tile = smaller(kTilePoints, knowns - k);
      const float *rows = as_floats(known + k * kCoordinates, room, tile * kCoordinates);
      for (std::int64_t g = 0; g < used; ++g) groups[g].look(rows, tile, static_cast<std::int32_t>(k));
      if (poll.interrupted(tile * used * kGroup)) return;
    }
    const std::int32_t base = clouds_.base(batch);
    for (std::int64_t g = 0; g < used; ++g) write(groups[g], begin + g * kGroup, count - g * kGroup, base);
  }

  // Lanes without a point hold NaN, to which no point is near.
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

  void write(const Group &group, std::int64_t number, std::int64_t count, std::int32_t base) const {
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
          indices[place] = base + index[lane];
        }
      }
    }
  }

  const Clouds &clouds_;
  const ThreeNNForwardProblem &problem_;
};

// The three least keys.
class NearestThree {
 public:
  explicit NearestThree(NearKey missing) : key_{missing, missing, missing} {}
  NearKey worst() const { return key_[2]; }
  NearKey operator[](int i) const { return key_[i]; }
  void insert(NearKey key) {
    key_[2] = smaller(key_[2], larger(key_[1], key));
    key_[1] = smaller(key_[1], larger(key_[0], key));
    key_[0] = smaller(key_[0], key);
  }

 private:
  NearKey key_[kNearest];
};

// The unknown points of a batch, by a tree over its known ones.
template <typename T>
struct TreeThreeNN {
  const Clouds &clouds;
  const std::int64_t batch;
  const PointTree &tree;
  const SearchOrder &order;

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t first = clouds.unknown.begin(batch);
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll.interrupted(kNearest) || !find(first + order[i], poll)) return;
    }
  }

 private:
  bool find(std::int64_t number, InterruptPoll &poll) const {
    const T *row = static_cast<const T *>(clouds.problem.unknown) + number * kCoordinates;
    const Place place(row);
    NearestThree nearest(near_key(least_missing(row), 0));
    if (place.finite() && !NearestSearch<NearestThree>(tree, place, nearest).run(poll)) return false;
    for (int i = 0; i < kNearest; ++i) {
      store(static_cast<T *>(clouds.problem.dist2) + number * kNearest + i, distance_of(nearest[i]));
      clouds.problem.indices[number * kNearest + i] = clouds.base(batch) + index_of(nearest[i]);
    }
    return true;
  }
};

// Without memory for a tree, false: then all points are looked at.
template <typename T>
bool find_by_tree(const Clouds &clouds, std::int64_t batch) {
  const std::int64_t unknowns = clouds.unknown.count(batch), knowns = clouds.known.count(batch);
  CloudTree cloud(knowns);
  if (!cloud.has_memory()) return false;
  cloud.build(static_cast<const T *>(clouds.problem.known) + clouds.known.begin(batch) * kCoordinates, knowns);
  SearchOrder order(unknowns);
  order.sort(static_cast<const T *>(clouds.problem.unknown) + clouds.unknown.begin(batch) * kCoordinates);
  if (interrupted()) return true;
  constexpr std::int64_t kGrain = 64;
  TreeThreeNN<T> body{clouds, batch, cloud.tree(), order};
  parallel_for(unknowns, kGrain, body);
  return true;
}

template <typename T>
void run(Clouds &clouds) {
  const std::int64_t batches = clouds.unknown.batches;
  const Scratch<bool> trees(batches);
  std::int64_t left = 0;
  for (std::int64_t batch = 0; batch < batches && !interrupted(); ++batch) {
    const std::int64_t unknowns = clouds.unknown.count(batch);
    const bool found =
        trees.data() != nullptr && tree_pays(unknowns, clouds.known.count(batch)) && find_by_tree<T>(clouds, batch);
    if (trees.data() != nullptr) trees.data()[batch] = found;
    left += found ? 0 : unknowns * larger<std::int64_t>(clouds.known.count(batch), 1);
  }
  if (left == 0 || interrupted()) return;
  clouds.trees = trees.data();
  constexpr double kDistances = 1 << 16;
  const double each = static_cast<double>(left) / static_cast<double>(clouds.unknown.all());
  ThreeNN<T> body{clouds};
  parallel_for(clouds.unknown.all(), larger<std::int64_t>(kGroup, static_cast<std::int64_t>(kDistances / each)), body);
}

}  // namespace

mluOpStatus_t three_nn_forward(const ThreeNNForwardProblem &problem) {
  Clouds clouds(problem);
  if (problem.is_double) {
    run_in_double(clouds);
  } else if (problem.half) {
    run<Half>(clouds);
  } else {
    run<float>(clouds);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_three_nn_forward, three_nn_forward, ThreeNNForwardProblem, problem.function);
