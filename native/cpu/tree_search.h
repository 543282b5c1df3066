// Searches in a tree over points: its memory, the order of searches, distances from boxes and
// points, and the nearest points.
#ifndef MLUOPS_CPU_TREE_SEARCH_H_
#define MLUOPS_CPU_TREE_SEARCH_H_

#include "cpu/point_tree.h"
#include "cpu/points.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Vectors of at most as many lanes as a group has nodes: longer ones would be half empty.
#if defined(__AVX512F__)
typedef float TreeVector __attribute__((vector_size(32)));
typedef std::int32_t TreeInts __attribute__((vector_size(32)));

static inline TreeVector larger_lanes(TreeVector a, TreeVector b) { return a > b ? a : b; }
static inline unsigned lane_bits(TreeInts lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
}
static inline TreeVector round_to_half(TreeVector vector) {
  return reinterpret_cast<TreeVector>(
      _mm256_cvtph_ps(_mm256_cvtps_ph(reinterpret_cast<__m256>(vector), _MM_FROUND_TO_NEAREST_INT)));
}
#else
typedef Vector TreeVector;
typedef IntVector TreeInts;
#endif
constexpr int kTreeLanes = sizeof(TreeVector) / sizeof(float);
constexpr int kGroupVectors = PointTree::kWidth / kTreeLanes;
constexpr int kLeafVectors = PointTree::kLeaf / kTreeLanes;

template <typename To, typename From>
static inline To load_tree(const From *from) {
  To vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Where a search looks from.
struct Place {
  Place() {}  // sets nothing
  template <typename T>
  explicit Place(const T *row) : x(to_float(row[0])), y(to_float(row[1])), z(to_float(row[2])) {}
  bool finite() const { return x - x == 0 && y - y == 0 && z - z == 0; }
  float x, y, z;
};

// What every step of a distance is rounded to. Both keep the order of numbers.
struct FloatSteps {
  template <typename V>
  static V rounded(V value) {
    return value;
  }
};
struct HalfSteps {
  template <typename V>
  static V rounded(V value) {
    return round_to_half(value);
  }
};

template <typename Steps, typename V>
static inline V squared_length(V dx, V dy, V dz) {
  const V xy = Steps::rounded(Steps::rounded(dx * dx) + Steps::rounded(dy * dy));
  return Steps::rounded(xy + Steps::rounded(dz * dz));
}

// Squared distances of points whose coordinates are in three arrays.
template <typename Steps, typename V = Vector>
static inline V point_distances(const float *x, const float *y, const float *z, const Place &from) {
  return squared_length<Steps>(Steps::rounded(load_tree<V>(x) - from.x), Steps::rounded(load_tree<V>(y) - from.y),
                               Steps::rounded(load_tree<V>(z) - from.z));
}

// Those of vector `v` of a leaf.
template <typename Steps>
static inline TreeVector leaf_distances(const float *leaf, int v, const Place &from) {
  const float *const x = leaf + v * kTreeLanes;
  return point_distances<Steps, TreeVector>(x, x + PointTree::kLeaf, x + 2 * PointTree::kLeaf, from);
}

template <typename Steps>
static inline TreeVector axis_distances(const float *low, const float *high, float from) {
  const TreeVector below = load_tree<TreeVector>(low) - from, above = from - load_tree<TreeVector>(high);
  return Steps::rounded(larger_lanes(larger_lanes(below, above), TreeVector{}));
}

// The least squared distance that a point in each box of vector `v` of a group can have.
template <typename Steps>
static inline TreeVector box_distances(const float *group, int v, const Place &from) {
  constexpr int kWidth = PointTree::kWidth;
  const float *const low = group + v * kTreeLanes, *const high = low + 3 * kWidth;
  return squared_length<Steps>(axis_distances<Steps>(low, high, from.x),
                               axis_distances<Steps>(low + kWidth, high + kWidth, from.y),
                               axis_distances<Steps>(low + 2 * kWidth, high + 2 * kWidth, from.z));
}

// A tree over the points of a cloud that have only finite coordinates; the others are near to
// nothing.
class CloudTree {
 public:
  explicit CloudTree(std::int64_t most) : memory_(PointTree::bytes(most)), tree_(memory_.data(), most) {}
  bool has_memory() const { return memory_.data() != nullptr; }
  const PointTree &tree() const { return tree_; }

  // `count` is at most what there is room for.
  template <typename T>
  void build(const T *rows, std::int64_t count) {
    TreePoint *const points = tree_.points();
    auto read = [=](std::int64_t begin, std::int64_t end) {
      for_slices(begin, end, [=](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) points[i] = point(rows, i);
      });
    };
    constexpr std::int64_t kGrain = 1 << 14;
    parallel_for(count, kGrain, read);
    tree_.build(keep_finite(points, count));
  }

 private:
  template <typename T>
  static TreePoint point(const T *rows, std::int64_t i) {
    const T *const row = rows + i * kCoordinates;
    return {{to_float(row[0]), to_float(row[1]), to_float(row[2])}, static_cast<std::int32_t>(i)};
  }

  static std::int64_t keep_finite(TreePoint *points, std::int64_t count) {
    std::int64_t kept = 0;
    for_slices(0, count, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const TreePoint point = points[i];
        points[kept] = point;
        float sum = 0;  // a NaN if one of them is not finite
        for (float coordinate : point.coordinate) sum += coordinate - coordinate;
        kept += sum == 0;
      }
    });
    return kept;
  }

  const Scratch<char> memory_;
  PointTree tree_;
};

