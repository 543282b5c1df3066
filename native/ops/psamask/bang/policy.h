// The division of psamask over clusters and cores, and into tiles that fit into NRAM.
#ifndef MLUOPS_OPS_PSAMASK_BANG_POLICY_H_
#define MLUOPS_OPS_PSAMASK_BANG_POLICY_H_

#include <cstdint>

#include "bang/policy.h"
#include "ops/psamask/psamask.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// Vector instructions of the oldest cards take multiples of 32 floats, transpositions of 16 by 16.
constexpr int kVector = 32;
constexpr int kSide = 16;

enum PsamaskAxis : int {
  kBatch,
  kRow,
  kColumn
};

// Parts of `size` positions along one axis.
struct PsamaskCut {
  int axis, size;
};

// Positions are (n, h, w); each has a mask of `cells` floats and a line of the map, of `area`
// floats. In NRAM there are masks, then lines, then, for distribute, the lines transposed.
struct PsamaskPlan {
  int batches, height, width, area;
  int mask_h, mask_w, cells;
  int up, left;  // from a position to the first cell of its mask
  bool distribute;
  PsamaskCut clusters, cores;           // the parts of clusters, and of the cores of each
  int tile_n, tile_h, tile_w;           // positions that pass through NRAM together
  int line;                             // floats from one line to the next in NRAM
  int lines_offset, transposed_offset;  // of the buffers after the masks, in floats
};

// NRAM of a tile, in floats.
struct PsamaskNeeds {
  std::int64_t cells, area;
  bool distribute;

  std::int64_t masks(std::int64_t positions) const { return round_up(positions * cells, kVector); }
  std::int64_t lines(std::int64_t positions) const {
    if (!distribute) return round_up(positions * area, kVector);
    return round_up(positions, kSide) * round_up(area, kSide);
  }
  std::int64_t floats(std::int64_t positions) const {
    return masks(positions) + (distribute ? 2 : 1) * lines(positions);
  }
  // The largest multiple of `unit` positions that fits, at most `count`.
  std::int64_t times(std::int64_t unit, std::int64_t count, std::int64_t capacity) const {
    std::int64_t times = smaller(count, capacity / (unit * (cells + area)));
    while (times > 0 && floats(times * unit) > capacity) --times;
    return times;
  }
};

// Whether the vendor's library accepts the geometry, which needs more than this kernel: room for a
// row of positions, or for 16 positions.
inline bool supported(const PsamaskGeometry &geometry, std::int64_t capacity) {
  const std::int64_t cells = geometry.mask_h * geometry.mask_w;
  const std::int64_t area = round_up(geometry.height * geometry.width, kSide);
  const std::int64_t buffers = geometry.type == PsaType::kDistribute ? 2 : 1;
  const std::int64_t row = round_up(geometry.width * cells, kVector) + round_up(geometry.width, kSide) * area * buffers;
  const std::int64_t position = round_up(cells, kVector) + round_up(area, kVector) * buffers;
  return row <= capacity || capacity / position >= kSide;
}

// Divides along the first axis that has a position for each worker, or else along the longest.
inline PsamaskCut cut_for(const std::int64_t (&extents)[3], std::int64_t workers) {
  int axis = kBatch;
  while (axis < kColumn && extents[axis] < workers) ++axis;
  if (extents[axis] < workers) {
    axis = extents[kRow] > extents[kBatch] ? kRow : kBatch;
    if (extents[kColumn] > extents[axis]) axis = kColumn;
  }
  return {axis, static_cast<int>(ceil_div(extents[axis], workers))};
}

// Whole maps if they fit, else rows of positions, else positions. `extents` are those of a core's
// part.
inline void fit_tile(const std::int64_t (&extents)[3], std::int64_t capacity, PsamaskPlan *plan) {
  const PsamaskNeeds needs{plan->cells, plan->area, plan->distribute};
  const std::int64_t row = extents[kColumn];
  const std::int64_t map = extents[kRow] * row;
  std::int64_t n = needs.times(map, extents[kBatch], capacity), h = extents[kRow], w = row;
  if (n == 0) {
    n = 1;
    h = needs.times(row, extents[kRow], capacity);
  }
  if (h == 0) {
    h = 1;
    w = needs.times(1, extents[kColumn], capacity);
  }
  plan->tile_n = static_cast<int>(n);
  plan->tile_h = static_cast<int>(h);
  plan->tile_w = static_cast<int>(w);
  plan->lines_offset = static_cast<int>(needs.masks(n * h * w));
  plan->transposed_offset = static_cast<int>(needs.masks(n * h * w) + needs.lines(n * h * w));
}

// For supported geometries every number of the plan fits into an int, because neither maps nor
// masks are larger than NRAM.
inline PsamaskPlan plan_for(const PsamaskGeometry &geometry, const Card &card, std::int64_t capacity) {
  PsamaskPlan plan = {};
  plan.batches = static_cast<int>(geometry.batches);
  plan.height = static_cast<int>(geometry.height);
  plan.width = static_cast<int>(geometry.width);
  plan.area = plan.height * plan.width;
  plan.mask_h = static_cast<int>(geometry.mask_h);
  plan.mask_w = static_cast<int>(geometry.mask_w);
  plan.cells = plan.mask_h * plan.mask_w;
  plan.up = static_cast<int>(geometry.center_h());
  plan.left = static_cast<int>(geometry.center_w());
  plan.distribute = geometry.type == PsaType::kDistribute;
  plan.line = plan.distribute ? static_cast<int>(round_up(plan.area, kSide)) : plan.area;

  std::int64_t extents[3] = {geometry.batches, geometry.height, geometry.width};
  plan.clusters = cut_for(extents, card.clusters);
  extents[plan.clusters.axis] = plan.clusters.size;
  plan.cores = cut_for(extents, card.cores_per_cluster);
  extents[plan.cores.axis] = plan.cores.size;
  fit_tile(extents, capacity, &plan);
  return plan;
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_BANG_POLICY_H_
