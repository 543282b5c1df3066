// The common checks of all directions.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CHECKS_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CHECKS_H_

#include "core/array.h"
#include "core/check.h"
#include "ops/indice_convolution/indice_convolution.h"

namespace mluops {

// Filters of any layout: sizes, and distances in elements.
struct FilterShape {
  std::int64_t cells;
  std::int64_t in_channels;
  std::int64_t out_channels;
  std::int64_t cell_stride;
  std::int64_t in_stride;
  std::int64_t out_stride;
};

FilterShape filter_shape(const mluOpTensorStruct &desc, mluOpTensorLayout_t layout);

// Number `value` is 0 or 1.
mluOpStatus_t need_flag(const char *function, const char *argument, std::int64_t value);

// Half, float and, if `doubles`, double.
mluOpStatus_t need_real(const char *function, const TensorArgument &tensor, bool doubles);

mluOpStatus_t need_cells(const char *function, const TensorArgument &pairs, const FilterShape &filter);
mluOpStatus_t need_channels(const char *function, const TensorArgument &tensor, const char *symbol,
                            std::int64_t channels);

// Copies the numbers of pairs, which the caller may change during the call.
mluOpStatus_t copy_counts(const char *function, const std::int64_t *indice_num, std::int64_t cells,
                          Array<std::int64_t> *counts);

// Each number of pairs is at most `most`.
mluOpStatus_t need_counts(const char *function, const Array<std::int64_t> &counts, std::int64_t most);

bool any_empty(std::initializer_list<TensorArgument> tensors);

RealType real_type(mluOpDataType_t dtype);
Rulebook rulebook_of(const TensorArgument &pairs, const Array<std::int64_t> &counts);

// Data, sizes and overlaps of the tensors and the workspace.
mluOpStatus_t need_memory(const char *function, std::initializer_list<TensorArgument> inputs,
                          const TensorArgument &output, const void *workspace, std::size_t workspace_size,
                          std::size_t needed);

// Refuses a call with a wrong pair. `rows` of sides 0 and 1.
mluOpStatus_t need_rows(const char *function, const TensorArgument &pairs, const PairFault &fault,
                        const std::int64_t (&rows)[2]);

// Rows multiplied by filters, as forward and backward data do; all checks but those of memory and
// pairs are done.
struct ProductArguments {
  TensorArgument source;
  TensorArgument filters;
  TensorArgument pairs;
  TensorArgument target;
  int source_side;
  FilterShape shape;
  bool transposed;  // the source has the filters' output channels
};

std::size_t product_workspace(const ProductArguments &arguments, const Array<std::int64_t> &counts);
mluOpStatus_t run_product(const char *function, mluOpHandle_t handle, const ProductArguments &arguments,
                          const Array<std::int64_t> &counts, void *workspace, std::size_t workspace_size);

// The gradient of the filters likewise.
struct GradientArguments {
  TensorArgument features;
  TensorArgument output_grad;
  TensorArgument pairs;
  TensorArgument grad;
  int feature_side;
};

std::size_t gradient_workspace(const GradientArguments &arguments, const Array<std::int64_t> &counts);
mluOpStatus_t run_gradient(const char *function, mluOpHandle_t handle, const GradientArguments &arguments,
                           const Array<std::int64_t> &counts, void *workspace, std::size_t workspace_size);

}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CHECKS_H_