// An order of searches in which neighbours look in the same parts of a tree: by cells of a grid,
// whose numbers interleave the bits of the axes. Without memory, searches stay in their order.
class SearchOrder {
 public:
  explicit SearchOrder(std::int64_t count) : count_(count), order_(count), ends_(kCells + 1) {}

  template <typename T>
  void sort(const T *rows) {
    if (order_.data() == nullptr || ends_.data() == nullptr) return;
    bound(rows);
    std::int32_t *const ends = ends_.data(), *const order = order_.data();
    std::memset(ends, 0, (kCells + 1) * sizeof *ends);
    std::memset(order, 0, static_cast<std::size_t>(count_) * sizeof *order);  // rows may change meanwhile
    for_slices(0, count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++ends[cell(rows, i) + 1];
    });
    for (int i = 0; i < kCells; ++i) ends[i + 1] += ends[i];
    for_slices(0, count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t place = ends[cell(rows, i)]++;
        if (place < count_) order[place] = static_cast<std::int32_t>(i);
      }
    });
    sorted_ = true;
  }

  std::int64_t operator[](std::int64_t i) const { return sorted_ ? order_.data()[i] : i; }

 private:
  static constexpr int kBits = 5;  // of each axis
  static constexpr int kCells = 1 << kCoordinates * kBits;

  template <typename T>
  void bound(const T *rows) {
    float low[kCoordinates], high[kCoordinates];
    for (int axis = 0; axis < kCoordinates; ++axis) low[axis] = __builtin_inff(), high[axis] = -__builtin_inff();
    for_slices(0, count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Place place(rows + i * kCoordinates);
        const float at[kCoordinates] = {place.x, place.y, place.z};
        for (int axis = 0; axis < kCoordinates && place.finite(); ++axis) {
          low[axis] = smaller(low[axis], at[axis]);
          high[axis] = larger(high[axis], at[axis]);
        }
      }
    });
    for (int axis = 0; axis < kCoordinates; ++axis) {
      const float length = high[axis] - low[axis];
      low_[axis] = low[axis];
      scale_[axis] = length > 0 && length < 3e38f ? static_cast<float>(1 << kBits) / length : 0;
    }
  }

  template <typename T>
  std::int32_t cell(const T *rows, std::int64_t i) const {
    std::uint32_t number = 0;
    for (int axis = 0; axis < kCoordinates; ++axis) {
      const float place = (to_float(rows[i * kCoordinates + axis]) - low_[axis]) * scale_[axis];
      constexpr int kLast = (1 << kBits) - 1;
      std::uint32_t bits = place > 0 ? place < kLast ? static_cast<std::uint32_t>(place) : kLast : 0;
      bits = (bits | bits << 8) & 0x100f;  // five bits, each third place
      bits = (bits | bits << 4) & 0x10c3;
      bits = (bits | bits << 2) & 0x1249;
      number |= bits << axis;
    }
    return static_cast<std::int32_t>(number);
  }

  const std::int64_t count_;
  const Scratch<std::int32_t> order_, ends_;
  float low_[kCoordinates], scale_[kCoordinates];
  bool sorted_ = false;
};

// ---- The nearest points ------------------------------------------------------------------------

// A squared distance and an index as one number: sorted by distance, then by index.
typedef std::uint64_t NearKey;

