#include "cpu/point_tree.h"

#include <algorithm>
#include <limits>

#include "cpu/pool.h"

namespace mluops {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kSlice = 1 << 16;  // points between two looks for an interruption

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// Points are different by coordinate and then by index, so that there are no equal ones.
bool before(const TreePoint &a, const TreePoint &b, int axis) {
  return (a.coordinate[axis] < b.coordinate[axis]) | ((a.coordinate[axis] == b.coordinate[axis]) & (a.index < b.index));
}

// Numbers that look random, the same in every run.
class Sequence {
 public:
  std::int64_t below(std::int64_t end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_ = 1;
};

// Puts the points that come before the last one first, then that one; returns its place. Without
// branches that depend on coordinates.
std::int64_t partition(TreePoint *points, std::int64_t begin, std::int64_t end, int axis) {
  const TreePoint pivot = points[end - 1];
  std::int64_t middle = begin;
  for (std::int64_t first = begin; first < end - 1 && !interrupted(); first += kSlice) {
    const std::int64_t last = std::min(first + kSlice, end - 1);
    for (std::int64_t i = first; i < last; ++i) {
      const TreePoint point = points[i];
      points[i] = points[middle];
      points[middle] = point;
      middle += before(point, pivot, axis);
    }
  }
  points[end - 1] = points[middle];
  points[middle] = pivot;
  return middle;
}

void sort_few(TreePoint *points, std::int64_t begin, std::int64_t end, int axis) {
  for (std::int64_t i = begin + 1; i < end; ++i) {
    const TreePoint point = points[i];
    std::int64_t place = i;
    for (; place > begin && before(point, points[place - 1], axis); --place) points[place] = points[place - 1];
    points[place] = point;
  }
}

// Moves a point to the end that has about the wanted place among begin .. end.
void choose_pivot(TreePoint *points, std::int64_t begin, std::int64_t end, std::int64_t wanted, int axis,
                  Sequence &random) {
  constexpr std::int64_t kMost = 31, kPointsEach = 64;
  const std::int64_t size = end - begin, sample = std::min(kMost, 3 + size / kPointsEach);
  for (std::int64_t i = 0; i < sample; ++i) std::swap(points[begin + i], points[begin + i + random.below(size - i)]);
  sort_few(points, begin, begin + sample, axis);
  std::swap(points[begin + (wanted - begin) * sample / size], points[end - 1]);
}

// Orders points so that those before `place` come before those behind it.
void select(TreePoint *points, std::int64_t begin, std::int64_t end, std::int64_t place, int axis) {
  constexpr std::int64_t kFew = 12;
  Sequence random;
  while (end - begin > kFew) {
    if (interrupted()) return;
    choose_pivot(points, begin, end, place, axis, random);
    const std::int64_t middle = partition(points, begin, end, axis);
    if (middle == place) return;
    (middle < place ? begin : end) = middle < place ? middle + 1 : middle;
  }
  sort_few(points, begin, end, axis);
}

int longest_axis(const TreePoint *points, std::int64_t begin, std::int64_t end) {
  typedef float Row __attribute__((vector_size(sizeof(TreePoint))));
  Row low = {kInfinity, kInfinity, kInfinity, kInfinity}, high = -low;
  for (std::int64_t first = begin; first < end && !interrupted(); first += kSlice) {
    for (std::int64_t i = first; i < std::min(first + kSlice, end); ++i) {
      const TreePoint &point = points[i];
      const Row row = {point.coordinate[0], point.coordinate[1], point.coordinate[2], 0};
      low = row < low ? row : low;
      high = row > high ? row : high;
    }
  }
  const Row length = high - low;
  return length[0] >= length[1] && length[0] >= length[2] ? 0 : length[1] >= length[2] ? 1 : 2;
}

std::int64_t greatest_power_below(std::int64_t value) {
  std::int64_t power = 1;
  while (2 * power < value) power *= 2;
  return power;
}

}  // namespace

std::int64_t PointTree::bytes(std::int64_t most) {
  std::int64_t nodes = (most + kLeaf - 1) / kLeaf;
  std::int64_t values = nodes * 4 * kLeaf;
  while (nodes > 0) {
    nodes = (nodes + kWidth - 1) / kWidth;
    values += nodes * kBoxRows * kWidth;
    if (nodes == 1) break;
  }
  return rounded_up(values * static_cast<std::int64_t>(sizeof(float)), kLine);
}

PointTree::PointTree(void *memory, std::int64_t most)
    : points_(static_cast<TreePoint *>(memory)),
      next_box_(static_cast<float *>(memory) + (most + kLeaf - 1) / kLeaf * 4 * kLeaf) {}

void PointTree::build(std::int64_t count) {
  count_ = count;
  leaves_ = (count + kLeaf - 1) / kLeaf;
  levels_ = 0;
  if (count == 0) return;
  for (std::int64_t nodes = leaves_; levels_ == 0 || nodes > 1; ++levels_) {
    nodes = (nodes + kWidth - 1) / kWidth;
    groups_[levels_] = nodes;
    boxes_[levels_] = next_box_;
    next_box_ += nodes * kBoxRows * kWidth;
  }
  order();
  auto finish = [this](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end && !interrupted(); ++group) {
      const std::int64_t first = group * kWidth, last = std::min(first + kWidth, leaves_);
      transpose_leaves(first, last);
      bound_leaves(first, last);
    }
  };
  constexpr std::int64_t kGroups = 8;
  parallel_for(groups_[0], kGroups, finish);
  for (int level = 1; level < levels_ && !interrupted(); ++level) bound_groups(level);
}

