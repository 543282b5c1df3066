// RoiAlign: the mean or the largest of bilinear samples in the bins of regions, and the gradient of
// the maps.
#ifndef MLUOPS_OPS_ALIGNED_REGIONS_ALIGNED_REGIONS_H_
#define MLUOPS_OPS_ALIGNED_REGIONS_ALIGNED_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

// Region r is the row (image, x1, y1, x2, y2) of `rois`, in pixels of the image, of which a map
// shows `spatial_scale`. It is cut into rows x columns bins of equal size, each of which has
// sampling_ratio^2 samples, or one for each pixel of its height and width if that is 0. A region of
// no image, or one that is not finite, has no samples. Every extent is at least 1.
struct RoiAlignGeometry : RegionSizes {
  std::int64_t sampling_ratio;
  double spatial_scale;
  bool aligned;  // regions are half a pixel further up and left, and may be smaller than a pixel
  bool largest;  // instead of the mean
};

struct RoiAlignForwardProblem {
  const char *function;  // of the entry point, for messages
  RoiAlignGeometry geometry;
  const void *input;  // [batches, height, width, channels]
  const void *rois;   // [regions, 5]
  void *output;       // [regions, rows, columns, channels]
  void *argmax_y;     // like output: where the largest sample is, or -1; NULL for means
  void *argmax_x;
};

struct RoiAlignBackwardProblem {
  const char *function;
  RoiAlignGeometry geometry;
  const void *gradient;  // [regions, rows, columns, channels]
  const void *rois;      // [regions, 5]
  const void *argmax_y;  // like the gradient; NULL for means
  const void *argmax_x;
  void *grad_input;  // [batches, height, width, channels]
};

mluOpStatus_t launch_roi_align_forward(mluOpHandle_t handle, const RoiAlignForwardProblem &problem);
mluOpStatus_t launch_roi_align_backward(mluOpHandle_t handle, const RoiAlignBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ALIGNED_REGIONS_ALIGNED_REGIONS_H_