static inline NearKey near_key(float d2, std::int32_t index) {
  return static_cast<NearKey>(float_to_bits(d2)) << 32 | static_cast<std::uint32_t>(index);
}
static inline float distance_of(NearKey key) { return bits_to_float(static_cast<std::uint32_t>(key >> 32)); }
static inline std::int32_t index_of(NearKey key) { return static_cast<std::int32_t>(key & 0xffffffffu); }

// Puts all points into a list whose keys may be less than its worst().
template <typename List>
class NearestSearch {
 public:
  NearestSearch(const PointTree &tree, const Place &from, List &list) : tree_(tree), from_(from), list_(list) {}

  // False if the call was interrupted.
  bool run(InterruptPoll &poll) {
    if (tree_.levels() == 0) return true;
    open(tree_.levels() - 1, 0);
    while (used_ > 0) {
      --used_;
      if (keys_[used_] >= list_.worst()) continue;
      const std::uint32_t node = nodes_[used_];
      if (poll.interrupted(PointTree::kLeaf)) return false;
      const int level = static_cast<int>(node >> kNumberBits) - 1;
      if (level < 0) {
        look(tree_.leaf(node));
      } else {
        open(level, node & ((1u << kNumberBits) - 1));
      }
    }
    return true;
  }

 private:
  // A node is one number: its level, 0 for leaves, above its number in it.
  static constexpr int kNumberBits = 27;
  static_assert(kCoordinates * PointTree::kLeaf >> (31 - kNumberBits) > 0, "an array of 2^31 numbers has fewer leaves");

  // Puts the nodes of a group on the stack, the nearest on its top. The order of the others matters
  // little, as the nearest one makes the list so much better.
  void open(int level, std::uint32_t number) {
    const float *const group = tree_.group(level, number);
    const float worst = distance_of(list_.worst());
    float distance[PointTree::kWidth];
    unsigned bits = 0;
    for (int v = 0; v < kGroupVectors; ++v) {
      const TreeVector d2 = box_distances<FloatSteps>(group, v, from_);
      std::memcpy(distance + v * kTreeLanes, &d2, sizeof d2);
      bits |= lane_bits(d2 <= worst) << v * kTreeLanes;
    }
    if (bits == 0) return;
    const std::int32_t *const least = PointTree::least_indices(group);
    const std::uint32_t first = static_cast<std::uint32_t>(level) << kNumberBits | number * PointTree::kWidth;
    NearKey nearest = ~NearKey{0};
    int nearest_place = used_;
    for (; bits != 0; bits &= bits - 1) {
      const int child = __builtin_ctz(bits);
      const NearKey key = near_key(distance[child], least[child]);
      keys_[used_] = key;
      nodes_[used_] = first + static_cast<std::uint32_t>(child);
      nearest_place = key < nearest ? used_ : nearest_place;
      nearest = smaller(nearest, key);
      ++used_;
    }
    const std::uint32_t node = nodes_[nearest_place];
    keys_[nearest_place] = keys_[used_ - 1], nodes_[nearest_place] = nodes_[used_ - 1];
    keys_[used_ - 1] = nearest, nodes_[used_ - 1] = node;
  }

  void look(const float *leaf) {
    const std::int32_t *const index = PointTree::indices(leaf);
    List list = list_;  // in registers, if it is short
    for (int v = 0; v < kLeafVectors; ++v) {
      const TreeVector d2 = leaf_distances<FloatSteps>(leaf, v, from_);
      unsigned bits = lane_bits(d2 <= distance_of(list.worst()));
      if (bits == 0) continue;
      float distance[kTreeLanes];
      std::memcpy(distance, &d2, sizeof d2);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        list.insert(near_key(distance[lane], index[v * kTreeLanes + lane]));
      }
    }
    list_ = list;
  }

  const PointTree &tree_;
  const Place from_;
  List &list_;
  int used_ = 0;
  NearKey keys_[PointTree::kMostLevels * PointTree::kWidth];  // that no point of a node is below
  std::uint32_t nodes_[PointTree::kMostLevels * PointTree::kWidth];
};

// Whether a tree over points is worth its building for a number of searches among them.
static inline bool tree_pays(std::int64_t searches, std::int64_t points) {
  // In comparisons with a point: what a search in a tree takes, and what building takes for a
  // point.
  constexpr double kSearch = 1500, kBuild = 500;
  const double all = static_cast<double>(points);
  return all > kSearch && static_cast<double>(searches) * (all - kSearch) > kBuild * all;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_TREE_SEARCH_H_
