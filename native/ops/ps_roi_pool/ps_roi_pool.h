// PsRoiPool: position-sensitive average pooling of regions of interest, and the gradient of the
// maps.
#ifndef MLUOPS_OPS_PS_ROI_POOL_PS_ROI_POOL_H_
#define MLUOPS_OPS_PS_ROI_POOL_PS_ROI_POOL_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Region r is the row (image, x1, y1, x2, y2) of `rois`, in pixels of the image, of which a map
// shows `spatial_scale`. It is cut into bins x bins parts of equal size, each of which has the
// pixels that it touches. Channel (d * bins + i) * bins + j belongs to bin (i, j) of output channel
// d. A region of no image has no pixels, nor has one that is not finite. Every extent is at least 1
// except the number of images, rows and columns.
struct PsRoiPoolGeometry {
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t regions;
  std::int64_t bins;
  std::int64_t depth;  // output channels
  double spatial_scale;
  bool is_double;  // type of all arrays but the mapping: float or double

  std::int64_t channels() const { return depth * bins * bins; }
};

// The mean of the pixels of each bin, added up row by row; 0 if there is none. The mapping names
// the channel of each value.
struct PsRoiPoolForwardProblem {
  const char *function;  // of the entry point, for messages
  PsRoiPoolGeometry geometry;
  const void *input;      // [batches, height, width, channels]
  const void *rois;       // [regions, 5]
  void *output;           // [regions, bins, bins, depth]
  std::int32_t *mapping;  // [regions, bins, bins, depth]
};

// Each gradient is shared evenly by the pixels of its bin, in the channel that the mapping names;
// one that is none of the map's gets nothing. Shares are added in the order of the gradients.
struct PsRoiPoolBackwardProblem {
  const char *function;
  PsRoiPoolGeometry geometry;
  const void *top_grad;         // [regions, bins, bins, depth]
  const void *rois;             // [regions, 5]
  const std::int32_t *mapping;  // [regions, bins, bins, depth]
  void *bottom_grad;            // [batches, height, width, channels]
};

mluOpStatus_t launch_ps_roi_pool_forward(mluOpHandle_t handle, const PsRoiPoolForwardProblem &problem);
mluOpStatus_t launch_ps_roi_pool_backward(mluOpHandle_t handle, const PsRoiPoolBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_PS_ROI_POOL_PS_ROI_POOL_H_
