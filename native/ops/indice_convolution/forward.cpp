// mluOpIndiceConvolutionForward.
#include "core/exception_guard.h"
#include "ops/indice_convolution/checks.h"

namespace mluops {
namespace {

struct ForwardTensors {
  TensorArgument features;
  TensorArgument filters;
  TensorArgument pairs;
  TensorArgument out;
};

struct ForwardSettings {
  const std::int64_t *indice_num;
  std::int64_t num_act_out;
  std::int64_t inverse;
  std::int64_t sub_m;
};

// All checks of descriptors and numbers, in the documented order; `counts` is a copy of indice_num.
mluOpStatus_t check(const char *function, mluOpHandle_t handle, const ForwardTensors &t,
                    const ForwardSettings &settings, Array<std::int64_t> *counts) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.features, t.filters, t.pairs}));
  MLUOPS_TRY(need_pointer(function, "indice_num", settings.indice_num));
  MLUOPS_TRY(need_descriptors(function, {t.out}));
  for (const TensorArgument &tensor : {t.features, t.filters, t.out})
    MLUOPS_TRY(need_float_or_half({function}, tensor));
  MLUOPS_TRY(need_dtype(function, t.pairs, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(function, t.filters, t.features));
  MLUOPS_TRY(need_same_dtype(function, t.out, t.features));
  MLUOPS_TRY(need_flag(function, "sub_m", settings.sub_m));
  MLUOPS_TRY(need_flag(function, "inverse", settings.inverse));
  MLUOPS_REQUIRE(settings.inverse == 0, MLUOP_STATUS_NOT_SUPPORTED, function, "inverse", "0", "1");
  const mluOpTensorLayout_t layout = t.filters.desc->layout;
  MLUOPS_REQUIRE(layout == MLUOP_LAYOUT_NDHWC || layout == MLUOP_LAYOUT_NCDHW || layout == MLUOP_LAYOUT_ARRAY,
                 MLUOP_STATUS_NOT_SUPPORTED, function, "filters_desc", "layout NDHWC, NCDHW or ARRAY", "another one");
  MLUOPS_TRY(need_rank(function, t.features, 2, "[L, Ci]"));
  MLUOPS_TRY(need_rank(function, t.pairs, 3, "[K, 2, L]"));
  MLUOPS_TRY(need_rank(function, t.out, 2, "[num_act_out, Co]"));
  MLUOPS_REQUIRE(t.filters.desc->rank == 5, MLUOP_STATUS_NOT_SUPPORTED, function, "filters_desc", "5 dims",
                 describe(t.filters.desc));
  MLUOPS_TRY(need_packed(function, {t.features, t.filters, t.pairs, t.out}));
  MLUOPS_TRY(need_indexable(function, {t.features, t.filters, t.pairs, t.out}));
  const FilterShape shape = filter_shape(*t.filters.desc, layout);
  MLUOPS_TRY(need_same_dim(function, t.features, 0, t.pairs, 2));
  MLUOPS_TRY(need_channels(function, t.features, "Ci of the filters", shape.in_channels));
  MLUOPS_TRY(need_cells(function, t.pairs, shape));
  MLUOPS_TRY(need_dim(function, t.pairs, 1, "input and output row", 2));
  MLUOPS_TRY(need_dim(function, t.out, 0, "num_act_out", settings.num_act_out));
  MLUOPS_TRY(need_channels(function, t.out, "Co of the filters", shape.out_channels));
  MLUOPS_TRY(copy_counts(function, settings.indice_num, shape.cells, counts));
  return need_counts(function, *counts, t.pairs.desc->dims[2]);
}

ProductArguments product_of(const ForwardTensors &t) {
  return ProductArguments{
      t.features, t.filters, t.pairs, t.out, 0, filter_shape(*t.filters.desc, t.filters.desc->layout), false};
}

mluOpStatus_t forward(const char *function, mluOpHandle_t handle, const ForwardTensors &t,
                      const ForwardSettings &settings, void *workspace, std::size_t workspace_size) {
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, settings, &counts));
  if (any_empty({t.features, t.pairs, t.filters, t.out})) return MLUOP_STATUS_SUCCESS;
  return run_product(function, handle, product_of(t), counts, workspace, workspace_size);
}

mluOpStatus_t forward_size(const char *function, mluOpHandle_t handle, const ForwardTensors &t,
                           const ForwardSettings &settings, std::size_t *size) {
  Array<std::int64_t> counts;
  MLUOPS_TRY(check(function, handle, t, settings, &counts));
  if (any_empty({t.features, t.pairs, t.filters, t.out})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = product_workspace(product_of(t), counts);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse, const int64_t sub_m,
    size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetIndiceConvolutionForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::forward_size(kFunction, handle,
                                {{"features", features_desc, nullptr},
                                 {"filters", filters_desc, nullptr},
                                 {"indice_pairs", indice_pairs_desc, nullptr},
                                 {"features_out", features_out_desc, nullptr}},
                                {indice_num, num_act_out, inverse, sub_m}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse,
    const int64_t sub_m, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t features_out_desc,
    void *features_out) {
  constexpr const char *kFunction = "mluOpIndiceConvolutionForward";
  return mluops::guarded(kFunction, [&] {
    return mluops::forward(kFunction, handle,
                           {{"features", features_desc, features},
                            {"filters", filters_desc, filters},
                            {"indice_pairs", indice_pairs_desc, indice_pairs},
                            {"features_out", features_out_desc, features_out}},
                           {indice_num, num_act_out, inverse, sub_m}, workspace, workspace_size);
  });
}