// First there are few ranges, each halved by one thread, then enough for all threads.
void PointTree::order() {
  constexpr int kMost = 256;
  Range ranges[kMost], halves[2 * kMost];
  ranges[0] = {0, leaves_};
  int number = 1;
  const int enough = std::min(kMost, thread_count() == 1 ? 1 : 4 * thread_count());
  while (number < enough && 2 * number <= kMost && !interrupted()) {
    auto body = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t left = ranges[i].leaves > 1 ? halve(ranges[i]) : ranges[i].leaves;
        halves[2 * i] = {ranges[i].leaf, left};
        halves[2 * i + 1] = {ranges[i].leaf + left, ranges[i].leaves - left};
      }
    };
    parallel_for(number, 1, body);
    int found = 0;
    for (int i = 0; i < 2 * number; ++i) {
      if (halves[i].leaves > 0) ranges[found++] = halves[i];
    }
    if (found == number) break;  // all are single leaves
    number = found;
  }
  auto rest = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) order_range(ranges[i]);
  };
  parallel_for(number, 1, rest);
}

void PointTree::order_range(Range range) {
  while (range.leaves > 1 && !interrupted()) {
    const std::int64_t left = halve(range);
    order_range({range.leaf, left});
    range = {range.leaf + left, range.leaves - left};
  }
}

// Returns the leaves of the first half: a power of two of them, so that the runs of leaves of each
// group are parts that were halved.
std::int64_t PointTree::halve(const Range &range) {
  const std::int64_t left = greatest_power_below(range.leaves);
  const std::int64_t begin = range.leaf * kLeaf, end = std::min((range.leaf + range.leaves) * kLeaf, count_);
  select(points_, begin, end, begin + left * kLeaf, longest_axis(points_, begin, end));
  return left;
}

// Each leaf becomes arrays of coordinates and indices in its own memory.
void PointTree::transpose_leaves(std::int64_t begin, std::int64_t end) {
  TreePoint rows[kLeaf];
  for (std::int64_t number = begin; number < end; ++number) {
    TreePoint *const points = points_ + number * kLeaf;
    const int size = static_cast<int>(std::min<std::int64_t>(kLeaf, count_ - number * kLeaf));
    std::copy(points, points + size, rows);
    float *const values = reinterpret_cast<float *>(points);
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < kLeaf; ++i)
        values[axis * kLeaf + i] = i < size ? rows[i].coordinate[axis] : std::numeric_limits<float>::quiet_NaN();
    }
    auto *const index = reinterpret_cast<std::int32_t *>(values + 3 * kLeaf);
    for (int i = 0; i < kLeaf; ++i) index[i] = i < size ? rows[i].index : std::numeric_limits<std::int32_t>::max();
  }
}

void PointTree::bound_leaves(std::int64_t begin, std::int64_t end) {
  float *const boxes = boxes_[0] + begin / kWidth * kBoxRows * kWidth;
  auto *const least = reinterpret_cast<std::int32_t *>(boxes + 6 * kWidth);
  for (int node = 0; node < kWidth; ++node) {
    const bool there = begin + node < end;
    const float *const points = leaf(there ? begin + node : begin);
    for (int axis = 0; axis < 3; ++axis) {
      float low = kInfinity, high = -kInfinity;
      for (int i = 0; there && i < kLeaf; ++i) {
        const float value = points[axis * kLeaf + i];
        low = value < low ? value : low;
        high = value > high ? value : high;
      }
      boxes[axis * kWidth + node] = low;
      boxes[(3 + axis) * kWidth + node] = high;
    }
    const std::int32_t *const index = indices(points);
    least[node] = there ? *std::min_element(index, index + kLeaf) : std::numeric_limits<std::int32_t>::max();
  }
}

void PointTree::bound_groups(int level) {
  for (std::int64_t node = 0; node < groups_[level] * kWidth; ++node) {
    const bool there = node < groups_[level - 1];
    const float *const below = group(level - 1, there ? node : 0);
    float *const boxes = boxes_[level] + node / kWidth * kBoxRows * kWidth;
    const std::int64_t place = node % kWidth;
    for (int axis = 0; axis < 3; ++axis) {
      const float *const low = below + axis * kWidth, *const high = below + (3 + axis) * kWidth;
      boxes[axis * kWidth + place] = there ? *std::min_element(low, low + kWidth) : kInfinity;
      boxes[(3 + axis) * kWidth + place] = there ? *std::max_element(high, high + kWidth) : -kInfinity;
    }
    const std::int32_t *const least = least_indices(below);
    reinterpret_cast<std::int32_t *>(boxes + 6 * kWidth)[place] =
        there ? *std::min_element(least, least + kWidth) : std::numeric_limits<std::int32_t>::max();
  }
}

}  // namespace mluops
