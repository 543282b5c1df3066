// Quadrilaterals in a plane: overlaps, and suppression by them.
#ifndef MLUOPS_OPS_QUADRI_BOXES_QUADRI_BOXES_H_
#define MLUOPS_OPS_QUADRI_BOXES_QUADRI_BOXES_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// With `aligned`, ious[i] is that of the boxes i of both sets, which have the same number; else
// ious[i, j] is that of boxes i and j. A box that is not finite overlaps no other one.
struct BoxIouQuadriProblem {
  const char *function;  // of the entry point, for messages
  bool of_first;         // divide by the area of the first box, not of both together
  bool by_mmcv;          // mmcv's rule for quadrilaterals that are no rectangles
  bool aligned;
  bool is_double;  // type of all arrays: float or double
  std::int64_t first_count;
  std::int64_t second_count;
  const void *first;   // [first_count, 8]: four corners in their order
  const void *second;  // [second_count, 8]
  void *ious;          // [first_count], or [first_count, second_count]
};

// `kept` begins with the numbers of the boxes that are kept, in the order of their scores; of equal
// scores the lower number comes first. With `scored`, the score is the last number of a box, NaN is
// the highest one, and boxes of equal scores do not suppress each other.
struct QuadriSuppressionProblem {
  const char *function;
  double iou_threshold;
  bool scored;
  bool is_double;  // type of boxes and scores: float or double
  std::int64_t count;
  std::int64_t columns;      // of boxes
  const void *boxes;         // [count, columns]: four corners, and more
  const void *scores;        // [count], NULL if `scored`
  std::int32_t *kept;        // [count]
  std::int32_t *kept_count;  // one number
};

mluOpStatus_t launch_box_iou_quadri(mluOpHandle_t handle, const BoxIouQuadriProblem &problem);
mluOpStatus_t launch_quadri_suppression(mluOpHandle_t handle, const QuadriSuppressionProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_QUADRI_BOXES_QUADRI_BOXES_H_
