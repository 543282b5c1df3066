// Checks that the entry points of deformable convolutions share.
#ifndef MLUOPS_OPS_DEFORM_CONV_CHECKS_H_
#define MLUOPS_OPS_DEFORM_CONV_CHECKS_H_

#include "core/check.h"
#include "ops/deform_conv/deform_conv.h"

namespace mluops {

// The tensors whose dims say all sizes, under the names that they have in a call. `filter` and
// `output` may be gradients.
struct DeformConvTensors {
  TensorArgument filter;
  TensorArgument input;
  TensorArgument offset;
  TensorArgument mask;  // its descriptor is NULL if there is none
  TensorArgument output;
};

struct DeformConvNumbers {
  int stride[2];
  int pad[2];
  int dilation[2];
  int conv_group;
  int deformable_group;
};

mluOpStatus_t check_deform_conv_ranks(const Entry &entry, const DeformConvTensors &tensors);
mluOpStatus_t check_deform_conv_shapes(const Entry &entry, const DeformConvTensors &tensors,
                                       const DeformConvNumbers &numbers);
DeformConvGeometry deform_conv_geometry(const DeformConvTensors &tensors, const DeformConvNumbers &numbers);

}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CHECKS_H_
