#include "ops/get_indice_pairs/cpu/workspace.h"

#include <algorithm>

#include "ops/get_indice_pairs/get_indice_pairs.h"

namespace mluops {
namespace {

// Limits the memory: at most this many threads share the work of one call.
constexpr std::int64_t kMostSlots = 16;

constexpr std::size_t kBytesPerCoordinate = 32;

std::size_t align(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

class Divider {
 public:
  std::size_t take(std::int64_t count, std::size_t element) {
    const std::size_t offset = used_;
    used_ += align(static_cast<std::size_t>(count) * element);
    return offset;
  }
  std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
};

std::int64_t groups_of(std::int64_t count) { return (count - 1) / 64 + 1; }

// Words of the grid: runs of 64 output cells in default mode, bricks in sub-manifold mode.
std::int64_t grid_words(const SparseGeometry &geometry) {
  std::int64_t product = geometry.batch;
  if (geometry.sub_m == 0) {
    for (const int extent : geometry.output_space) product *= extent;
    return groups_of(product);
  }
  const BrickShape shape = brick_shape(geometry);
  for (int axis = 0; axis < kSpaceDims; ++axis) product *= shape.bricks(geometry, axis);
  return product;
}

std::int64_t volume_of(const SparseGeometry &geometry) {
  std::int64_t volume = 1;
  for (const int extent : geometry.filter_space) volume *= extent;
  return volume;
}

std::int64_t coordinates(const SparseGeometry &geometry) {
  std::int64_t sum = 0;
  for (const int extent : geometry.input_space) sum += extent;
  return sum;
}

// Number of kinds of rows: combinations of one group per axis. 0 if there are too many kinds, or
// groups are too large, for blocks.
std::int64_t kinds_of_rows(const SparseGeometry &geometry) {
  std::int64_t kinds = 1;
  for (int axis = 0; axis < kSpaceDims; ++axis) {
    const std::int64_t cells = geometry.filter_space[axis], stride = geometry.stride[axis];
    if ((cells + stride - 1) / stride > kMostInGroup) return 0;
    kinds *= std::min(cells, stride);
  }
  return kinds <= kMostKinds ? kinds : 0;
}

// Whether clearing and counting all words costs less than finding those with marks.
bool dense_grid_pays(std::int64_t words, std::int64_t rows) { return words <= std::max<std::int64_t>(2 * rows, 256); }

}  // namespace

// 4 x 4 x 4 if the space is large enough; bits that an axis cannot use go to the others.
BrickShape brick_shape(const SparseGeometry &geometry) {
  BrickShape shape = {{0, 0, 0}};
  for (int bits = 6, axis = kSpaceDims - 1, refused = 0; bits > 0 && refused < kSpaceDims;
       axis = (axis + kSpaceDims - 1) % kSpaceDims) {
    if ((std::int64_t{1} << shape.shift[axis]) < geometry.input_space[axis]) {
      ++shape.shift[axis];
      --bits;
      refused = 0;
    } else {
      ++refused;
    }
  }
  return shape;
}

bool grid_pays(const SparseGeometry &geometry, std::int64_t rows) {
  constexpr std::int64_t kMostFilterCells = 1 << 20;  // pairs of each are counted per chunk, in 32 bits
  if (volume_of(geometry) > kMostFilterCells || coordinates(geometry) > 2 * rows + 1024) return false;
  const std::int64_t words = grid_words(geometry);
  return dense_grid_pays(words, rows) || groups_of(words) <= 4 * rows;
}

GridWorkspace divide_for_grid(const SparseGeometry &geometry, std::int64_t rows) {
  constexpr std::int64_t kMostChunks = 32, kRowsPerChunk = 4096;
  const std::int64_t volume = volume_of(geometry);
  const bool sub_m = geometry.sub_m != 0;
  GridWorkspace parts;
  Divider divider;
  parts.word_count = grid_words(geometry);
  parts.dense = dense_grid_pays(parts.word_count, rows);
  parts.groups = parts.dense ? 0 : groups_of(parts.word_count);
  const std::int64_t most_words =
      parts.dense ? parts.word_count : std::min(parts.word_count, sub_m ? rows : volume * rows);
  parts.axes = divider.take(coordinates(geometry), kBytesPerCoordinate);
  parts.words = divider.take(most_words, sizeof(SparseWord));
  parts.most_private_bitmaps = parts.dense && !sub_m ? kMostSlots : 0;
  parts.private_bitmaps = divider.take(parts.most_private_bitmaps * parts.word_count, sizeof(std::uint64_t));
  parts.group_bits = divider.take(parts.groups + 1, sizeof(std::uint64_t));
  parts.group_before = divider.take(parts.groups, sizeof(std::uint32_t));
  parts.slots = divider.take(sub_m ? rows : 0, sizeof(std::uint64_t));
  parts.numbers = divider.take(sub_m ? rows : 0, sizeof(std::int32_t));
  parts.chunks = std::clamp<std::int64_t>(rows / kRowsPerChunk, 1, kMostChunks);
  parts.ends = divider.take(parts.chunks * volume, sizeof(std::int32_t));
  parts.kinds = sub_m ? 0 : kinds_of_rows(geometry);
  parts.most_blocks = parts.kinds > 0 ? (rows / parts.chunks + 1) / RowBlock::kCapacity + parts.kinds : 0;
  parts.rows = divider.take(sub_m || parts.kinds > 0 ? 0 : 4 * rows, sizeof(std::int32_t));
  parts.blocks = divider.take(parts.chunks * parts.most_blocks, sizeof(RowBlock));
  parts.block_counts = divider.take(parts.kinds > 0 ? parts.chunks : 0, sizeof(std::int64_t));
  parts.total = divider.used() + kWorkspaceAlignment;
  return parts;
}

SortedWorkspace divide_for_sorting(const SparseGeometry &geometry, std::int64_t rows) {
  const std::int64_t planes = std::int64_t{geometry.filter_space[0]} * geometry.filter_space[1];
  const std::int64_t width = geometry.filter_space[2];
  const bool sub_m = geometry.sub_m != 0;
  const std::int64_t words = (rows + 63) / 64;
  SortedWorkspace parts;
  Divider divider;
  parts.rows = divider.take(rows, sizeof(SparseRecord));
  parts.rows_other = divider.take(rows, sizeof(SparseRecord));
  parts.runs = divider.take(rows + 1, sizeof(SparseRun));
  parts.run_line = divider.take(rows, sizeof(std::uint64_t));
  parts.run_sketch = divider.take(sub_m ? rows : 0, sizeof(SparseSketch));
  parts.distinct = divider.take(sub_m ? 2 * rows : 0, sizeof(std::int32_t));
  parts.links = divider.take(planes * rows, sizeof(SparseLink));
  parts.lines = divider.take(sub_m ? 0 : planes * rows, sizeof(SparseRecord));
  parts.lines_other = divider.take(sub_m ? 0 : planes * rows, sizeof(SparseRecord));
  parts.columns = divider.take(sub_m ? 0 : planes * width * rows, sizeof(std::int32_t));
  parts.slots = std::min(planes, kMostSlots);
  parts.matches_size = align(static_cast<std::size_t>(width * rows) * sizeof(std::int32_t)) +
                       align(static_cast<std::size_t>(width * words) * sizeof(std::uint64_t));
  parts.matches = divider.take(parts.slots, parts.matches_size);
  parts.total = divider.used() + kWorkspaceAlignment;
  return parts;
}

std::size_t workspace_get_indice_pairs(const SparseGeometry &geometry, std::int64_t rows) {
  return grid_pays(geometry, rows) ? divide_for_grid(geometry, rows).total : divide_for_sorting(geometry, rows).total;
}

}  // namespace mluops
