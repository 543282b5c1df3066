// A tree over points in a plane, in which a search finds exactly the point that a look at all of
// them finds.
//
// In floating point, differences, products and sums never become smaller when a term grows. So the
// squared distance from a box, computed in the same steps as that from a point, is at most as
// computed for any point of the box, and what it rules out is ruled out to the last bit.
#ifndef MLUOPS_OPS_CHAMFER_DISTANCE_CPU_TREE_H_
#define MLUOPS_OPS_CHAMFER_DISTANCE_CPU_TREE_H_

#include "cpu/vector.h"
#include "ops/chamfer_distance/chamfer_distance.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// What every step of a distance is rounded to.
struct FloatDistance {
  static float rounded(float value) { return value; }
  static Vector rounded(Vector value) { return value; }
};
struct HalfDistance {
  static float rounded(float value) { return to_float(to_half(value)); }
  static Vector rounded(Vector value) { return round_to_half(value); }
};

template <typename Steps, typename Value>
static inline Value squared_length(Value dx, Value dy) {
  return Steps::rounded(Steps::rounded(dx * dx) + Steps::rounded(dy * dy));
}

// A squared distance and an index as one number: sorted by distance, then by index. One of NaN is
// above all others.
typedef std::uint64_t NearKey;
static inline NearKey near_key(float distance, std::int32_t index) {
  return static_cast<NearKey>(float_to_bits(distance)) << 32 | static_cast<std::uint32_t>(index);
}
static inline float distance_of(NearKey key) { return bits_to_float(static_cast<std::uint32_t>(key >> 32)); }
static inline std::int32_t index_of(NearKey key) { return static_cast<std::int32_t>(key & 0xffffffffu); }
static inline NearKey no_key() { return near_key(__builtin_inff(), 0); }

class PlaneTree {
 public:
  static constexpr int kLeaf = 16;
  static_assert(kLeaf % kLanes == 0, "a leaf is whole vectors");

  // NaN stands behind the last point.
  struct Leaf {
    float x[kLeaf], y[kLeaf];
    std::int32_t index[kLeaf];
    int count;
  };

  // Room for `most` points.
  PlaneTree(Arena &arena, std::int64_t most)
      : points_(arena.allocate<Point>(most)),
        leaves_(arena.allocate<Leaf>(leaves_of(most))),
        nodes_(arena.allocate<Node>(2 * leaves_of(most))) {}

  std::int64_t leaves() const { return count_ > 0 ? leaf_count_ : 0; }
  // The first of all points whose coordinates are no NaN, or -1.
  std::int64_t first_number() const { return first_number_; }
  const Leaf &leaf(std::int64_t number) const { return leaves_[number]; }

