// BorderAlign: max pooling over bilinear samples along the four borders of each box.
#ifndef MLUOPS_OPS_BORDER_ALIGN_BORDER_ALIGN_H_
#define MLUOPS_OPS_BORDER_ALIGN_BORDER_ALIGN_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kBorders = 4;  // top, left, bottom, right

// T is the type of everything but argmax: float or half (held as 16 bits).
struct BorderAlignGeometry {
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t boxes;
  std::int64_t channels;  // of one border; the feature map has kBorders times as many
  std::int32_t pool_size;
  bool half;
  bool is_double = false;  // everything but argmax, instead of float or half
};

struct BorderAlignForwardProblem {
  const char *function;  // of the entry point, for messages
  BorderAlignGeometry geometry;
  const void *input;     // [batches, height, width, kBorders * channels]
  const void *box;       // [batches, boxes, 4]: x1, y1, x2, y2
  void *output;          // [batches, boxes, kBorders, channels]
  std::int32_t *argmax;  // like output
};

struct BorderAlignBackwardProblem {
  const char *function;  // of the entry point, for messages
  BorderAlignGeometry geometry;
  const void *grad_output;
  const void *box;
  const std::int32_t *argmax;
  void *grad_input;
};

mluOpStatus_t launch_border_align_forward(mluOpHandle_t handle, const BorderAlignForwardProblem &problem);
mluOpStatus_t launch_border_align_backward(mluOpHandle_t handle, const BorderAlignBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_BORDER_ALIGN_H_
