// ActiveRotatedFilter: all rotations of filters, whose cells a table moves, and the gradient.
#ifndef MLUOPS_OPS_ACTIVE_ROTATED_FILTER_ACTIVE_ROTATED_FILTER_H_
#define MLUOPS_OPS_ACTIVE_ROTATED_FILTER_ACTIVE_ROTATED_FILTER_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr std::int64_t kMostOrientations = 128;
constexpr std::int64_t kMostRotations = 8;
constexpr std::int64_t kMostCells = kMostOrientations * 3 * 3;

// A plane of a filter has `cells` values: its orientations, and rows and columns of each. Rotation
// q moves cell l to cell indices[l * rotations + q] - 1, and nowhere if there is none. Every extent
// is at least 1.
struct ActiveRotatedFilterGeometry {
  mluOpDataType_t type;  // of the filters: half, float or double
  std::int64_t filters;
  std::int64_t planes;
  std::int64_t cells;      // at most kMostCells
  std::int64_t rotations;  // at most kMostRotations
};

struct ActiveRotatedFilterProblem {
  const char *function;  // of the entry point, for messages
  ActiveRotatedFilterGeometry geometry;
  const void *source;           // [filters, planes, cells], backward: [filters, rotations, planes, cells]
  const std::int32_t *indices;  // [cells, rotations]
  void *result;                 // the other one of them
};

mluOpStatus_t launch_active_rotated_filter_forward(mluOpHandle_t handle, const ActiveRotatedFilterProblem &problem);
mluOpStatus_t launch_active_rotated_filter_backward(mluOpHandle_t handle, const ActiveRotatedFilterProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ACTIVE_ROTATED_FILTER_ACTIVE_ROTATED_FILTER_H_
