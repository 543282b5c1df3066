// BboxOverlaps: the area that two upright rectangles have in common, as a part of others.
#ifndef MLUOPS_OPS_BBOX_OVERLAPS_BBOX_OVERLAPS_H_
#define MLUOPS_OPS_BBOX_OVERLAPS_BBOX_OVERLAPS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// With `aligned`, ious[i] is that of the boxes i of both sets, which have the same number; else
// ious[i, j] is that of boxes i and j. `offset` is added to widths and heights, and is the least
// divisor.
struct BboxOverlapsProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // of all arrays: half, float or double
  bool of_first;         // divide by the area of the first box, not of both together
  bool aligned;
  int offset;
  std::int64_t first_count;
  std::int64_t second_count;
  const void *first;   // [first_count, 4]
  const void *second;  // [second_count, 4]
  void *ious;          // [first_count], or [first_count, second_count]
};

mluOpStatus_t launch_bbox_overlaps(mluOpHandle_t handle, const BboxOverlapsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BBOX_OVERLAPS_BBOX_OVERLAPS_H_
