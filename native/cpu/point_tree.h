// A tree over points with three coordinates, for searches that must find exactly the points that a
// look at all of them finds.
//
// Points are ordered by repeated halving at medians, so that each run of kLeaf points, a leaf, is a
// small box, and so is each run of kWidth boxes of one level, a box of the next. There are no
// pointers: node i of a level has nodes i * kWidth and following of the level below.
//
// In floating point, differences, products and sums never become smaller when a term grows. So
// the squared distance from a box, computed in the same steps as that from a point, is at most as
// computed for any point of the box, and what it rules out is ruled out to the last bit.
#ifndef MLUOPS_CPU_POINT_TREE_H_
#define MLUOPS_CPU_POINT_TREE_H_

#include <cstdint>

namespace mluops {

struct TreePoint {
  float coordinate[3];
  std::int32_t index;  // what the caller calls the point
};

class PointTree {
 public:
  static constexpr int kLeaf = 32;
  static constexpr int kWidth = 8;
  static constexpr int kMostLevels = 10;

  // Bytes of memory of a tree over `most` points.
  static std::int64_t bytes(std::int64_t most);

  // `memory` is aligned to a cache line and stays the caller's. Its first part is room for `most`
  // points, which the caller fills.
  PointTree(void *memory, std::int64_t most);
  TreePoint *points() const { return points_; }

  // Makes the tree of the first `count` points, whose coordinates are finite, with all threads of
  // the call. The tree is not to be used if the call was interrupted.
  void build(std::int64_t count);

  std::int64_t count() const { return count_; }
  std::int64_t leaves() const { return leaves_; }
  // Of nodes above the leaves; the last level is one group. 0 without points.
  int levels() const { return levels_; }
  std::int64_t groups(int level) const { return groups_[level]; }

  // x, y and z of the points of a leaf, then their indices. Coordinates behind the last point are
  // NaN.
  const float *leaf(std::int64_t number) const { return reinterpret_cast<const float *>(points_) + number * 4 * kLeaf; }
  static const std::int32_t *indices(const float *leaf) {
    return reinterpret_cast<const std::int32_t *>(leaf + 3 * kLeaf);
  }

  // The boxes of kWidth nodes, which are leaves on level 0: least x, y and z, greatest x, y and z,
  // then the least index in each box. Boxes behind the last one are at an infinite distance.
  const float *group(int level, std::int64_t number) const { return boxes_[level] + number * kBoxRows * kWidth; }
  static const std::int32_t *least_indices(const float *group) {
    return reinterpret_cast<const std::int32_t *>(group + 6 * kWidth);
  }

 private:
  static constexpr int kBoxRows = 7;

  struct Range {
    std::int64_t leaf, leaves;
  };

  void order();
  void order_range(Range range);
  std::int64_t halve(const Range &range);
  void transpose_leaves(std::int64_t begin, std::int64_t end);
  void bound_leaves(std::int64_t begin, std::int64_t end);
  void bound_groups(int level);

  TreePoint *const points_;
  std::int64_t count_ = 0;
  std::int64_t leaves_ = 0;
  int levels_ = 0;
  float *next_box_;  // memory that no level has yet
  float *boxes_[kMostLevels] = {};
  std::int64_t groups_[kMostLevels] = {};
};

}  // namespace mluops

#endif  // MLUOPS_CPU_POINT_TREE_H_
