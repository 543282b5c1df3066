// IndiceConvolution: products of sparse rows with the cells of a filter, by the pairs of rows that
// GetIndicePairs finds.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_INDICE_CONVOLUTION_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_INDICE_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Types of all tensors but the pairs. Halves are computed as floats and rounded once.
enum class RealType {
  kFloat,
  kHalf,
  kDouble
};

// Pair l of cell k is pairs[k, 0, l] and pairs[k, 1, l], for l < counts[k].
struct Rulebook {
  const std::int32_t *pairs;   // [cells, 2, length]
  const std::int64_t *counts;  // [cells], each 0 .. length; does not change during the call
  std::int64_t cells;
  std::int64_t length;
};

// The first pair, by cell and then by number, with a row that does not exist.
struct PairFault {
  std::int64_t cell = -1;  // -1: there is none
  int side = 0;            // 0: pairs[k, 0, l] is wrong, 1: pairs[k, 1, l]
  std::int64_t number = 0;
  std::int32_t row = 0;
};

// For each cell, ascending, and each of its pairs, ascending:
//   target[row of the target side] += source[row of the source side] @ filters[cell]
// The target is zeros first. Each value is one chain of multiply-adds over cells, pairs and source
// channels.
struct IndiceProductProblem {
  const char *function;
  RealType type;
  Rulebook rulebook;
  int source_side;
  const void *source;  // [source_rows, source_channels]
  std::int64_t source_rows;
  std::int64_t source_channels;
  const void *filters;
  std::int64_t cell_stride;  // of the filters, in elements
  std::int64_t source_channel_stride;
  std::int64_t target_channel_stride;
  void *target;  // [target_rows, target_channels]
  std::int64_t target_rows;
  std::int64_t target_channels;
  void *workspace;
  PairFault *fault;  // result; with a fault, nothing was written
};

// grad[cell, i, o] = sum over the pairs of the cell of features[row, i] * output_grad[other row, o]
struct FilterGradientProblem {
  const char *function;
  RealType type;
  Rulebook rulebook;
  int feature_side;
  const void *features;  // [feature_rows, feature_channels]
  std::int64_t feature_rows;
  std::int64_t feature_channels;
  const void *output_grad;  // [output_rows, output_channels]
  std::int64_t output_rows;
  std::int64_t output_channels;
  void *grad;  // [cells, feature_channels, output_channels]
  void *workspace;
  PairFault *fault;
};

mluOpStatus_t launch_indice_product(mluOpHandle_t handle, const IndiceProductProblem &problem);
mluOpStatus_t launch_filter_gradient(mluOpHandle_t handle, const FilterGradientProblem &problem);

// Bytes of workspace. Depends only on sizes and counts.
std::size_t workspace_indice_product(const IndiceProductProblem &problem);
std::size_t workspace_filter_gradient(const FilterGradientProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_INDICE_CONVOLUTION_H_
