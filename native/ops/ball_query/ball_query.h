// BallQuery: for each centre the first points whose distance from it lies in a shell.
#ifndef MLUOPS_OPS_BALL_QUERY_BALL_QUERY_H_
#define MLUOPS_OPS_BALL_QUERY_BALL_QUERY_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Point k is found by centre (b, m) if d2 == 0 or min_radius^2 <= d2 < max_radius^2, where d2 is
// their squared distance. indices[b, m] holds the first `samples` points found, in ascending order;
// if there are fewer, the first one fills the rest. Indices of a centre that finds no point stay as
// they are. Every extent is at least 1.
struct BallQueryProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t batches;
  std::int64_t centres;  // M
  std::int64_t points;   // N
  std::int64_t samples;
  double min_radius;
  double max_radius;
  bool half;               // type of the coordinates: half (held as 16 bits) or float
  bool is_double = false;  // double instead
  const void *new_xyz;     // centres [batches, centres, 3]
  const void *xyz;         // points [batches, points, 3]
  std::int32_t *indices;   // [batches, centres, samples]
  // For stacked points: where the rows of each batch begin, and end; the extents above are then of
  // all batches. A distance of 0 counts as any other, and a centre that finds no point gets -1 and
  // zeros.
  const std::int64_t *centre_rows = nullptr;
  const std::int64_t *point_rows = nullptr;
};

mluOpStatus_t launch_ball_query(mluOpHandle_t handle, const BallQueryProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BALL_QUERY_BALL_QUERY_H_
