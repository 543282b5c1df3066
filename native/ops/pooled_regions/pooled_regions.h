// RoiPool: the largest pixel in the bins of regions, and the gradient of the maps.
#ifndef MLUOPS_OPS_POOLED_REGIONS_POOLED_REGIONS_H_
#define MLUOPS_OPS_POOLED_REGIONS_POOLED_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

// Region r is the row (image, x1, y1, x2, y2) of `rois`, in pixels of the image, of which a map
// shows `spatial_scale`; its last row and column belong to it. It is cut into rows x columns bins
// of equal size, each of which has the pixels that it touches. If `rounded`, the corners are whole
// pixels of the map, regions are at least one pixel wide and high, and a NaN is largest until a
// number follows; else a region without a size has no pixels, and a NaN is never largest. A region
// of no image, or one that is not finite, has no pixels. Every extent is at least 1, but for
// regions of the backward direction.
struct RoiPoolGeometry : RegionSizes {
  double spatial_scale;
  bool rounded;
};

struct RoiPoolForwardProblem {
  const char *function;  // of the entry point, for messages
  RoiPoolGeometry geometry;
  const void *input;     // [batches, height, width, channels]
  const void *rois;      // [regions, 5]
  void *output;          // [regions, rows, columns, channels]
  std::int32_t *argmax;  // like output: the pixel in its image, -1 for none
};

// The pixels that argmax names get the gradients; another number gets nothing.
struct RoiPoolBackwardProblem {
  const char *function;
  RoiPoolGeometry geometry;
  const void *gradient;        // [regions, rows, columns, channels]
  const void *rois;            // [regions, 5], of which only the images are read
  const std::int32_t *argmax;  // like the gradient
  void *grad_input;            // [batches, height, width, channels]
};

mluOpStatus_t launch_roi_pool_forward(mluOpHandle_t handle, const RoiPoolForwardProblem &problem);
mluOpStatus_t launch_roi_pool_backward(mluOpHandle_t handle, const RoiPoolBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_POOLED_REGIONS_POOLED_REGIONS_H_
