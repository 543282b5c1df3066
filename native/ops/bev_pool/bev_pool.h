// BevPool: sums of the rows that lie in the same cell of a grid, and the gradient of the rows.
#ifndef MLUOPS_OPS_BEV_POOL_BEV_POOL_H_
#define MLUOPS_OPS_BEV_POOL_BEV_POOL_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// An interval is `length` rows from `start` on, all of which lie in the cell of its first row. One
// that reaches beyond the rows, or whose cell lies beyond the grid, does not count. Every extent is
// at least 1.
struct BevPoolGeometry {
  std::int64_t rows;
  std::int64_t channels;
  std::int64_t intervals;
  std::int64_t batches;
  std::int64_t depth;
  std::int64_t height;
  std::int64_t width;
  const std::int32_t *places;   // [rows, 4]: cell along height, width and depth, and batch
  const std::int32_t *lengths;  // [intervals]
  const std::int32_t *starts;   // [intervals]
  bool is_double;               // type of the other arrays: float or double
};

// Rows are added in their order, intervals of the same cell one after another.
struct BevPoolForwardProblem {
  const char *function;  // of the entry point, for messages
  BevPoolGeometry geometry;
  const void *features;  // [rows, channels]
  void *output;          // [batches, depth, height, width, channels]
};

struct BevPoolBackwardProblem {
  const char *function;
  BevPoolGeometry geometry;
  const void *grad_output;  // [batches, depth, height, width, channels]
  void *grad_features;      // [rows, channels]
};

mluOpStatus_t launch_bev_pool_forward(mluOpHandle_t handle, const BevPoolForwardProblem &problem);
mluOpStatus_t launch_bev_pool_backward(mluOpHandle_t handle, const BevPoolBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BEV_POOL_BEV_POOL_H_
