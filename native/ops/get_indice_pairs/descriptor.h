// The sparse convolution descriptor.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_DESCRIPTOR_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_DESCRIPTOR_H_

#include "core/object.h"
#include "core/reason.h"
#include "mlu_op.h"

namespace mluops {

constexpr int kSpaceDims = 3;  // depth, height, width

// Parameters of a sparse convolution; all zero until the descriptor is set.
struct SparseGeometry {
  int batch;
  int pad[kSpaceDims];
  int stride[kSpaceDims];
  int dilation[kSpaceDims];
  int input_space[kSpaceDims];
  int filter_space[kSpaceDims];
  int output_space[kSpaceDims];
  int sub_m;  // nonzero: outputs exist only at the places of inputs
};

}  // namespace mluops

struct mluOpSparseConvolutionStruct {
  static constexpr std::uint32_t kMagic = 0x4d4c5543u;  // "MLUC"

  mluops::ObjectHeader header;
  mluops::SparseGeometry geometry = {};
  int num_act_out = 0;

  void release() {}
};

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_DESCRIPTOR_H_
