// Indice pairs of convolutions that GetIndicePairs of the ABI does not cover: 1 to 4 axes, also
// transposed and dilated.
#ifndef MLUOPS_OPS_GENERAL_INDICE_PAIRS_GENERAL_INDICE_PAIRS_H_
#define MLUOPS_OPS_GENERAL_INDICE_PAIRS_GENERAL_INDICE_PAIRS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kMostAxes = 4;

// Numbers of axes below `axes` are valid; batches and places of the output space are fewer than
// 2^62.
struct GeneralGeometry {
  int axes;
  std::int64_t batch;
  std::int64_t input[kMostAxes];
  std::int64_t filter[kMostAxes];
  std::int64_t output[kMostAxes];
  std::int64_t stride[kMostAxes];
  std::int64_t pad[kMostAxes];
  std::int64_t dilation[kMostAxes];
  bool sub_m;
  bool transpose;
};

struct GeneralPairsOutcome {
  std::int64_t bad_row = -1;  // the first row outside of batch or space; nothing was written then
  std::int64_t rows_out = 0;
  bool fits = true;  // if not, nothing was written
};

// Cell k sends place i to o = (i + pad - k*dilation) / stride if that is a whole number, or in a
// transposed convolution to o = i*stride - pad + k*dilation, if o lies within the output space. The
// places reached become output rows in ascending order. In sub-manifold mode the output rows are
// the input rows; of several rows at a place the first counts.
struct GeneralPairsProblem {
  GeneralGeometry geometry;
  const std::int32_t *indices;  // [rows, 1 + axes]: batch, place
  std::int64_t rows;
  std::int64_t cells;
  std::int32_t *pairs;        // [cells, 2, rows], -1 after the last pair
  std::int32_t *out_indices;  // [out_rows, 1 + axes]
  std::int64_t out_rows;
  std::int32_t *counts;  // [cells]
  GeneralPairsOutcome *outcome;
};

mluOpStatus_t launch_general_indice_pairs(mluOpHandle_t handle, const GeneralPairsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_GENERAL_INDICE_PAIRS_GENERAL_INDICE_PAIRS_H_
