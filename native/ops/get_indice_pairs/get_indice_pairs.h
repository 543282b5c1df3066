// GetIndicePairs: the kernel map of a sparse 3-D convolution, that is the pairs of input and output
// rows of each filter cell.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_GET_INDICE_PAIRS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_GET_INDICE_PAIRS_H_

#include <cstddef>
#include <cstdint>

#include "ops/get_indice_pairs/descriptor.h"

namespace mluops {

// Result of a launch.
struct GetIndicePairsOutcome {
  std::int64_t bad_row = -1;       // first row with a coordinate outside batch or space, or -1
  std::int32_t bad_place[4] = {};  // its coordinates, since the host may be unable to read the rows
  std::int64_t rows_out = 0;       // number of output rows, also if out_indices is too small
  bool fits = true;                // whether out_indices is large enough
};

// Along each axis, filter cell k sends input i to output (i + pad - k * dilation) / stride where
// that is a whole number in [0, output_space). Outputs are numbered in ascending order of (batch,
// depth, height, width); in sub-manifold mode they are the input rows themselves, of rows with the
// same place the first.
struct GetIndicePairsProblem {
  SparseGeometry geometry;
  const std::int32_t *indices;  // [rows, 4]: batch, depth, height, width
  std::int64_t rows;
  std::int64_t volume;  // filter cells
  void *workspace;
  std::int32_t *pairs;        // [volume, 2, rows]
  std::int32_t *out_indices;  // [out_rows, 4]
  std::int64_t out_rows;
  std::int32_t *counts;  // [volume]
  GetIndicePairsOutcome *outcome;
};

// Bytes of workspace that the target needs; depends only on geometry and number of rows.
std::size_t workspace_get_indice_pairs(const SparseGeometry &geometry, std::int64_t rows);

// Writes only the outcome if a row is bad or out_indices is too small.
mluOpStatus_t launch_get_indice_pairs(mluOpHandle_t handle, const GetIndicePairsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_GET_INDICE_PAIRS_H_
