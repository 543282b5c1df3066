// The grid of DefaultGrid: which cells of it, and of the filter, a row meets.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_

#include "ops/get_indice_pairs/cpu_rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// One axis of the grid. What a coordinate contributes to the numbers of output and filter cells is looked up: to find it anew for
// every row would take longer than all the rest.
struct GridAxis {
  // What the filter sends a coordinate to: for each of `count` filter cells, an output.
  struct Entry {
    std::uint64_t output;      // number that the first of them contributes to that of the output cell
    std::int32_t filter_cell;  // likewise to that of the filter cell
    std::int32_t count;
  };

  const Entry *entries;
  std::uint64_t output_step;  // from one output to the next, downwards
  std::int64_t filter_step;   // from one filter cell to the next, upwards
  std::int32_t most;          // no coordinate has a higher count
};

// The filter and the output space.
class GridAxes {
 public:
  // `entries` has room for one per coordinate on each axis.
  GridAxes(const SparseGeometry &g, GridAxis::Entry *entries) {
    std::uint64_t output_scale = 1;
    std::int32_t filter_scale = 1;
    for (int axis = kWidth; axis >= kDepth; --axis) {
      const Axis along(g, axis);
      axes_[axis] = GridAxis{entries, static_cast<std::uint64_t>(along.dilation) * output_scale,
                             along.stride * filter_scale, static_cast<std::int32_t>(along.most_senders())};
      for (std::int64_t i = 0; i < g.input_space[axis]; ++i) {
        const Reach reach = along.reach(i);
        *entries++ = GridAxis::Entry{static_cast<std::uint64_t>(reach.output) * output_scale,
                                     static_cast<std::int32_t>(reach.cell) * filter_scale,
                                     static_cast<std::int32_t>(reach.count)};
      }
      output_scale *= static_cast<std::uint64_t>(along.outputs);
      filter_scale *= g.filter_space[axis];
    }
    batch_scale_ = output_scale;
  }

  const GridAxis &operator[](int axis) const { return axes_[axis]; }
  const GridAxis::Entry &depth(const Row &row) const { return axes_[kDepth].entries[row.depth]; }
  const GridAxis::Entry &height(const Row &row) const { return axes_[kHeight].entries[row.height]; }
  const GridAxis::Entry &width(const Row &row) const { return axes_[kWidth].entries[row.width]; }

  // Number of the first cell of a batch.
  std::uint64_t batch(const Row &row) const { return static_cast<std::uint64_t>(row.batch) * batch_scale_; }

 private:
  GridAxis axes_[kSpaceDims];
  std::uint64_t batch_scale_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_GRID_AXES_H_
