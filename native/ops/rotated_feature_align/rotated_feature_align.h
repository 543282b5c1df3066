// RotatedFeatureAlign: adds samples at the places of a turned box to each pixel of a map, and the
// gradient of the map.
#ifndef MLUOPS_OPS_ROTATED_FEATURE_ALIGN_ROTATED_FEATURE_ALIGN_H_
#define MLUOPS_OPS_ROTATED_FEATURE_ALIGN_ROTATED_FEATURE_ALIGN_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// The places of a box: its centre, and with five of them its corners after that.
constexpr int kMostPlaces = 5;

// Each pixel has a box (y, x, width, height, angle) in pixels of the image, of which the map shows
// `spatial_scale`. Every extent is at least 1.
struct RotatedFeatureAlignGeometry {
  mluOpDataType_t type;  // of all arrays: half, float or double
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t places;  // 1 or kMostPlaces
  double spatial_scale;
  std::int64_t pixels() const { return batches * height * width; }
};

struct RotatedFeatureAlignProblem {
  const char *function;  // of the entry point, for messages
  RotatedFeatureAlignGeometry geometry;
  const void *source;  // [batches, height, width, channels]: the map, backward: the gradient of the result
  const void *boxes;   // [batches, height, width, 5]
  void *result;        // [batches, height, width, channels]
};

mluOpStatus_t launch_rotated_feature_align_forward(mluOpHandle_t handle, const RotatedFeatureAlignProblem &problem);
mluOpStatus_t launch_rotated_feature_align_backward(mluOpHandle_t handle, const RotatedFeatureAlignProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_ROTATED_FEATURE_ALIGN_ROTATED_FEATURE_ALIGN_H_
