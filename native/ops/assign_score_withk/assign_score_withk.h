// AssignScoreWithK: features of the neighbours of points, weighted by scores.
#ifndef MLUOPS_OPS_ASSIGN_SCORE_WITHK_ASSIGN_SCORE_WITHK_H_
#define MLUOPS_OPS_ASSIGN_SCORE_WITHK_ASSIGN_SCORE_WITHK_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct AssignScoreShape {
  std::int64_t batches;
  std::int64_t points;      // N0
  std::int64_t centres;     // N1
  std::int64_t neighbours;  // K
  std::int64_t scores;      // M
  std::int64_t channels;    // O
  mluOpDataType_t type;     // of all values: half (held as 16 bits), float or double
};

// output[b, o, n, k] is the sum over m of points[b, i, m, o] * s - centers[b, c, m, o] * s with s =
// scores[b, n, k, m], i = numbers[b, n, k] and c = numbers[b, n, 0], in the order of m; 0 if a
// number is none of a point. Half is added up in float.
struct AssignScoreForwardProblem {
  const char *function;  // of the entry point, for messages
  AssignScoreShape shape;
  const void *points;           // [batches, points, scores, channels]
  const void *centers;          // [batches, points, scores, channels]
  const void *scores;           // [batches, centres, neighbours, scores]
  const std::int32_t *numbers;  // [batches, centres, neighbours]
  void *output;                 // [batches, channels, centres, neighbours]
};

// Gradients of points and centers are added up in the order of centres and neighbours, those of
// scores in that of channels.
struct AssignScoreBackwardProblem {
  const char *function;
  AssignScoreShape shape;
  const void *grad_output;  // as output
  const void *points;
  const void *centers;
  const void *scores;
  const std::int32_t *numbers;
  void *grad_points;
  void *grad_centers;
  void *grad_scores;
};

mluOpStatus_t launch_assign_score_forward(mluOpHandle_t handle, const AssignScoreForwardProblem &problem);
mluOpStatus_t launch_assign_score_backward(mluOpHandle_t handle, const AssignScoreBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ASSIGN_SCORE_WITHK_ASSIGN_SCORE_WITHK_H_
