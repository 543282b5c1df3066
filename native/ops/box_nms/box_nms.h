// Suppression of upright rectangles that overlap one with a higher score, in several forms.
#ifndef MLUOPS_OPS_BOX_NMS_BOX_NMS_H_
#define MLUOPS_OPS_BOX_NMS_BOX_NMS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Which numbers a row of the output has.
enum class NmsOutput {
  kIndices,  // the number of the box
  kRows,     // score and box: [picks, 5]
  kPlanes,   // the same, [5, picks]
  kClasses,  // batch, class and box
};

// Boxes are picked from the highest score down, at most `most` for each batch and class, as long
// as the score is above `least_score`; a pick suppresses those whose overlap with it is above the
// threshold. Of equal scores the lower number comes first. `space`: boxes have 7 numbers, are
// compared from above, and are picked in the order in which they stand.
struct NmsProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t box_type;
  mluOpDataType_t score_type;
  bool space;
  bool columns_first;  // boxes are [numbers, count]
  bool centred;        // centre and size in place of two corners
  bool pad;            // what follows the picks is set to 0, up to `most` for each batch and class
  NmsOutput output_mode;
  double iou_threshold;
  double least_score;
  double offset;  // is added to widths and heights
  std::int64_t batches;
  std::int64_t classes;
  std::int64_t count;
  std::int64_t most;
  std::int64_t room;   // picks that the output has room for
  const void *boxes;   // [batches, count, numbers]
  const void *scores;  // [batches, classes, count]
  void *output;
  std::int32_t *picks;  // one number
};

// The same for one set of boxes, [count, 4], with two corners each and any score but minus infinity
// and NaN.
struct Nms2dProblem {
  const char *function;
  double iou_threshold;
  double offset;
  bool is_double;  // type of boxes and scores: float or double
  std::int64_t count;
  const void *boxes;         // [count, 4]
  const void *scores;        // [count]
  std::int32_t *kept;        // [count]
  std::int32_t *kept_count;  // one number
};

// What each box belongs to: itself if it is kept, else the first kept one in the order of scores
// that overlaps it by at least the threshold. `order` has all numbers in the order of the scores; a
// NaN comes first.
struct NmsMatchProblem {
  const char *function;
  double iou_threshold;
  bool is_double;
  std::int64_t count;
  const void *dets;       // [count, 5]: two corners, score
  std::int32_t *matches;  // [count]
  std::int32_t *order;    // [count]
};

enum class SoftNms {
  kNaive = 0,
  kLinear = 1,
  kGaussian = 2
};

// Each pick lowers the scores of those that it overlaps; one whose score is below `min_score` then
// is dropped, and the last one of those left takes its place.
struct SoftNmsProblem {
  const char *function;
  double iou_threshold;
  double sigma;
  double min_score;
  SoftNms method;
  double offset;
  bool is_double;
  std::int64_t count;
  const void *boxes;         // [count, 4]
  const void *scores;        // [count]
  void *dets;                // [count, 5]: box, score when it was picked
  std::int32_t *kept;        // [count]
  std::int32_t *kept_count;  // one number
};

mluOpStatus_t launch_nms(mluOpHandle_t handle, const NmsProblem &problem);
mluOpStatus_t launch_nms2d(mluOpHandle_t handle, const Nms2dProblem &problem);
mluOpStatus_t launch_nms_match(mluOpHandle_t handle, const NmsMatchProblem &problem);
mluOpStatus_t launch_soft_nms(mluOpHandle_t handle, const SoftNmsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BOX_NMS_BOX_NMS_H_
