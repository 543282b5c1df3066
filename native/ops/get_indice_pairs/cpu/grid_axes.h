// The grid of DefaultGrid: output cells and filter cells of a row, by axis.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_

#include "ops/get_indice_pairs/cpu/rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// One axis of the grid. The contributions of each coordinate to output and filter cell numbers are
// tabulated, because dividing for every row would dominate the time.
//
// Filter cells whose distance is a multiple of the stride form a group. A coordinate is sent to
// outputs by the cells of one group: by all of them, except those whose outputs lie outside the
// space.
struct GridAxis {
  static constexpr int kKindBit = 32;

  struct Entry {
    // Contribution of the group's first cell to the output cell number, inside the space or not.
    std::uint64_t output;
    // Contribution of the group to the kind of a row, from kKindBit up. Below that, from
    // `first_bit` up, each bit is set if the output of that cell of the group is inside the space.
    std::uint64_t kind_and_reached;
  };

  // Number of cells of a group.
  std::int64_t in_group(std::int64_t group) const { return (filter_cells - group + stride - 1) / stride; }

  // Cell i of a group: its bit, its output's distance below the first one's, and its own distance
  // after the first cell.
  std::uint32_t bit(std::int64_t i) const { return std::uint32_t{1} << (first_bit + i); }
  std::uint32_t bits(std::int64_t count) const { return ((std::uint32_t{1} << count) - 1) << first_bit; }
  std::uint64_t below(std::int64_t i) const { return static_cast<std::uint64_t>(i) * output_step; }
  std::int64_t further(std::int64_t i) const { return i * stride * filter_scale; }

  const Entry *entries;
  std::uint64_t output_step;  // from one output of a group to the next, downwards
  std::int64_t filter_scale;  // from one filter cell of the axis to the next
  std::int64_t filter_cells, stride, groups;
  std::int64_t kind_scale;  // from one group to the next
  int first_bit;
};

// The filter and the output space.
class GridAxes {
 public:
  // `entries` has one element per coordinate on each axis; NULL if a group has more than
  // kMostInGroup cells. Incomplete if the call is interrupted.
  GridAxes(const SparseGeometry &g, GridAxis::Entry *entries) {
    std::int64_t output_scale = 1, filter_scale = 1, kind_scale = 1;
    for (int axis = kWidth; axis >= kDepth; --axis) {
      const Axis along(g, axis);
      const std::int64_t cells = g.filter_space[axis], groups = smaller(along.stride, cells);
      axes_[axis] =
          GridAxis{entries,      static_cast<std::uint64_t>(along.dilation) * static_cast<std::uint64_t>(output_scale),
                   filter_scale, cells,
                   along.stride, groups,
                   kind_scale,   axis * static_cast<int>(kMostInGroup)};
      if (entries != nullptr) {
        for_slices(0, g.input_space[axis], [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) entries[i] = entry(axes_[axis], along.reach(i), output_scale);
        });
        entries += g.input_space[axis];
      }
      output_scale *= along.outputs;
      filter_scale *= cells;
      kind_scale *= groups;
    }
    batch_scale_ = static_cast<std::uint64_t>(output_scale);
  }

  const GridAxis &operator[](int axis) const { return axes_[axis]; }
  const GridAxis::Entry &depth(const Row &row) const { return axes_[kDepth].entries[row.depth]; }
  const GridAxis::Entry &height(const Row &row) const { return axes_[kHeight].entries[row.height]; }
  const GridAxis::Entry &width(const Row &row) const { return axes_[kWidth].entries[row.width]; }

  // Number of the first cell of a batch.
  std::uint64_t batch(const Row &row) const { return static_cast<std::uint64_t>(row.batch) * batch_scale_; }

 private:
  static GridAxis::Entry entry(const GridAxis &axis, const Reach &reach, std::int64_t output_scale) {
    if (reach.count == 0) return GridAxis::Entry{0, 0};
    const std::int64_t group = reach.cell % axis.stride, skipped = reach.cell / axis.stride;
    const std::uint64_t output = static_cast<std::uint64_t>(reach.output * output_scale) +
                                 static_cast<std::uint64_t>(skipped) * axis.output_step;
    const std::uint64_t bits = (((std::uint64_t{1} << reach.count) - 1) << skipped) << axis.first_bit;
    return GridAxis::Entry{output, static_cast<std::uint64_t>(group * axis.kind_scale) << GridAxis::kKindBit | bits};
  }

  GridAxis axes_[kSpaceDims];
  std::uint64_t batch_scale_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_
