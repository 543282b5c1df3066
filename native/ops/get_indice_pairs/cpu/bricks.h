// The grid of SubManifoldGrid: bricks of 64 cells, as cubic as the space allows, so that a filter
// covers few of them.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_BRICKS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_BRICKS_H_

#include "ops/get_indice_pairs/cpu/rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Bricks that the filter reaches from a coordinate on one axis: `count` consecutive ones.
struct BrickReach {
  std::uint64_t cells[2];    // reachable cells of a brick if it is the first, and if it is the last of several
  std::uint64_t brick;       // contribution of the first brick to the brick number
  std::int32_t filter_cell;  // contribution of its lowest cell to the filter cell number
  std::int16_t count;
  std::int16_t own;  // index of the coordinate's own brick among them; `count` if none
};

class Bricks {
 public:
  // `entries` has one element per coordinate on each axis. Incomplete if the call is interrupted.
  Bricks(const SparseGeometry &g, const BrickShape &shape, BrickReach *entries) {
    std::uint64_t scale = 1;
    std::int32_t filter_scale = 1;
    int bit = 0;
    for (int axis = kWidth; axis >= kDepth; --axis) {
      axes_[axis] = Along{shape.shift[axis], bit, scale, filter_scale, entries};
      const std::int32_t size = 1 << shape.shift[axis];
      most_ = larger(most_, smaller((g.filter_space[axis] - 2) / size + 2, (g.input_space[axis] - 1) / size + 1));
      find_cells_below(axis);
      for_slices(0, g.input_space[axis], [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) entries[i] = reach(g, axis, i);
      });
      entries += g.input_space[axis];
      bit += shape.shift[axis];
      scale *= static_cast<std::uint64_t>(shape.bricks(g, axis));
      filter_scale *= g.filter_space[axis];
    }
    batch_scale_ = scale;
    for (int inner = 0; inner < 64; ++inner) inner_filter_cell_[inner] = filter_cells_below(inner);
  }

  // Upper bound of the bricks reached on any axis.
  std::int32_t most() const { return most_; }

  const BrickReach &reach(int axis, std::int32_t coordinate) const { return axes_[axis].entries[coordinate]; }
  // Step from brick to brick along an axis: increase of the brick number, decrease of the filter
  // cell number.
  std::uint64_t brick_step(int axis) const { return axes_[axis].scale; }
  std::int32_t filter_step(int axis) const { return axes_[axis].filter_scale << axes_[axis].shift; }

  std::uint64_t batch(const Row &row) const { return static_cast<std::uint64_t>(row.batch) * batch_scale_; }

  // Cells are numbered brick by brick.
  std::uint64_t cell_at(const Row &row) const {
    return (batch(row) << 6) + inside(kDepth, row.depth) + inside(kHeight, row.height) + inside(kWidth, row.width);
  }

  // Filter cell number of a brick's lowest cell minus that of its cell `inner`.
  std::int32_t inner_filter_cell(std::uint64_t inner) const { return inner_filter_cell_[inner]; }

 private:
  struct Along {
    int shift;  // a brick has 2^shift cells along the axis
    int bit;    // lowest bit of the coordinate inside a brick in the number of a cell
    std::uint64_t scale;
    std::int32_t filter_scale;
    const BrickReach *entries;
  };

  std::uint64_t inside(int axis, std::int32_t coordinate) const {
    const Along &along = axes_[axis];
    const std::uint64_t place = static_cast<std::uint64_t>(coordinate);
    return ((place >> along.shift) * along.scale << 6) + ((place & ((1u << along.shift) - 1)) << along.bit);
  }

  std::int32_t filter_cells_below(int inner) const {
    std::int32_t sum = 0;
    for (const Along &along : axes_) sum += (inner >> along.bit & ((1 << along.shift) - 1)) * along.filter_scale;
    return sum;
  }

  void find_cells_below(int axis) {
    const Along &along = axes_[axis];
    for (int limit = 0; limit <= 64; ++limit) cells_below_[limit] = 0;
    for (int inner = 0; inner < 64; ++inner) {
      const int at = inner >> along.bit & ((1 << along.shift) - 1);
      for (int limit = at + 1; limit <= 64; ++limit) cells_below_[limit] |= std::uint64_t{1} << inner;
    }
  }

  // For the axis being set up: cells of a brick whose inner coordinate is in low .. high.
  std::uint64_t cells_between(std::int64_t low, std::int64_t high) const {
    return cells_below_[smaller<std::int64_t>(high, 63) + 1] & ~cells_below_[low];
  }

  BrickReach reach(const SparseGeometry &g, int axis, std::int64_t coordinate) const {
    const Along &along = axes_[axis];
    const std::int64_t high = smaller<std::int64_t>(coordinate + g.pad[axis], g.input_space[axis] - 1);
    const std::int64_t low = larger<std::int64_t>(coordinate + g.pad[axis] - (g.filter_space[axis] - 1), 0);
    if (low > high) return BrickReach{};
    const std::int64_t first = low >> along.shift, last = high >> along.shift, size = std::int64_t{1} << along.shift;
    const std::int64_t above = coordinate + g.pad[axis] - first * size, count = last - first + 1;
    const std::int64_t own = (coordinate >> along.shift) - first;
    return BrickReach{{cells_between(low - first * size, high - first * size),
                       first == last ? 0 : cells_between(0, high - last * size)},
                      static_cast<std::uint64_t>(first) * along.scale,
                      static_cast<std::int32_t>(above) * along.filter_scale,
                      static_cast<std::int16_t>(count),
                      static_cast<std::int16_t>(own >= 0 && own < count ? own : count)};
  }

  Along axes_[kSpaceDims];
  std::int32_t most_ = 1;
  std::uint64_t batch_scale_;
  std::uint64_t cells_below_[65];  // used during setup only
  std::int32_t inner_filter_cell_[64];
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_BRICKS_H_
