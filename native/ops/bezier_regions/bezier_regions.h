// BezierAlign: the mean of bilinear samples in the bins between two curves, and the gradient of the
// maps.
#ifndef MLUOPS_OPS_BEZIER_REGIONS_BEZIER_REGIONS_H_
#define MLUOPS_OPS_BEZIER_REGIONS_BEZIER_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

// Region r is the row (image, x0, y0, ..., x7, y7) of `rois`, in pixels of the image, of which a
// map shows `spatial_scale`: the control points of its upper curve, and of its lower one backwards.
// Bin (i, j) of rows x columns bins is upright; its centre lies i / rows of the way from the upper
// to the lower curve, on both of them at j / columns of the parameter. All bins are as large as
// those of the box around the ends of the curves would be. A bin has sampling_ratio^2 samples, or
// one for each pixel of its height and width if that is 0. A region of no image, or one that is not
// finite, has no samples. Every extent is at least 1.
struct BezierAlignGeometry : RegionSizes {
  std::int64_t sampling_ratio;
  double spatial_scale;
  bool aligned;  // regions are half a pixel further up and left, and may be smaller than a pixel
};

struct BezierAlignProblem {
  const char *function;  // of the entry point, for messages
  BezierAlignGeometry geometry;
  const void *source;  // maps [batches, height, width, channels], or the gradient of pooled values
  const void *rois;    // [regions, 17]
  void *result;        // pooled values [regions, rows, columns, channels], or the gradient of maps
};

mluOpStatus_t launch_bezier_align_forward(mluOpHandle_t handle, const BezierAlignProblem &problem);
mluOpStatus_t launch_bezier_align_backward(mluOpHandle_t handle, const BezierAlignProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BEZIER_REGIONS_BEZIER_REGIONS_H_
