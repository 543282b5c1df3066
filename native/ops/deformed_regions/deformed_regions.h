// DeformRoiPool: the mean of bilinear samples in the bins of regions, each of which an offset
// moves, and the gradients of maps and offsets.
#ifndef MLUOPS_OPS_DEFORMED_REGIONS_DEFORMED_REGIONS_H_
#define MLUOPS_OPS_DEFORMED_REGIONS_DEFORMED_REGIONS_H_

#include "core/region_sizes.h"

namespace mluops {

// Region r is the row (image, x1, y1, x2, y2) of `rois`, in pixels of the image, of which a map
// shows `spatial_scale`; it is then moved by half a pixel up and left. It is cut into
// rows x columns bins of equal size, each of which has sampling_ratio^2 samples, or one for each
// pixel of its height and width if that is 0. An offset moves bin (i, j) by `gamma` times the size
// of the region. A region of no image, or one that is not finite, has no samples. Every extent is
// at least 1.
struct DeformRoiPoolGeometry : RegionSizes {
  std::int64_t sampling_ratio;
  double spatial_scale;
  double gamma;
  bool exact;  // the gradient of the offsets is that of what is computed at the rim of the map too
};

struct DeformRoiPoolForwardProblem {
  const char *function;  // of the entry point, for messages
  DeformRoiPoolGeometry geometry;
  const void *input;   // [batches, height, width, channels]
  const void *rois;    // [regions, 5]
  const void *offset;  // [regions, 2, rows, columns], x first; NULL for none
  void *output;        // [regions, rows, columns, channels]
};

struct DeformRoiPoolBackwardProblem {
  const char *function;
  DeformRoiPoolGeometry geometry;
  const void *gradient;  // [regions, rows, columns, channels]
  const void *input;     // [batches, height, width, channels]
  const void *rois;      // [regions, 5]
  const void *offset;    // [regions, 2, rows, columns]; NULL for none
  void *grad_input;      // like the input
  void *grad_offset;     // like the offset; NULL if that is
};

mluOpStatus_t launch_deform_roi_pool_forward(mluOpHandle_t handle, const DeformRoiPoolForwardProblem &problem);
mluOpStatus_t launch_deform_roi_pool_backward(mluOpHandle_t handle, const DeformRoiPoolBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORMED_REGIONS_DEFORMED_REGIONS_H_