  // Makes the tree of those of `count` points that are finite; the others are near to nothing.
  template <typename T>
  void build(const T *rows, std::int64_t count) {
    count_ = 0;
    first_number_ = -1;
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float x = to_float(rows[kPlaneCoordinates * i]), y = to_float(rows[kPlaneCoordinates * i + 1]);
        if (first_number_ < 0 && x == x && y == y) first_number_ = i;
        if (x - x == 0 && y - y == 0) points_[count_++] = Point{{x, y}, static_cast<std::int32_t>(i)};
      }
    });
    leaf_count_ = leaves_of(count_);
    if (count_ > 0) build_node(1, 0, count_);
  }

  // The least key of a point that is below `best`, or `best`.
  template <typename Steps>
  NearKey nearest(float x, float y, NearKey best) const {
    if (count_ == 0) return best;
    Waiting waiting[kMostLevels];
    int used = 0;
    std::int64_t node = 1;
    for (;;) {
      while (node < leaf_count_) {  // down to the nearer child
        Waiting near{key<Steps>(2 * node, x, y), 2 * node}, far{key<Steps>(2 * node + 1, x, y), 2 * node + 1};
        if (far.key < near.key) {
          const Waiting kept = near;
          near = far;
          far = kept;
        }
        if (far.key < best) waiting[used++] = far;
        node = near.node;
        if (near.key >= best) break;
      }
      if (node >= leaf_count_) best = look<Steps>(leaves_[node - leaf_count_], x, y, best);
      do {
        if (used == 0) return best;
        --used;
      } while (waiting[used].key >= best);
      node = waiting[used].node;
    }
  }

 private:
  struct Point {
    float at[kPlaneCoordinates];
    std::int32_t index;
  };
  // Node i has the children 2 i and 2 i + 1; the last ones are leaves.
  struct Node {
    float low[kPlaneCoordinates], high[kPlaneCoordinates];
    std::int32_t least;  // index
  };
  struct Waiting {
    NearKey key;
    std::int64_t node;
  };
  static constexpr int kMostLevels = 32;

  static std::int64_t leaves_of(std::int64_t points) {
    std::int64_t leaves = 1;
    while (leaves * kLeaf < points) leaves *= 2;
    return leaves;
  }

  // No key of a point of the node is below it.
  template <typename Steps>
  NearKey key(std::int64_t node, float x, float y) const {
    const Node &n = nodes_[node];
    const float dx = larger(larger(n.low[0] - x, x - n.high[0]), 0.0f);
    const float dy = larger(larger(n.low[1] - y, y - n.high[1]), 0.0f);
    return near_key(squared_length<Steps>(Steps::rounded(dx), Steps::rounded(dy)), n.least);
  }

  template <typename Steps>
  static NearKey look(const Leaf &leaf, float x, float y, NearKey best) {
    for (int first = 0; first < leaf.count; first += kLanes) {
      const Vector dx = Steps::rounded(load(leaf.x + first) - x), dy = Steps::rounded(load(leaf.y + first) - y);
      const Vector distance = squared_length<Steps>(dx, dy);
      for (unsigned bits = lane_bits(distance <= distance_of(best)); bits != 0; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        best = smaller(best, near_key(distance[lane], leaf.index[first + lane]));
      }
    }
    return best;
  }

  void build_node(std::int64_t node, std::int64_t begin, std::int64_t end) {
    Node &own = nodes_[node];
    bound(begin, end, &own);
    if (node >= leaf_count_) return fill(begin, end, &leaves_[node - leaf_count_]);
    if (end - begin > kPolled && interrupted()) return;
    const int axis = own.high[0] - own.low[0] < own.high[1] - own.low[1] ? 1 : 0;
    const std::int64_t middle = begin + (end - begin) / 2;
    split(begin, end - 1, middle, axis);
    build_node(2 * node, begin, middle);
    build_node(2 * node + 1, middle, end);
  }

  void bound(std::int64_t begin, std::int64_t end, Node *node) const {
    Node found{{__builtin_inff(), __builtin_inff()}, {-__builtin_inff(), -__builtin_inff()}, INT32_MAX};
    for (std::int64_t i = begin; i < end; ++i) {
      const Point &point = points_[i];
      for (int axis = 0; axis < kPlaneCoordinates; ++axis) {
        found.low[axis] = smaller(found.low[axis], point.at[axis]);
        found.high[axis] = larger(found.high[axis], point.at[axis]);
      }
      found.least = smaller(found.least, point.index);
    }
    *node = found;
  }

  void fill(std::int64_t begin, std::int64_t end, Leaf *leaf) const {
    leaf->count = static_cast<int>(end - begin);
    for (int i = 0; i < kLeaf; ++i) {
      const bool is_there = i < leaf->count;
      leaf->x[i] = is_there ? points_[begin + i].at[0] : __builtin_nanf("");
      leaf->y[i] = is_there ? points_[begin + i].at[1] : __builtin_nanf("");
      leaf->index[i] = is_there ? points_[begin + i].index : 0;
    }
  }

  // Moves points between `low` and `high` so that those before `middle` are not above those from it
  // on. Pivots are drawn, since points may come in any order.
  void split(std::int64_t low, std::int64_t high, std::int64_t middle, int axis) {
    while (low < high) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t place = (random_ >> 33) % static_cast<std::uint64_t>(high - low + 1);
      const float pivot = points_[low + static_cast<std::int64_t>(place)].at[axis];
      std::int64_t i = low, j = high;
      while (i <= j) {
        while (points_[i].at[axis] < pivot) ++i;
        while (pivot < points_[j].at[axis]) --j;
        if (i > j) break;
        const Point kept = points_[i];
        points_[i++] = points_[j];
        points_[j--] = kept;
      }
      if (middle <= j) {
        high = j;
      } else if (middle >= i) {
        low = i;
      } else {
        return;
      }
    }
  }

  static constexpr std::int64_t kPolled = 1 << 14;  // points whose splitting takes a while

  Point *const points_;
  Leaf *const leaves_;
  Node *const nodes_;
  std::int64_t count_ = 0, leaf_count_ = 1, first_number_ = -1;
  std::uint64_t random_ = 1;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_CHAMFER_DISTANCE_CPU_TREE_H_
