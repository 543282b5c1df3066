// Furthest point sampling: picks points one after another, each the one that lies furthest from all
// picks before it.
#ifndef MLUOPS_OPS_FURTHEST_POINT_SAMPLING_FURTHEST_POINT_SAMPLING_H_
#define MLUOPS_OPS_FURTHEST_POINT_SAMPLING_FURTHEST_POINT_SAMPLING_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Each point begins with the distance `most`. The first pick is point 0. Before each later one the
// distance of a point becomes the least of itself and the squared distance from the pick before;
// the pick is the point whose distance is greatest, of several the first. Points with a coordinate
// that is not finite, or x^2 + y^2 + z^2 <= min_squared_norm, are no such picks; without others it
// is point 0 again. distances and indices hold what there is at the end. Every extent but samples
// is at least 1.
struct FurthestPointSamplingProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // half, float or double
  std::int64_t batches;
  std::int64_t points;   // N
  std::int64_t samples;  // M
  double most;
  double min_squared_norm;
  const void *xyz;        // [batches, points, 3]
  void *distances;        // [batches, points]
  std::int32_t *indices;  // [batches, samples]
  // For stacked points: where the rows and the samples of each batch begin, and end; the extents
  // above are then of all batches, and indices are rows of all batches; the picks of a batch
  // without points are -1.
  const std::int64_t *point_rows = nullptr;
  const std::int64_t *sample_rows = nullptr;
};

// The same by distances that are given: matrix[b, i, k] is that of point k from pick i. A NaN is no
// less than a distance.
struct FurthestPointSamplingWithDistProblem {
  const char *function;
  mluOpDataType_t type;
  std::int64_t batches;
  std::int64_t points;
  std::int64_t samples;
  double most;
  const void *matrix;  // [batches, points, points]
  void *distances;
  std::int32_t *indices;
};

mluOpStatus_t launch_furthest_point_sampling(mluOpHandle_t handle, const FurthestPointSamplingProblem &problem);
mluOpStatus_t launch_furthest_point_sampling_with_dist(mluOpHandle_t handle,
                                                       const FurthestPointSamplingWithDistProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_FURTHEST_POINT_SAMPLING_FURTHEST_POINT_SAMPLING_H_
