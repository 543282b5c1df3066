// Masked convolution: windows around some cells of a map as columns, and columns written to cells.
#ifndef MLUOPS_OPS_MASKED_CONV_MASKED_CONV_H_
#define MLUOPS_OPS_MASKED_CONV_MASKED_CONV_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// The cells are (mask_h[k], mask_w[k]), any integers. Every extent but `cells` is at least 1.
struct MaskedMap {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t cells;
  std::int64_t value_bytes;  // of all values of maps and columns: 2, 4 or 8
  const std::int32_t *mask_h;
  const std::int32_t *mask_w;
};

// data_col[(c * kernel_h + i) * kernel_w + j, k] = feature[c, mask_h[k] - pad_h + i,
// mask_w[k] - pad_w + j], and 0 beside the map.
struct MaskedIm2colProblem {
  const char *function;  // of the entry point, for messages
  MaskedMap map;
  std::int64_t kernel_h;
  std::int64_t kernel_w;
  std::int64_t pad_h;
  std::int64_t pad_w;
  const void *feature;  // [channels, height, width]
  void *data_col;       // [channels * kernel_h * kernel_w, cells]
};

// im[c, mask_h[k], mask_w[k]] = col[c, k], of several columns the last one, and 0 elsewhere. Cells
// beside the map are left out.
struct MaskedCol2imProblem {
  const char *function;
  MaskedMap map;
  const void *col;  // [channels, cells]
  void *im;         // [channels, height, width]
};

mluOpStatus_t launch_masked_im2col(mluOpHandle_t handle, const MaskedIm2colProblem &problem);
mluOpStatus_t launch_masked_col2im(mluOpHandle_t handle, const MaskedCol2imProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_MASKED_CONV_MASKED_CONV_H_
