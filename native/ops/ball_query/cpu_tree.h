// The least indices of the points in a ball, by a tree.
#ifndef MLUOPS_OPS_BALL_QUERY_CPU_TREE_H_
#define MLUOPS_OPS_BALL_QUERY_CPU_TREE_H_

#include "ops/ball_query/cpu_balls.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Keeps the `wanted` least of the indices that are added, in memory of the caller.
class LeastIndices {
 public:
  static constexpr std::int64_t kSpare = 64;
  static std::int64_t room(std::int64_t wanted) { return 3 * wanted + 2 * kSpare; }

  LeastIndices(std::int32_t *memory, std::int64_t wanted)
      : kept_(memory), capacity_(2 * wanted + kSpare), other_(memory + capacity_), wanted_(wanted) {}

  // Indices from here on are none of the least.
  std::int32_t limit() const { return limit_; }
  void clear() { count_ = 0, limit_ = __INT32_MAX__; }
  void add(std::int32_t index) {
    kept_[count_++] = index;
    if (count_ == capacity_) shrink();
  }

  // Sorts those that are kept, and returns their number.
  std::int64_t finish() {
    if (count_ > wanted_) shrink();
    for (std::int64_t i = 0; i < count_; i += kRun) sort_run(kept_ + i, smaller(kRun, count_ - i));
    for (std::int64_t run = kRun; run < count_; run *= 2) merge_runs(run);
    return count_;
  }
  const std::int32_t *begin() const { return kept_; }

 private:
  static constexpr std::int64_t kRun = 64;

  // Keeps the least ones: repeatedly divides those of which some are kept by one of them.
  void shrink() {
    std::int64_t begin = 0, end = count_;
    while (end - begin > 1) {
      const std::int64_t middle = begin + below(end - begin);
      const std::int32_t pivot = kept_[middle];
      kept_[middle] = kept_[end - 1];
      std::int64_t less = begin;
      for (std::int64_t i = begin; i < end - 1; ++i) {
        const std::int32_t index = kept_[i];
        kept_[i] = kept_[less];
        kept_[less] = index;
        less += index < pivot;
      }
      kept_[end - 1] = kept_[less];
      kept_[less] = pivot;
      if (less == wanted_ - 1 || less == wanted_) break;
      (less < wanted_ ? begin : end) = less < wanted_ ? less + 1 : less;
    }
    count_ = wanted_;
    std::int32_t greatest = 0;
    for (std::int64_t i = 0; i < count_; ++i) greatest = larger(greatest, kept_[i]);
    limit_ = greatest;
  }

  // Numbers that look random, so that no order of indices is a slow one.
  std::int64_t below(std::int64_t end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(end));
  }

  // The place of each index is the number of smaller ones: no two are equal.
  static void sort_run(std::int32_t *run, std::int64_t count) {
    std::int32_t sorted[kRun], values[kRun + kLanes];
    for (std::int64_t i = 0; i < count; ++i) values[i] = run[i];
    for (std::int64_t i = count; i < kRun + kLanes; ++i) values[i] = __INT32_MAX__;
    for (std::int64_t i = 0; i < count; ++i) {
      IntVector smaller_ones = {};
      for (std::int64_t k = 0; k < count; k += kLanes) {
        IntVector others;
        std::memcpy(&others, values + k, sizeof others);
        smaller_ones -= others < values[i];
      }
      std::int32_t place = 0;
      for (int lane = 0; lane < kLanes; ++lane) place += smaller_ones[lane];
      sorted[place] = values[i];
    }
    for (std::int64_t i = 0; i < count; ++i) run[i] = sorted[i];
  }

  // Merges pairs of runs that are sorted.
  void merge_runs(std::int64_t run) {
    for (std::int64_t begin = 0; begin + run < count_; begin += 2 * run) {
      const std::int64_t size = smaller(2 * run, count_ - begin);
      std::int32_t *const values = kept_ + begin;
      std::int64_t a = 0, b = run;
      for (std::int64_t i = 0; i < size; ++i) {
        const bool first = b == size || (a < run && values[a] < values[b]);
        other_[i] = first ? values[a++] : values[b++];
      }
      for (std::int64_t i = 0; i < size; ++i) values[i] = other_[i];
    }
  }

  std::int32_t *const kept_;
  const std::int64_t capacity_;
  std::int32_t *const other_;
  const std::int64_t wanted_;
  std::int64_t count_ = 0;
  std::int32_t limit_ = __INT32_MAX__;
  std::uint64_t state_ = 1;
};

template <typename Steps>
class BallSearch {
 public:
  BallSearch(const Balls<float> &balls, const PointTree &tree, const Place &from, LeastIndices &found)
      : balls_(balls), tree_(tree), from_(from), found_(found) {}

  // False if the call was interrupted.
  bool run(InterruptPoll &poll) {
    if (tree_.levels() == 0) return true;
    open(tree_.levels() - 1, 0);
    while (used_ > 0) {
      const Node node = nodes_[--used_];
      if (node.least >= found_.limit()) continue;
      if (poll.interrupted(PointTree::kLeaf)) return false;
      if (node.level < 0) {
        look(tree_.leaf(node.number));
      } else {
        open(node.level, node.number);
      }
    }
    return true;
  }

 private:
  struct Node {
    std::int32_t least, level, number;
  };

  // Whether distances count; of a box, whether it has a point that may.
  TreeInts inside(TreeVector d2) const { return (d2 < balls_.to) | (d2 == balls_.always); }

  void open(int level, std::int64_t number) {
    const float *const group = tree_.group(level, number);
    const std::int32_t *const least = PointTree::least_indices(group);
    unsigned bits = 0;
    for (int v = 0; v < kGroupVectors; ++v) {
      const TreeInts first = load_tree<TreeInts>(least + v * kTreeLanes);
      const TreeInts wanted = inside(box_distances<Steps>(group, v, from_)) & (first < found_.limit());
      bits |= lane_bits(wanted) << v * kTreeLanes;
    }
    while (bits != 0) {  // the last first, so that the first comes to the top
      const int child = 31 - __builtin_clz(bits);
      bits ^= 1u << child;
      nodes_[used_++] = {least[child], level - 1, static_cast<std::int32_t>(number * PointTree::kWidth + child)};
    }
  }

  void look(const float *leaf) {
    const std::int32_t *const index = PointTree::indices(leaf);
    for (int v = 0; v < kLeafVectors; ++v) {
      const TreeVector d2 = leaf_distances<Steps>(leaf, v, from_);
      const TreeInts first = load_tree<TreeInts>(index + v * kTreeLanes);
      const TreeInts counts = ((d2 >= balls_.from) & (d2 < balls_.to)) | (d2 == balls_.always);
      unsigned bits = lane_bits(counts & (first < found_.limit()));
      for (; bits != 0; bits &= bits - 1) found_.add(index[v * kTreeLanes + __builtin_ctz(bits)]);
    }
  }

  const Balls<float> &balls_;
  const PointTree &tree_;
  const Place from_;
  LeastIndices &found_;
  int used_ = 0;
  Node nodes_[PointTree::kMostLevels * PointTree::kWidth];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BALL_QUERY_CPU_TREE_H_
