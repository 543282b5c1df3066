// PrRoiPool: the mean of maps over the bins of regions, and the gradients of maps and regions.
#ifndef MLUOPS_OPS_PRECISE_REGIONS_PRECISE_REGIONS_H_
#define MLUOPS_OPS_PRECISE_REGIONS_PRECISE_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

// Region r is the row (image, x1, y1, x2, y2) of `rois`, in pixels of the image, of which a map
// shows `spatial_scale`. It is cut into rows x columns bins of equal size. The mean over a bin is
// the integral divided by the area, of a map that is bilinear between its pixels, and falls to 0
// within a pixel beside it. A bin without an area is 0, and so is a region of no image, or one that
// is not finite. Every extent is at least 1.
struct PrRoiPoolGeometry : RegionSizes {
  double spatial_scale;
};

struct PrRoiPoolProblem {
  const char *function;  // of the entry point, for messages
  PrRoiPoolGeometry geometry;
  const void *source;  // [batches, height, width, channels], backward: [regions, rows, columns, channels]
  const void *rois;    // [regions, 5]
  void *result;        // the other one of them
};

struct PrRoiPoolCoorProblem {
  const char *function;
  PrRoiPoolGeometry geometry;
  const void *gradient;  // [regions, rows, columns, channels]
  const void *input;     // [batches, height, width, channels]
  const void *rois;      // [regions, 5]
  const void *output;    // like the gradient: the means
  void *grad_rois;       // [regions, 5], of which the first column becomes 0
};

mluOpStatus_t launch_pr_roi_pool_forward(mluOpHandle_t handle, const PrRoiPoolProblem &problem);
mluOpStatus_t launch_pr_roi_pool_backward(mluOpHandle_t handle, const PrRoiPoolProblem &problem);
mluOpStatus_t launch_pr_roi_pool_coor_backward(mluOpHandle_t handle, const PrRoiPoolCoorProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_PRECISE_REGIONS_PRECISE_REGIONS_H_
