#include "ops/indice_convolution/checks.h"

#include <algorithm>

namespace mluops {
namespace {

long long wide(std::int64_t value) { return static_cast<long long>(value); }

IndiceProductProblem product_problem(const ProductArguments &a, const Array<std::int64_t> &counts) {
  IndiceProductProblem problem;
  problem.type = real_type(a.source.desc->dtype);
  problem.rulebook = rulebook_of(a.pairs, counts);
  problem.source_side = a.source_side;
  problem.source = a.source.data;
  problem.source_rows = a.source.desc->dims[0];
  problem.source_channels = a.source.desc->dims[1];
  problem.filters = a.filters.data;
  problem.cell_stride = a.shape.cell_stride;
  problem.source_channel_stride = a.transposed ? a.shape.out_stride : a.shape.in_stride;
  problem.target_channel_stride = a.transposed ? a.shape.in_stride : a.shape.out_stride;
  problem.target = const_cast<void *>(a.target.data);
  problem.target_rows = a.target.desc->dims[0];
  problem.target_channels = a.target.desc->dims[1];
  problem.workspace = nullptr;
  problem.fault = nullptr;
  return problem;
}

FilterGradientProblem gradient_problem(const GradientArguments &a, const Array<std::int64_t> &counts) {
  FilterGradientProblem problem;
  problem.type = real_type(a.features.desc->dtype);
  problem.rulebook = rulebook_of(a.pairs, counts);
  problem.feature_side = a.feature_side;
  problem.features = a.features.data;
  problem.feature_rows = a.features.desc->dims[0];
  problem.feature_channels = a.features.desc->dims[1];
  problem.output_grad = a.output_grad.data;
  problem.output_rows = a.output_grad.desc->dims[0];
  problem.output_channels = a.output_grad.desc->dims[1];
  problem.grad = const_cast<void *>(a.grad.data);
  problem.workspace = nullptr;
  problem.fault = nullptr;
  return problem;
}

}  // namespace

FilterShape filter_shape(const mluOpTensorStruct &desc, mluOpTensorLayout_t layout) {
  const bool out_first = layout != MLUOP_LAYOUT_ARRAY && layout != MLUOP_LAYOUT_HWCN;
  const bool in_last = layout == MLUOP_LAYOUT_NHWC || layout == MLUOP_LAYOUT_NDHWC;
  const int last = desc.rank - 1;
  const int in_axis = !out_first ? last - 1 : in_last ? last : 1;
  const int out_axis = out_first ? 0 : last;
  FilterShape shape = {1, desc.dims[in_axis], desc.dims[out_axis], 1, 1, 1};
  for (int axis = 0; axis < desc.rank; ++axis) {
    if (axis != in_axis && axis != out_axis) shape.cells *= desc.dims[axis];
  }
  if (!out_first) {  // [cells, in, out]
    shape.in_stride = shape.out_channels;
    shape.cell_stride = shape.in_channels * shape.out_channels;
  } else {
    shape.out_stride = shape.in_channels * shape.cells;
    (in_last ? shape.cell_stride : shape.in_stride) = in_last ? shape.in_channels : shape.cells;
  }
  return shape;
}

mluOpStatus_t need_flag(const char *function, const char *argument, std::int64_t value) {
  MLUOPS_REQUIRE(value == 0 || value == 1, MLUOP_STATUS_BAD_PARAM, function, argument, "0 or 1",
                 Text::format("%lld", wide(value)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_real(const char *function, const TensorArgument &tensor, bool doubles) {
  if (doubles && tensor.desc->dtype == MLUOP_DTYPE_DOUBLE) return MLUOP_STATUS_SUCCESS;
  return need_float_or_half({function}, tensor);
}

mluOpStatus_t need_cells(const char *function, const TensorArgument &pairs, const FilterShape &filter) {
  return need_dim(function, pairs, 0, "K = cells of the filter", filter.cells);
}

mluOpStatus_t need_channels(const char *function, const TensorArgument &tensor, const char *symbol,
                            std::int64_t channels) {
  return need_dim(function, tensor, 1, symbol, channels);
}

mluOpStatus_t copy_counts(const char *function, const std::int64_t *indice_num, std::int64_t cells,
                          Array<std::int64_t> *counts) {
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(indice_num) % alignof(std::int64_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 function, "indice_num", "an address aligned to int64",
                 Text::format("%p", static_cast<const void *>(indice_num)));
  return counts->copy(indice_num, static_cast<std::size_t>(cells)) ? MLUOP_STATUS_SUCCESS : out_of_memory(function);
}

mluOpStatus_t need_counts(const char *function, const Array<std::int64_t> &counts, std::int64_t most) {
  for (std::size_t k = 0; k < counts.size(); ++k) {
    MLUOPS_REQUIRE(0 <= counts[k] && counts[k] <= most, MLUOP_STATUS_BAD_PARAM, function, "indice_num",
                   Text::format("0 to %lld pairs for each cell", wide(most)),
                   Text::format("%lld for cell %lld", wide(counts[k]), wide(static_cast<std::int64_t>(k))));
  }
  return MLUOP_STATUS_SUCCESS;
}

bool any_empty(std::initializer_list<TensorArgument> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const TensorArgument &t) { return t.desc->count == 0; });
}

RealType real_type(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF    ? RealType::kHalf
         : dtype == MLUOP_DTYPE_FLOAT ? RealType::kFloat
                                      : RealType::kDouble;
}

Rulebook rulebook_of(const TensorArgument &pairs, const Array<std::int64_t> &counts) {
  return Rulebook{static_cast<const std::int32_t *>(pairs.data), counts.begin(), pairs.desc->dims[0],
                  pairs.desc->dims[2]};
}

mluOpStatus_t need_memory(const char *function, std::initializer_list<TensorArgument> inputs,
                          const TensorArgument &output, const void *workspace, std::size_t workspace_size,
                          std::size_t needed) {
  MLUOPS_TRY(need_data(function, inputs));
  MLUOPS_TRY(need_data(function, {output}));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(function, "workspace", workspace));
  MLUOPS_REQUIRE(workspace_size >= needed, MLUOP_STATUS_BAD_PARAM, function, "workspace_size",
                 Text::format("at least %zu bytes", needed), Text::format("%zu", workspace_size));
  MLUOPS_TRY(require_no_overlap(function, {output}, inputs));
  const std::int64_t used = static_cast<std::int64_t>(needed);
  for (const TensorArgument &tensor : inputs)
    MLUOPS_TRY(
        require_no_overlap(function, "workspace", workspace, used, tensor.name, tensor.data, tensor.desc->bytes()));
  return require_no_overlap(function, "workspace", workspace, used, output.name, output.data, output.desc->bytes());
}

mluOpStatus_t need_rows(const char *function, const TensorArgument &pairs, const PairFault &fault,
                        const std::int64_t (&rows)[2]) {
  MLUOPS_REQUIRE(
      fault.cell < 0, MLUOP_STATUS_BAD_PARAM, function, pairs.name,
      Text::format("%s rows from 0 to %lld", fault.side == 0 ? "input" : "output", wide(rows[fault.side]) - 1),
      Text::format("%d at [%lld, %d, %lld]", fault.row, wide(fault.cell), fault.side, wide(fault.number)));
  return MLUOP_STATUS_SUCCESS;
}

std::size_t product_workspace(const ProductArguments &arguments, const Array<std::int64_t> &counts) {
  return workspace_indice_product(product_problem(arguments, counts));
}

mluOpStatus_t run_product(const char *function, mluOpHandle_t handle, const ProductArguments &arguments,
                          const Array<std::int64_t> &counts, void *workspace, std::size_t workspace_size) {
  const ProductArguments &a = arguments;
  IndiceProductProblem problem = product_problem(a, counts);
  MLUOPS_TRY(need_memory(function, {a.source, a.filters, a.pairs}, a.target, workspace, workspace_size,
                         workspace_indice_product(problem)));
  PairFault fault;
  problem.function = function;
  problem.workspace = workspace;
  problem.fault = &fault;
  MLUOPS_TRY(launch_indice_product(handle, problem));
  std::int64_t rows[2];
  rows[a.source_side] = problem.source_rows;
  rows[1 - a.source_side] = problem.target_rows;
  return need_rows(function, a.pairs, fault, rows);
}

std::size_t gradient_workspace(const GradientArguments &arguments, const Array<std::int64_t> &counts) {
  return workspace_filter_gradient(gradient_problem(arguments, counts));
}

mluOpStatus_t run_gradient(const char *function, mluOpHandle_t handle, const GradientArguments &arguments,
                           const Array<std::int64_t> &counts, void *workspace, std::size_t workspace_size) {
  const GradientArguments &a = arguments;
  FilterGradientProblem problem = gradient_problem(a, counts);
  MLUOPS_TRY(need_memory(function, {a.features, a.output_grad, a.pairs}, a.grad, workspace, workspace_size,
                         workspace_filter_gradient(problem)));
  PairFault fault;
  problem.function = function;
  problem.workspace = workspace;
  problem.fault = &fault;
  MLUOPS_TRY(launch_filter_gradient(handle, problem));
  std::int64_t rows[2];
  rows[a.feature_side] = problem.feature_rows;
  rows[1 - a.feature_side] = problem.output_rows;
  return need_rows(function, a.pairs, fault, rows);
}

}  // namespace mluops
