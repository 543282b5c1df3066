// mluOpIndiceConvolutionBackwardData.
#include <algorithm>

#include "core/exception_guard.h"
#include "ops/indice_convolution/checks.h"

namespace mluops {
namespace {

struct DataTensors {
  TensorArgument output_grad;
  TensorArgument filters;
  TensorArgument pairs;
  TensorArgument input_grad;
};

struct DataSettings {
  const std::int64_t *indice_num;
  std::int64_t inverse;
  std::int64_t sub_m;
};

mluOpStatus_t need_filter_layout(const char *function, const TensorArgument &filters) {
  for (const mluOpTensorLayout_t layout : {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW, MLUOP_LAYOUT_HWCN, MLUOP_LAYOUT_NDHWC,
                                           MLUOP_LAYOUT_NCDHW, MLUOP_LAYOUT_ARRAY}) {
    if (filters.desc->layout == layout) return MLUOP_STATUS_SUCCESS;
  }
  return refuse(MLUOP_STATUS_BAD_PARAM, function, "filters_desc", "layout NHWC, NCHW, HWCN, NDHWC, NCDHW or ARRAY",
                "another one");
}

mluOpStatus_t check_types(const char *function, const DataTensors &t) {
  MLUOPS_TRY(need_rank(function, t.output_grad, 2, "[Y, Co]"));
  const int rank = t.filters.desc->rank;
  MLUOPS_REQUIRE(rank == 4 || rank == 5, MLUOP_STATUS_BAD_PARAM, function, "filters_desc", "4 or 5 dims",
                 describe(t.filters.desc));
  MLUOPS_TRY(need_rank(function, t.pairs, 3, "[K, 2, L]"));
  MLUOPS_TRY(need_rank(function, t.input_grad, 2, "[L, Ci]"));
  MLUOPS_TRY(need_dim(function, t.pairs, 1, "input and output row", 2));
  for (const TensorArgument &tensor : {t.output_grad, t.filters, t.input_grad})
    MLUOPS_TRY(need_float_or_half({function}, tensor));
  MLUOPS_TRY(need_dtype(function, t.pairs, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_filter_layout(function, t.filters));
  return need_packed(function, {t.output_grad, t.filters, t.pairs, t.input_grad});
}

mluOpStatus_t check_sub_manifold(const char *function, const DataTensors &t, const Array<std::int64_t> &counts,
                                 std::int64_t most) {
  MLUOPS_TRY(need_same_dim(function, t.input_grad, 0, t.output_grad, 0));
  const std::int64_t centre = counts.size() == 0 ? 0 : counts[counts.size() / 2];
  MLUOPS_REQUIRE(
      centre == most, MLUOP_STATUS_BAD_PARAM, function, "indice_num",
      "the most pairs for the cell in the middle, because sub_m is 1",
      Text::format("%lld there and %lld elsewhere", static_cast<long long>(centre), static_cast<long long>(most)));
  return MLUOP_STATUS_SUCCESS;
}

// All checks of descriptors and numbers, in the documented order; `counts` is a copy of indice_num.
mluOpStatus_t check(const char *function, mluOpHandle_t handle, const DataTensors &t, const DataSettings &settings,
                    Array<std::int64_t> *counts) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.output_grad, t.filters, t.pairs, t.input_grad}));
  MLUOPS_TRY(check_types(function, t));
  MLUOPS_TRY(need_flag(function, "inverse", settings.inverse));
  MLUOPS_TRY(need_flag(function, "sub_m", settings.sub_m));
  MLUOPS_TRY(need_pointer(function, "indice_num", settings.indice_num));
  const FilterShape shape = filter_shape(*t.filters.desc, t.filters.desc->layout);
  MLUOPS_REQUIRE(settings.inverse == 0, MLUOP_STATUS_NOT_SUPPORTED, function, "inverse", "0", "1");
  MLUOPS_TRY(need_cells(function, t.pairs, shape));
  MLUOPS_TRY(need_channels(function, t.output_grad, "Co of the filters", shape.out_channels));
  MLUOPS_TRY(need_channels(function, t.input_grad, "Ci of the filters", shape.in_channels));
  MLUOPS_TRY(need_same_dim(function, t.input_grad, 0, t.pairs, 2));
  MLUOPS_TRY(copy_counts(function, settings.indice_num, shape.cells, counts));
  MLUOPS_TRY(need_counts(function, *counts, t.pairs.desc->dims[2]));
  const std::int64_t most = counts->size() == 0 ? 0 : *std::max_element(counts->begin(), counts->end());
  if (settings.sub_m == 1) MLUOPS_TRY(check_sub_manifold(function, t, *counts, most));
  MLUOPS_REQUIRE(t.output_grad.desc->dims[0] >= most, MLUOP_STATUS_BAD_PARAM, function, "output_grad_desc",
                 Text::format("at least %lld rows, the most pairs of a cell", static_cast<long long>(most)),
                 describe(t.output_grad.desc));
  MLUOPS_REQUIRE(settings.sub_m == 0 || shape.cells % 2 == 1, MLUOP_STATUS_BAD_PARAM, function, "filters_desc",
                 "an odd number of cells, because sub_m is 1", describe(t.filters.desc));
  MLUOPS_TRY(need_same_dtype(function, t.filters, t.output_grad));
  MLUOPS_TRY(need_same_dtype(function, t.input_grad, t.output_grad));
  return need_indexable(function, {t.input_grad, t.output_grad, t.filters, t.pairs});
}

ProductArguments product_of(const DataTensors &t) {
  return ProductArguments{
      t.output_grad, t.filters, t.pairs, t.input_grad, 1, filter_shape(*t.filters.desc, t.filters.desc->layout), true};
}

mluOpStatus_t backward(const char *function, mluOpHandle_t handle, const DataTensors &t, const DataSettings &settings,
                       void *workspace, std::size_t workspace_size) {
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, settings, &counts));
  if (any_empty({t.output_grad, t.filters, t.pairs, t.input_grad})) return MLUOP_STATUS_SUCCESS;
  return run_product(function, handle, product_of(t), counts, workspace, workspace_size);
}

mluOpStatus_t backward_size(const char *function, mluOpHandle_t handle, const DataTensors &t,
                            const DataSettings &settings, std::size_t *size) {
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, settings, &counts));
  if (any_empty({t.output_grad, t.filters, t.pairs, t.input_grad})) return MLUOP_STATUS_SUCCESS;
  *size = product_workspace(product_of(t), counts);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetIndiceConvolutionBackwardDataWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::backward_size(kFunction, handle,
                                 {{"output_grad", output_grad_desc, nullptr},
                                  {"filters", filters_desc, nullptr},
                                  {"indice_pairs", indice_pairs_desc, nullptr},
                                  {"input_grad", input_grad_desc, nullptr}},
                                 {indice_num, inverse, 0}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t input_grad_desc, void *input_grad) {
  constexpr const char *kFunction = "mluOpIndiceConvolutionBackwardData";
  return mluops::guarded(kFunction, [&] {
    return mluops::backward(kFunction, handle,
                            {{"output_grad", output_grad_desc, output_grad},
                             {"filters", filters_desc, filters},
                             {"indice_pairs", indice_pairs_desc, indice_pairs},
                             {"input_grad", input_grad_desc, input_grad}},
                            {indice_num, inverse, sub_m}, workspace, workspace_size);
  });
}
