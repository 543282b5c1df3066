// mluopsExtIndiceConvolution...: doubles, any number of dims, exchanged roles.
#include <cstring>

#include "core/exception_guard.h"
#include "mluops_ext/indice_convolution.h"
#include "ops/indice_convolution/checks.h"

namespace mluops {
namespace {

// The first two are inputs and the last one is the result; each direction names them.
struct Tensors {
  TensorArgument first;
  TensorArgument second;
  TensorArgument pairs;
  TensorArgument result;
};

struct Settings {
  const std::int64_t *indice_num;
  std::int64_t inverse;
};

mluOpStatus_t check_types(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.first, t.second, t.pairs, t.result}));
  MLUOPS_TRY(need_pointer(function, "indice_num", settings.indice_num));
  MLUOPS_TRY(need_flag(function, "inverse", settings.inverse));
  MLUOPS_TRY(need_real(function, t.first, true));
  MLUOPS_TRY(need_same_dtype(function, t.second, t.first));
  MLUOPS_TRY(need_same_dtype(function, t.result, t.first));
  MLUOPS_TRY(need_dtype(function, t.pairs, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_packed(function, {t.first, t.second, t.pairs, t.result}));
  MLUOPS_TRY(need_indexable(function, {t.first, t.second, t.pairs, t.result}));
  MLUOPS_TRY(need_rank(function, t.pairs, 3, "[K, 2, L]"));
  return need_dim(function, t.pairs, 1, "input and output row", 2);
}

mluOpStatus_t check_counts(const char *function, const Tensors &t, const Settings &settings,
                           Array<std::int64_t> *counts) {
  MLUOPS_TRY(copy_counts(function, settings.indice_num, t.pairs.desc->dims[0], counts));
  return need_counts(function, *counts, t.pairs.desc->dims[2]);
}

// `source` are the channels of the first tensor, `target` those of the result.
mluOpStatus_t check_product(const char *function, const Tensors &t, const char *source, std::int64_t source_channels,
                            const char *target, std::int64_t target_channels) {
  MLUOPS_TRY(need_rank(function, t.first, 2, "[rows, channels]"));
  MLUOPS_TRY(need_rank(function, t.result, 2, "[rows, channels]"));
  MLUOPS_TRY(need_same_dim(function, t.pairs, 0, t.second, 0));
  MLUOPS_TRY(need_channels(function, t.first, source, source_channels));
  return need_channels(function, t.result, target, target_channels);
}

// The product of one direction: forward, or backward data, in which filters are transposed.
mluOpStatus_t read_product(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                           bool transposed, Array<std::int64_t> *counts, ProductArguments *arguments) {
  MLUOPS_TRY(check_types(function, handle, t, settings));
  MLUOPS_TRY(need_rank(function, t.second, 3, "[K, Ci, Co]"));
  const FilterShape shape = filter_shape(*t.second.desc, MLUOP_LAYOUT_ARRAY);
  constexpr const char *kIn = "Ci of the filters", *kOut = "Co of the filters";
  if (transposed) {
    MLUOPS_TRY(check_product(function, t, kOut, shape.out_channels, kIn, shape.in_channels));
  } else {
    MLUOPS_TRY(check_product(function, t, kIn, shape.in_channels, kOut, shape.out_channels));
  }
  MLUOPS_TRY(check_counts(function, t, settings, counts));
  const int side = settings.inverse == (transposed ? 1 : 0) ? 0 : 1;
  *arguments = ProductArguments{t.first, t.second, t.pairs, t.result, side, shape, transposed};
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t read_gradient(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                            Array<std::int64_t> *counts, GradientArguments *arguments) {
  MLUOPS_TRY(check_types(function, handle, t, settings));
  MLUOPS_TRY(need_rank(function, t.first, 2, "[rows, Ci]"));
  MLUOPS_TRY(need_rank(function, t.second, 2, "[rows, Co]"));
  MLUOPS_TRY(need_rank(function, t.result, 3, "[K, Ci, Co]"));
  MLUOPS_TRY(need_same_dim(function, t.pairs, 0, t.result, 0));
  MLUOPS_TRY(need_channels(function, t.first, "Ci of filters_grad", t.result.desc->dims[1]));
  MLUOPS_TRY(need_channels(function, t.second, "Co of filters_grad", t.result.desc->dims[2]));
  MLUOPS_TRY(check_counts(function, t, settings, counts));
  *arguments = GradientArguments{t.first, t.second, t.pairs, t.result, static_cast<int>(settings.inverse)};
  return MLUOP_STATUS_SUCCESS;
}

bool nothing_to_add(const Tensors &t) { return any_empty({t.first, t.second, t.pairs, t.result}); }

mluOpStatus_t write_zeros(const char *function, const Tensors &t) {
  if (t.result.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.result}));
  MLUOPS_TRY(require_no_overlap(function, {t.result}, {t.first, t.second, t.pairs}));
  std::memset(const_cast<void *>(t.result.data), 0, static_cast<std::size_t>(t.result.desc->bytes()));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t product(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                      bool transposed, void *workspace, std::size_t workspace_size) {
  Array<std::int64_t> counts;
  ProductArguments arguments;
  MLUOPS_TRY(read_product(function, handle, t, settings, transposed, &counts, &arguments));
  if (nothing_to_add(t)) return write_zeros(function, t);
  return run_product(function, handle, arguments, counts, workspace, workspace_size);
}

