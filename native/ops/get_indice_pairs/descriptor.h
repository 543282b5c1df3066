// The sparse convolution descriptor.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_DESCRIPTOR_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_DESCRIPTOR_H_

#include "core/object.h"
#include "core/reason.h"
#include "mlu_op.h"

namespace mluops {

constexpr int kSpaceDims = 3;  // depth, height, width

// What a sparse convolution looks like. All zero in a descriptor that was never set.
struct SparseGeometry {
  int batch;
  int pad[kSpaceDims];
  int stride[kSpaceDims];
  int dilation[kSpaceDims];
  int input_space[kSpaceDims];
  int filter_space[kSpaceDims];
  int output_space[kSpaceDims];
  int sub_m;  // not 0: an output exists only where an input does
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
