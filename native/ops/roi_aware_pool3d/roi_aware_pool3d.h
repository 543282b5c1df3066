// RoiAwarePool3d: the largest or mean features of the points in each voxel of upright boxes, and
// the gradient of the features.
#ifndef MLUOPS_OPS_ROI_AWARE_POOL3D_ROI_AWARE_POOL3D_H_
#define MLUOPS_OPS_ROI_AWARE_POOL3D_ROI_AWARE_POOL3D_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Each box has x * y * z voxels of equal size. Of a voxel the first element of `indices` is the
// number of its points, and the points follow, in ascending order; there is room for slots - 1.
// Every extent is at least 1.
struct RoiAwareGeometry {
  bool average;  // else maximum
  bool half;     // type of the real arrays: half, double, or float
  bool is_double;
  std::int64_t boxes;
  std::int64_t points;
  std::int64_t channels;
  std::int64_t slots;
  std::int64_t x, y, z;  // voxels along the axes of a box
};

// A maximum is the first of equal ones, of which NaN and -infinity are none; it is 0 and its place
// -1 if there is none. A mean is added up in the order of the points and divided; it is 0 without a
// point. Places of means are 0.
struct RoiAwareForwardProblem {
  const char *function;  // of the entry point, for messages
  RoiAwareGeometry geometry;
  const void *rois;       // [boxes, 7]: x, y, z of the bottom, dx, dy, dz, heading
  const void *pts;        // [points, 3]
  const void *features;   // [points, channels]
  std::int32_t *argmax;   // [boxes, x, y, z, channels]
  std::int32_t *indices;  // [boxes, x, y, z, slots]
  void *pooled;           // [boxes, x, y, z, channels]
};

// The gradient of a maximum goes to its place, that of a mean to the points of the voxel, divided
// by their number. Places and points that do not exist get nothing. Added up in the order of boxes
// and voxels.
struct RoiAwareBackwardProblem {
  const char *function;
  RoiAwareGeometry geometry;
  const std::int32_t *indices;  // [boxes, x, y, z, slots]
  const std::int32_t *argmax;   // [boxes, x, y, z, channels]
  const void *grad_out;         // [boxes, x, y, z, channels]
  void *grad_in;                // [points, channels]
};

mluOpStatus_t launch_roi_aware_forward(mluOpHandle_t handle, const RoiAwareForwardProblem &problem);
mluOpStatus_t launch_roi_aware_backward(mluOpHandle_t handle, const RoiAwareBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ROI_AWARE_POOL3D_ROI_AWARE_POOL3D_H_
