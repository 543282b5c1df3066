// Regions of text that grow from their kernels: by masks (PSENet, arXiv:1903.12473) and by the
// distance of embeddings (PAN, arXiv:1908.05900).
#ifndef MLUOPS_OPS_TEXT_REGIONS_TEXT_REGIONS_H_
#define MLUOPS_OPS_TEXT_REGIONS_TEXT_REGIONS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Kernels of at least `least_area` pixels keep their labels and grow inside the first mask, one
// pixel after another in the order in which they were reached, if there are several masks. A label
// that is none of 1 .. labels - 1 is background.
struct ContourExpandProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t least_area;
  std::int64_t labels;
  std::int64_t masks;
  std::int64_t height;
  std::int64_t width;
  const unsigned char *mask;  // [masks, height, width]
  const std::int32_t *label;  // [height, width]
  std::int32_t *output;       // [height, width]
};

// Labels grow from the contours of their kernels to pixels of the mask whose embedding is nearer to
// the mean of the kernel's than a distance.
struct PixelGroupProblem {
  const char *function;
  double distance;
  std::int64_t labels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  bool is_double;                // type of score, embedding and means: float or double
  const void *score;             // [height, width]
  const unsigned char *mask;     // [height, width]
  const void *embedding;         // [height, width, channels]
  const std::int32_t *label;     // [height, width]
  const unsigned char *contour;  // [height, width]
  std::int32_t *output;          // [height, width]
  void *means;                   // [labels]: of the scores of the pixels with a label
  std::int32_t *counts;          // [labels]
};

mluOpStatus_t launch_contour_expand(mluOpHandle_t handle, const ContourExpandProblem &problem);
mluOpStatus_t launch_pixel_group(mluOpHandle_t handle, const PixelGroupProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_TEXT_REGIONS_TEXT_REGIONS_H_
