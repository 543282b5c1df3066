// PriorBox: boxes of given sizes about the centre of each cell of a map, and their variances.
#ifndef MLUOPS_OPS_PRIOR_BOX_PRIOR_BOX_H_
#define MLUOPS_OPS_PRIOR_BOX_PRIOR_BOX_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// All arrays are of float, or of double.
struct PriorBoxProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;
  std::int64_t min_count;    // of min_sizes, and of max_sizes if there are some
  std::int64_t ratio_count;  // of aspect_ratios
  bool has_maxima;
  std::int64_t boxes;  // of each cell
  std::int64_t height;
  std::int64_t width;
  int im_height;
  int im_width;
  double step_h;
  double step_w;
  double offset;
  bool clip;
  bool squares_first;  // those of the smallest and largest size, then ratios other than 1
  const void *min_sizes;
  const void *aspect_ratios;
  const void *variances;  // [4]
  const void *max_sizes;
  void *output;  // [height, width, boxes, 4]
  void *var;     // like output
};

mluOpStatus_t launch_prior_box(mluOpHandle_t handle, const PriorBoxProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_PRIOR_BOX_PRIOR_BOX_H_
