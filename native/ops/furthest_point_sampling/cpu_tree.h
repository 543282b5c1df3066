// Furthest point sampling by a tree: each node knows the greatest distance of its points from the
// picks. A pick that is further from its box than that changes nothing in it.
#ifndef MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_TREE_H_
#define MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_TREE_H_

#include "cpu/tree_search.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The greatest distance of some points, and the least index that has it.
struct Furthest {
  float distance;
  std::int32_t index;
};

// Of vectors of distances and indices side by side.
template <int kVectors>
inline Furthest furthest_of(const float *distances, const std::int32_t *indices) {
  TreeVector most = load_tree<TreeVector>(distances);
  for (int v = 1; v < kVectors; ++v) most = larger_lanes(load_tree<TreeVector>(distances + v * kTreeLanes), most);
  float lanes[kTreeLanes];
  std::memcpy(lanes, &most, sizeof most);
  for (int half = kTreeLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] = larger(lanes[i], lanes[i + half]);
  }
  std::int32_t index = __INT32_MAX__;
  for (int v = 0; v < kVectors; ++v) {
    unsigned bits = lane_bits(load_tree<TreeVector>(distances + v * kTreeLanes) == lanes[0]);
    for (; bits != 0; bits &= bits - 1) index = smaller(index, indices[v * kTreeLanes + __builtin_ctz(bits)]);
  }
  return {lanes[0], index};
}

class FurthestTree {
 public:
  static constexpr int kWidth = PointTree::kWidth;
  static constexpr int kLeaf = PointTree::kLeaf;

  // Bytes of memory for a cloud of `most` points.
  static std::int64_t bytes(std::int64_t most) { return PointTree::bytes(most) + state_bytes(most); }

  FurthestTree(char *memory, std::int64_t most) : tree_(memory + state_bytes(most), most), arena_(memory) {}
  TreePoint *points() const { return tree_.points(); }

  // Makes the tree of the first `count` points; each begins with a distance. The tree is not to be
  // used if the call was interrupted.
  void build(std::int64_t count, float distance) {
    tree_.build(count);
    if (interrupted()) return;
    distances_ = arena_.allocate<float>(tree_.leaves() * kLeaf);
    for (std::int64_t i = 0; i < tree_.leaves() * kLeaf; ++i) distances_[i] = i < count ? distance : -1;
    for (int level = 0; level < tree_.levels() && !interrupted(); ++level) start_level(level, distance);
  }

  // The point that is furthest from all picks; index -1 if there is no point.
  Furthest furthest() const { return tree_.levels() == 0 ? Furthest{-1, -1} : top_; }

  // Takes a pick into account.
  void add(const Place &pick, InterruptPoll &poll) {
    if (tree_.levels() > 0) top_ = update(tree_.levels() - 1, 0, pick, poll);
  }

  // Calls body(index, distance) for all points.
  template <typename Body>
  void each(const Body &body) const {
    for (std::int64_t i = 0; i < tree_.leaves(); ++i) {
      const std::int32_t *const indices = PointTree::indices(tree_.leaf(i));
      for (int k = 0; k < kLeaf; ++k) {
        const float distance = distances_[i * kLeaf + k];
        if (distance >= 0) body(indices[k], distance);
      }
    }
  }

 private:
  // What each node knows, in groups as in the tree.
  struct State {
    float *distances;
    std::int32_t *indices;
  };

  static std::int64_t state_bytes(std::int64_t most) {
    Arena arena(nullptr);
    std::int64_t nodes = (most + kLeaf - 1) / kLeaf;
    arena.allocate<float>(nodes * kLeaf);
    for (bool last = false; !last; last = nodes <= 1) {
      nodes = (nodes + kWidth - 1) / kWidth;
      arena.allocate<float>(nodes * kWidth);
      arena.allocate<std::int32_t>(nodes * kWidth);
    }
    return arena.used();
  }

  void start_level(int level, float distance) {
    const std::int64_t nodes = level == 0 ? tree_.leaves() : tree_.groups(level - 1);
    const std::int64_t room = tree_.groups(level) * kWidth;
    State &state = states_[level];
    state.distances = arena_.allocate<float>(room);
    state.indices = arena_.allocate<std::int32_t>(room);
    for (std::int64_t i = 0; i < room; ++i) state.distances[i] = i < nodes ? distance : -1;
    for (std::int64_t i = 0; i < tree_.groups(level); ++i) {
      const std::int32_t *least = PointTree::least_indices(tree_.group(level, i));
      for (int k = 0; k < kWidth; ++k) state.indices[i * kWidth + k] = least[k];
    }
    top_ = furthest_of<kGroupVectors>(state.distances, state.indices);
  }

  Furthest update(int level, std::int64_t number, const Place &pick, InterruptPoll &poll) {
    const float *const group = tree_.group(level, number);
    float *const distances = states_[level].distances + number * kWidth;
    std::int32_t *const indices = states_[level].indices + number * kWidth;
    unsigned bits = 0;
    for (int v = 0; v < kGroupVectors; ++v) {
      const TreeVector most = load_tree<TreeVector>(distances + v * kTreeLanes);
      bits |= lane_bits(box_distances<FloatSteps>(group, v, pick) < most) << v * kTreeLanes;
    }
    if (poll.interrupted(kWidth)) bits = 0;
    for (; bits != 0; bits &= bits - 1) {
      const int child = __builtin_ctz(bits);
      const std::int64_t node = number * kWidth + child;
      const Furthest found = level == 0 ? update_leaf(node, pick) : update(level - 1, node, pick, poll);
      distances[child] = found.distance;
      indices[child] = found.index;
    }
    return furthest_of<kGroupVectors>(distances, indices);
  }

  Furthest update_leaf(std::int64_t number, const Place &pick) {
    const float *const leaf = tree_.leaf(number);
    float *const distances = distances_ + number * kLeaf;
    for (int v = 0; v < kLeafVectors; ++v) {
      float *const place = distances + v * kTreeLanes;
      const TreeVector found = leaf_distances<FloatSteps>(leaf, v, pick), before = load_tree<TreeVector>(place);
      const TreeVector least = found < before ? found : before;
      std::memcpy(place, &least, sizeof least);
    }
    return furthest_of<kLeafVectors>(distances, PointTree::indices(leaf));
  }

  PointTree tree_;
  Arena arena_;
  float *distances_ = nullptr;  // of the points, in the order of the tree
  State states_[PointTree::kMostLevels] = {};
  Furthest top_{-1, -1};
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_TREE_H_
