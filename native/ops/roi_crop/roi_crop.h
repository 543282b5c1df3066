// RoiCrop: bilinear samples of feature maps at the points of grids, and the gradient of the maps.
#ifndef MLUOPS_OPS_ROI_CROP_ROI_CROP_H_
#define MLUOPS_OPS_ROI_CROP_ROI_CROP_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Region n samples image n / (regions / batches). The point (y, x) of its grid lies at the pixel
// ((y + 1) * (height - 1) / 2, (x + 1) * (width - 1) / 2); corners beside the map count as 0, and
// so does a point that is NaN. Every extent is at least 1, and `batches` divides `regions`.
struct RoiCropGeometry {
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t regions;
  std::int64_t grid_height;
  std::int64_t grid_width;
  bool is_double;  // type of all arrays: float or double
};

struct RoiCropForwardProblem {
  const char *function;  // of the entry point, for messages
  RoiCropGeometry geometry;
  const void *input;  // [batches, height, width, channels]
  const void *grid;   // [regions, grid_height, grid_width, 2]
  void *output;       // [regions, grid_height, grid_width, channels]
};

// For each pixel, gradients are added in the order of the points.
struct RoiCropBackwardProblem {
  const char *function;
  RoiCropGeometry geometry;
  const void *grad_output;  // [regions, grid_height, grid_width, channels]
  const void *grid;         // [regions, grid_height, grid_width, 2]
  void *grad_input;         // [batches, height, width, channels]
};

mluOpStatus_t launch_roi_crop_forward(mluOpHandle_t handle, const RoiCropForwardProblem &problem);
mluOpStatus_t launch_roi_crop_backward(mluOpHandle_t handle, const RoiCropBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ROI_CROP_ROI_CROP_H_
