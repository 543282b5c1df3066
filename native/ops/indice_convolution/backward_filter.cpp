// mluOpIndiceConvolutionBackwardFilter.
#include "core/exception_guard.h"
#include "ops/indice_convolution/checks.h"

namespace mluops {
namespace {

struct FilterTensors {
  TensorArgument features;
  TensorArgument output_grad;
  TensorArgument pairs;
  TensorArgument grad;
};

mluOpStatus_t check_onchip_types(const char *function, const FilterTensors &t) {
  for (const TensorArgument &tensor : {t.features, t.output_grad, t.pairs}) {
    const mluOpDataType_t onchip = tensor.desc->onchip_dtype;
    MLUOPS_REQUIRE(onchip == MLUOP_DTYPE_INVALID || onchip == tensor.desc->dtype, MLUOP_STATUS_BAD_PARAM, function,
                   tensor.name, "an on-chip type that is not set or equal to the type", name_of(onchip));
  }
  const mluOpDataType_t onchip = t.grad.desc->onchip_dtype;
  MLUOPS_REQUIRE(onchip == MLUOP_DTYPE_INVALID || onchip == MLUOP_DTYPE_FLOAT ||
                     (onchip == MLUOP_DTYPE_HALF && t.grad.desc->dtype == MLUOP_DTYPE_HALF),
                 MLUOP_STATUS_BAD_PARAM, function, t.grad.name,
                 "an on-chip type that is not set, float, or half as the type", name_of(onchip));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_shapes(const char *function, const FilterTensors &t) {
  MLUOPS_TRY(need_rank(function, t.features, 2, "[L, Ci]"));
  MLUOPS_TRY(need_rank(function, t.output_grad, 2, "[Y, Co]"));
  MLUOPS_TRY(need_rank(function, t.pairs, 3, "[K, 2, L]"));
  const int rank = t.grad.desc->rank;
  MLUOPS_REQUIRE(rank == 4 || rank == 5, MLUOP_STATUS_BAD_PARAM, function, "filters_grad_desc", "4 or 5 dims",
                 describe(t.grad.desc));
  const FilterShape shape = filter_shape(*t.grad.desc, MLUOP_LAYOUT_ARRAY);
  MLUOPS_TRY(need_channels(function, t.features, "Ci of filters_grad", shape.in_channels));
  MLUOPS_TRY(need_channels(function, t.output_grad, "Co of filters_grad", shape.out_channels));
  MLUOPS_TRY(need_same_dim(function, t.features, 0, t.pairs, 2));
  MLUOPS_TRY(need_dim(function, t.pairs, 1, "input and output row", 2));
  return need_cells(function, t.pairs, shape);
}

// All checks of descriptors and numbers, in the documented order; `counts` is a copy of indice_num.
mluOpStatus_t check(const char *function, mluOpHandle_t handle, const FilterTensors &t, const std::int64_t *indice_num,
                    std::int64_t inverse, Array<std::int64_t> *counts) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.features, t.output_grad, t.pairs, t.grad}));
  MLUOPS_TRY(need_pointer(function, "indice_num", indice_num));
  MLUOPS_REQUIRE(inverse == 0, MLUOP_STATUS_BAD_PARAM, function, "inverse", "0",
                 Text::format("%lld", static_cast<long long>(inverse)));
  MLUOPS_TRY(need_packed(function, {t.features, t.output_grad, t.pairs, t.grad}));
  MLUOPS_TRY(need_dtype(function, t.pairs, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_float_or_half({function}, t.features));
  MLUOPS_TRY(need_same_dtype(function, t.output_grad, t.features));
  MLUOPS_TRY(need_same_dtype(function, t.grad, t.features));
  MLUOPS_TRY(check_onchip_types(function, t));
  MLUOPS_TRY(need_indexable(function, {t.features, t.output_grad, t.pairs, t.grad}));
  MLUOPS_TRY(check_shapes(function, t));
  MLUOPS_TRY(copy_counts(function, indice_num, t.pairs.desc->dims[0], counts));
  return need_counts(function, *counts, t.pairs.desc->dims[2]);
}

GradientArguments gradient_of(const FilterTensors &t) {
  return GradientArguments{t.features, t.output_grad, t.pairs, t.grad, 0};
}

mluOpStatus_t backward(const char *function, mluOpHandle_t handle, const FilterTensors &t,
                       const std::int64_t *indice_num, std::int64_t inverse, void *workspace,
                       std::size_t workspace_size) {
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, indice_num, inverse, &counts));
  if (any_empty({t.features, t.output_grad, t.pairs, t.grad})) return MLUOP_STATUS_SUCCESS;
  return run_gradient(function, handle, gradient_of(t), counts, workspace, workspace_size);
}

mluOpStatus_t backward_size(const char *function, mluOpHandle_t handle, const FilterTensors &t,
                            const std::int64_t *indice_num, std::int64_t inverse, std::size_t *size) {
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, indice_num, inverse, &counts));
  if (any_empty({t.features, t.output_grad, t.pairs, t.grad})) return MLUOP_STATUS_SUCCESS;
  *size = gradient_workspace(gradient_of(t), counts);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, const int64_t /*sub_m*/, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::backward_size(kFunction, handle,
                                 {{"features", features_desc, nullptr},
                                  {"output_grad", output_grad_desc, nullptr},
                                  {"indice_pairs", indice_pairs_desc, nullptr},
                                  {"filters_grad", filters_grad_desc, nullptr}},
                                 indice_num, inverse, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void *indice_pairs, const int64_t indice_num[],
    const int64_t inverse, const int64_t /*sub_m*/, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t filters_grad_desc, void *filters_grad) {
  constexpr const char *kFunction = "mluOpIndiceConvolutionBackwardFilter";
  return mluops::guarded(kFunction, [&] {
    return mluops::backward(kFunction, handle,
                            {{"features", features_desc, features},
                             {"output_grad", output_grad_desc, output_grad},
                             {"indice_pairs", indice_pairs_desc, indice_pairs},
                             {"filters_grad", filters_grad_desc, filters_grad}},
                            indice_num, inverse, workspace, workspace_size);
  });
}
