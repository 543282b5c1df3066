// NmsRotated: suppression of rotated boxes that overlap one with a higher score.
#ifndef MLUOPS_OPS_NMS_ROTATED_NMS_ROTATED_H_
#define MLUOPS_OPS_NMS_ROTATED_NMS_ROTATED_H_

#include <cstddef>
#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// `kept` begins with the numbers of the boxes that are kept, in the order of their scores; of equal
// scores the lower number comes first. The kernel takes memory of its own where the workspace is
// too small.
struct NmsRotatedProblem {
  const char *function;  // of the entry point, for messages
  double iou_threshold;
  bool is_double;  // type of boxes and scores: float or double
  std::int64_t count;
  std::int64_t columns;
  const void *boxes;   // [count, columns]: x, y, width, height, angle, and a label that is not read
  const void *scores;  // [count]
  void *workspace;
  std::int64_t workspace_size;
  std::int32_t *kept;        // [count]
  std::int32_t *kept_count;  // one number
};

mluOpStatus_t launch_nms_rotated(mluOpHandle_t handle, const NmsRotatedProblem &problem);

// Bytes that the kernel works with.
std::size_t nms_rotated_workspace_size(std::int64_t count, bool is_double);

}  // namespace mluops

#endif  // MLUOPS_OPS_NMS_ROTATED_NMS_ROTATED_H_
