// Boxes in space that stand upright, seen from above: overlaps, and suppression by them.
#ifndef MLUOPS_OPS_BOXES3D_BOXES3D_H_
#define MLUOPS_OPS_BOXES3D_BOXES3D_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kBoxNumbers = 7;  // centre x, y, z, size dx, dy, dz, heading

// What is computed of two boxes.
enum class BoxesValue {
  kOverlapBev,  // the area that they have in common from above
  kIouBev,      // divided by the area of both together
  kIou3d,       // the volume that they have in common, divided by that of both together
};

// With `aligned`, values[i] is that of the boxes i of both sets, which have the same number; else
// values[i, j] is that of boxes i and j. A box that is not finite overlaps no other one.
struct BoxesValuesProblem {
  const char *function;  // of the entry point, for messages
  BoxesValue value;
  bool aligned;
  bool is_double;  // type of all arrays: float or double
  std::int64_t first_count;
  std::int64_t second_count;
  const void *first;   // [first_count, 7]
  const void *second;  // [second_count, 7]
  void *values;        // [first_count], or [first_count, second_count]
};

// `kept` begins with the numbers of the boxes that are kept, in the order of their scores; of equal
// scores the lower number comes first. Overlaps are those from above, without headings if
// `upright`.
struct BoxesSuppressionProblem {
  const char *function;
  double iou_threshold;
  bool upright;
  bool is_double;  // type of boxes and scores: float or double
  std::int64_t count;
  const void *boxes;         // [count, 7]
  const void *scores;        // [count]
  std::int32_t *kept;        // [count]
  std::int32_t *kept_count;  // one number
};

mluOpStatus_t launch_boxes_values(mluOpHandle_t handle, const BoxesValuesProblem &problem);
mluOpStatus_t launch_boxes_suppression(mluOpHandle_t handle, const BoxesSuppressionProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BOXES3D_BOXES3D_H_
