// RoiAlignRotated: the mean of bilinear samples in the bins of turned regions, and the gradient of
// the maps; also of maps whose channels are orientations.
#ifndef MLUOPS_OPS_TURNED_REGIONS_TURNED_REGIONS_H_
#define MLUOPS_OPS_TURNED_REGIONS_TURNED_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

constexpr int kMostOrientations = 256;

// Region r is the row (image, centre x, centre y, width, height, angle) of `rois`, in pixels of the
// image, of which a map shows `spatial_scale`. It is cut into rows x columns bins of equal size,
// each of which has sampling_ratio^2 samples, or one for each pixel of its height and width if that
// is 0. A region of no image, one that is not finite, or one of negative size has no samples. Every
// extent is at least 1.
struct RoiAlignRotatedGeometry : RegionSizes {
  std::int64_t sampling_ratio;
  double spatial_scale;
  double shift;       // of the centres, in pixels of the map, up and left
  bool may_be_small;  // regions may be smaller than a pixel
  bool clockwise;
  // Channel c * orientations + o of the result mixes the two orientations of channel c that the
  // angle lies between, counted from o on; 1: no mixing. For more the type is float or double.
  std::int64_t orientations;
};

struct RoiAlignRotatedProblem {
  const char *function;  // of the entry point, for messages
  RoiAlignRotatedGeometry geometry;
  const void *source;  // [batches, height, width, channels], backward: [regions, rows, columns, channels]
  const void *rois;    // [regions, 6]
  void *result;        // the other one of them
};

mluOpStatus_t launch_roi_align_rotated_forward(mluOpHandle_t handle, const RoiAlignRotatedProblem &problem);
mluOpStatus_t launch_roi_align_rotated_backward(mluOpHandle_t handle, const RoiAlignRotatedProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_TURNED_REGIONS_TURNED_REGIONS_H_
