// BoxIouRotated: how much rotated boxes overlap.
#ifndef MLUOPS_OPS_BOX_IOU_ROTATED_BOX_IOU_ROTATED_H_
#define MLUOPS_OPS_BOX_IOU_ROTATED_BOX_IOU_ROTATED_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// The area that two boxes have in common, divided by that of both together, or by that of the first
// one. 0 for a box that has no area or is not finite. With `aligned`, ious[i] is that of the boxes
// i of both sets, which have the same number; else ious[i, j] is that of boxes i and j.
struct BoxIouRotatedProblem {
  const char *function;  // of the entry point, for messages
  bool of_first;
  bool aligned;
  bool is_double;  // type of all arrays: float or double
  std::int64_t first_count;
  std::int64_t second_count;
  const void *first;   // [first_count, 5]: x, y, width, height, angle
  const void *second;  // [second_count, 5]
  void *ious;          // [first_count], or [first_count, second_count]
};

mluOpStatus_t launch_box_iou_rotated(mluOpHandle_t handle, const BoxIouRotatedProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BOX_IOU_ROTATED_BOX_IOU_ROTATED_H_
