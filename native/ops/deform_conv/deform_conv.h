// Deformable convolution, modulated by a mask if there is one, and its gradients.
#ifndef MLUOPS_OPS_DEFORM_CONV_DEFORM_CONV_H_
#define MLUOPS_OPS_DEFORM_CONV_DEFORM_CONV_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Along height and width, in this order.
struct DeformConvGeometry {
  std::int64_t batches;
  std::int64_t size[2];
  std::int64_t channels;
  std::int64_t out_size[2];
  std::int64_t out_channels;
  std::int64_t kernel[2];
  std::int64_t stride[2];
  std::int64_t pad[2];  // before the first pixel
  std::int64_t dilation[2];
  std::int64_t conv_groups;
  std::int64_t deformable_groups;
  mluOpDataType_t dtype;

  std::int64_t positions() const { return batches * out_size[0] * out_size[1]; }
  std::int64_t cells() const { return kernel[0] * kernel[1]; }
  std::int64_t group_channels() const { return channels / conv_groups; }
  std::int64_t group_outputs() const { return out_channels / conv_groups; }
};

// Channels come last. mask, bias, grad_mask and grad_bias may be NULL.
struct DeformConvProblem {
  const char *function;  // of the entry point, for messages
  DeformConvGeometry geometry;
  const void *input;
  const void *offset;
  const void *mask;
};

struct DeformConvForwardProblem : DeformConvProblem {
  const void *filter;
  const void *bias;
  void *output;
};

struct DeformConvWeightProblem : DeformConvProblem {
  const void *grad_output;
  void *grad_filter;
  void *grad_bias;
};

struct DeformConvDataProblem : DeformConvProblem {
  const void *filter;
  const void *grad_output;
  void *grad_input;
  void *grad_offset;
  void *grad_mask;
  const DeformConvWeightProblem *weight = nullptr;  // what the same call computes besides
};

mluOpStatus_t launch_deform_conv_forward(mluOpHandle_t handle, const DeformConvForwardProblem &problem);
mluOpStatus_t launch_deform_conv_backward_data(mluOpHandle_t handle, const DeformConvDataProblem &problem);
mluOpStatus_t launch_deform_conv_backward_weight(mluOpHandle_t handle, const DeformConvWeightProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_DEFORM_CONV_H_