mluOpStatus_t product_size(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                           bool transposed, std::size_t *size) {
  Array<std::int64_t> counts;
  ProductArguments arguments;
  MLUOPS_TRY(read_product(function, handle, t, settings, transposed, &counts, &arguments));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = nothing_to_add(t) ? 0 : product_workspace(arguments, counts);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t gradient(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                       void *workspace, std::size_t workspace_size) {
  Array<std::int64_t> counts;
  GradientArguments arguments;
  MLUOPS_TRY(read_gradient(function, handle, t, settings, &counts, &arguments));
  if (nothing_to_add(t)) return write_zeros(function, t);
  return run_gradient(function, handle, arguments, counts, workspace, workspace_size);
}

mluOpStatus_t gradient_size(const char *function, mluOpHandle_t handle, const Tensors &t, const Settings &settings,
                            std::size_t *size) {
  Array<std::int64_t> counts;
  GradientArguments arguments;
  MLUOPS_TRY(read_gradient(function, handle, t, settings, &counts, &arguments));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = nothing_to_add(t) ? 0 : gradient_workspace(arguments, counts);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size) {
  constexpr const char *kFunction = "mluopsExtGetIndiceConvolutionForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::product_size(kFunction, handle,
                                {{"features", features_desc, nullptr},
                                 {"filters", filters_desc, nullptr},
                                 {"indice_pairs", indice_pairs_desc, nullptr},
                                 {"features_out", features_out_desc, nullptr}},
                                {indice_num, inverse}, false, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t features_out_desc, void *features_out) {
  constexpr const char *kFunction = "mluopsExtIndiceConvolutionForward";
  return mluops::guarded(kFunction, [&] {
    return mluops::product(kFunction, handle,
                           {{"features", features_desc, features},
                            {"filters", filters_desc, filters},
                            {"indice_pairs", indice_pairs_desc, indice_pairs},
                            {"features_out", features_out_desc, features_out}},
                           {indice_num, inverse}, false, workspace, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size) {
  constexpr const char *kFunction = "mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::product_size(kFunction, handle,
                                {{"output_grad", output_grad_desc, nullptr},
                                 {"filters", filters_desc, nullptr},
                                 {"indice_pairs", indice_pairs_desc, nullptr},
                                 {"input_grad", input_grad_desc, nullptr}},
                                {indice_num, inverse}, true, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t input_grad_desc, void *input_grad) {
  constexpr const char *kFunction = "mluopsExtIndiceConvolutionBackwardData";
  return mluops::guarded(kFunction, [&] {
    return mluops::product(kFunction, handle,
                           {{"output_grad", output_grad_desc, output_grad},
                            {"filters", filters_desc, filters},
                            {"indice_pairs", indice_pairs_desc, indice_pairs},
                            {"input_grad", input_grad_desc, input_grad}},
                           {indice_num, inverse}, true, workspace, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size) {
  constexpr const char *kFunction = "mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::gradient_size(kFunction, handle,
                                 {{"features", features_desc, nullptr},
                                  {"output_grad", output_grad_desc, nullptr},
                                  {"indice_pairs", indice_pairs_desc, nullptr},
                                  {"filters_grad", filters_grad_desc, nullptr}},
                                 {indice_num, inverse}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void *indice_pairs, const int64_t indice_num[],
    const int64_t inverse, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t filters_grad_desc,
    void *filters_grad) {
  constexpr const char *kFunction = "mluopsExtIndiceConvolutionBackwardFilter";
  return mluops::guarded(kFunction, [&] {
    return mluops::gradient(kFunction, handle,
                            {{"features", features_desc, features},
                             {"output_grad", output_grad_desc, output_grad},
                             {"indice_pairs", indice_pairs_desc, indice_pairs},
                             {"filters_grad", filters_grad_desc, filters_grad}},
                            {indice_num, inverse}, workspace, workspace_size);
  });
}
