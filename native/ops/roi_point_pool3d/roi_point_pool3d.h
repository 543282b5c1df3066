// RoiPointPool3d: the first points in upright boxes, with their features.
#ifndef MLUOPS_OPS_ROI_POINT_POOL3D_ROI_POINT_POOL3D_H_
#define MLUOPS_OPS_ROI_POINT_POOL3D_ROI_POINT_POOL3D_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Each box gets `samples` rows: the coordinates and features of its points, in ascending order and
// from the first one on again where there are fewer. A box without a point gets zeros and the flag
// 1; the flag of any other is 0. Every extent is at least 1.
struct RoiPointPool3dProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t batches;
  std::int64_t points;
  std::int64_t boxes;
  std::int64_t channels;
  std::int64_t samples;
  bool half;  // type of the real arrays: half, double, or float
  bool is_double;
  const void *xyz;       // [batches, points, 3]
  const void *features;  // [batches, points, channels]
  const void *rows;      // [batches, boxes, 7]: x, y, z of the bottom, dx, dy, dz, heading
  void *pooled;          // [batches, boxes, samples, 3 + channels]
  std::int32_t *empty;   // [batches, boxes]
};

mluOpStatus_t launch_roi_point_pool3d(mluOpHandle_t handle, const RoiPointPool3dProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ROI_POINT_POOL3D_ROI_POINT_POOL3D_H_
