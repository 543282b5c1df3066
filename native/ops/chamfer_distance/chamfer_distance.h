// ChamferDistance: nearest points of two clouds in a plane, and the gradients of both.
#ifndef MLUOPS_OPS_CHAMFER_DISTANCE_CHAMFER_DISTANCE_H_
#define MLUOPS_OPS_CHAMFER_DISTANCE_CHAMFER_DISTANCE_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr std::int64_t kPlaneCoordinates = 2;

// One direction: the points of one cloud, and those among which the nearest ones are found.
struct NearestInPlane {
  std::int64_t points;
  std::int64_t others;
  const void *from;       // [batches, points, 2]
  const void *to;         // [batches, others, 2]
  void *distance;         // [batches, points], squared
  std::int32_t *indices;  // [batches, points]
};

// Every step of a distance is rounded to the type of the points. Of equal distances the lowest
// index counts, and a NaN is none; if there is no other, the result is point 0 and its distance.
// Without other points, distances and indices are 0.
struct ChamferDistanceForwardProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t batches;
  mluOpDataType_t type;  // half (held as 16 bits), float or double
  NearestInPlane directions[2];
};

// One direction of the gradient: of the squared distances of points from those that indices name.
struct PlaneGradient {
  std::int64_t points;
  const void *from;             // [batches, points, 2]
  const std::int32_t *indices;  // [batches, points]
  const void *grad_distance;    // [batches, points]
  void *gradient;               // [batches, points, 2]
};

// Both gradients are added up in the order of the points of the first cloud, then of the second. An
// index that names no point contributes nothing.
struct ChamferDistanceBackwardProblem {
  const char *function;
  std::int64_t batches;
  mluOpDataType_t type;
  PlaneGradient directions[2];
};

mluOpStatus_t launch_chamfer_distance_forward(mluOpHandle_t handle, const ChamferDistanceForwardProblem &problem);
mluOpStatus_t launch_chamfer_distance_backward(mluOpHandle_t handle, const ChamferDistanceBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_CHAMFER_DISTANCE_CHAMFER_DISTANCE_H_
