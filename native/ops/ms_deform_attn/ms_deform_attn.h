// MsDeformAttn: for each query and head the weighted sum of bilinear samples from several feature
// maps.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_MS_DEFORM_ATTN_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_MS_DEFORM_ATTN_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Only keys, levels and points may be 0.
struct MsDeformAttnGeometry {
  std::int64_t batches;
  std::int64_t keys;  // pixels of all levels
  std::int64_t heads;
  std::int64_t channels;
  std::int64_t queries;
  std::int64_t levels;
  std::int64_t points;     // samples for each query, head and level
  bool is_double = false;  // the pointers of the problems are to double
  bool nothing_sampled;    // results are 0, and no input is read
};

// Level l is a map of height shapes[l, 0] and width shapes[l, 1], whose pixels are keys from
// starts[l] on, row by row. The names are those of the arguments in messages.
struct MsDeformAttnLevels {
  const std::int32_t *shapes;  // [levels, 2]
  const std::int32_t *starts;  // [levels]
  const char *shapes_name;
  const char *starts_name;
};

// A sample of a level lies at x = location[..., 0] * width - 0.5, y = location[..., 1] * height -
// 0.5. It counts if -1 < x < width and -1 < y < height; pixels outside the map are 0.
//
// output[b, q, m, c] = sum over levels, then points, of weights[b, q, m, l, p] * sample.
struct MsDeformAttnForwardProblem {
  const char *function;  // of the entry point, for messages
  MsDeformAttnGeometry geometry;
  MsDeformAttnLevels levels;
  const float *value;      // [batches, keys, heads, channels]
  const float *locations;  // [batches, queries, heads, levels, points, 2]
  const float *weights;    // [batches, queries, heads, levels, points]
  float *output;           // [batches, queries, heads, channels]
};

struct MsDeformAttnBackwardProblem {
  const char *function;  // of the entry point, for messages
  MsDeformAttnGeometry geometry;
  MsDeformAttnLevels levels;
  const float *value;
  const float *locations;
  const float *weights;
  const float *grad_output;
  float *grad_value;
  float *grad_locations;
  float *grad_weights;
};

mluOpStatus_t launch_ms_deform_attn_forward(mluOpHandle_t handle, const MsDeformAttnForwardProblem &problem);
mluOpStatus_t launch_ms_deform_attn_backward(mluOpHandle_t handle, const MsDeformAttnBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_MS_DEFORM_ATTN_H_
