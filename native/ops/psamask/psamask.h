// Psamask: the attention mask that every position predicts around itself, spread over the whole
// feature map.
#ifndef MLUOPS_OPS_PSAMASK_PSAMASK_H_
#define MLUOPS_OPS_PSAMASK_PSAMASK_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

enum class PsaType : int {
  kCollect = 0,
  kDistribute = 1
};

// Mask cell (i, j) of position (h, w) stands for the target (h', w') = (h + i - center_h, w + j -
// center_w) and exists if that lies on the map. `mask` is [batches, height, width, mask_h *
// mask_w]; `map` is [batches, height, width, height * width]:
//   collect     map[n, h,  w,  h' * width + w'] <-> mask[n, h, w, i * mask_w + j]
//   distribute  map[n, h', w', h  * width + w ] <-> mask[n, h, w, i * mask_w + j]
// Forward fills the map from the mask, backward the mask from the map; everything without a partner
// is 0.
struct PsamaskGeometry {
  PsaType type;
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t mask_h;
  std::int64_t mask_w;
  bool is_double = false;  // the pointers below are to double
  std::int64_t center_h() const { return (mask_h - 1) / 2; }
  std::int64_t center_w() const { return (mask_w - 1) / 2; }
};

struct PsamaskForwardProblem {
  const char *function;  // of the entry point, for messages
  PsamaskGeometry geometry;
  const float *mask;
  float *map;
};

struct PsamaskBackwardProblem {
  const char *function;  // of the entry point, for messages
  PsamaskGeometry geometry;
  const float *map;
  float *mask;
};

mluOpStatus_t launch_psamask_forward(mluOpHandle_t handle, const PsamaskForwardProblem &problem);
mluOpStatus_t launch_psamask_backward(mluOpHandle_t handle, const PsamaskBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_PSAMASK_H_
