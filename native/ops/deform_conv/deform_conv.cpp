// The functions of mluops_ext/deform_conv.h.
#include "ops/deform_conv/deform_conv.h"

#include "core/exception_guard.h"
#include "mluops_ext/deform_conv.h"
#include "ops/deform_conv/checks.h"

namespace mluops {
namespace {

typedef std::initializer_list<TensorArgument> Arguments;

mluOpStatus_t check_numbers(const char *function, const DeformConvNumbers &n) {
  MLUOPS_TRY(need_at_least(function, "stride_h", n.stride[0], 1));
  MLUOPS_TRY(need_at_least(function, "stride_w", n.stride[1], 1));
  MLUOPS_TRY(need_at_least(function, "pad_h", n.pad[0], 0));
  MLUOPS_TRY(need_at_least(function, "pad_w", n.pad[1], 0));
  MLUOPS_TRY(need_at_least(function, "dilation_h", n.dilation[0], 1));
  MLUOPS_TRY(need_at_least(function, "dilation_w", n.dilation[1], 1));
  MLUOPS_TRY(need_at_least(function, "conv_group", n.conv_group, 1));
  return need_at_least(function, "deformable_group", n.deformable_group, 1);
}

// Numbers that say what the gradient of a filter is like.
struct FilterSize {
  int kernel[2];
  int group_channels;
};

mluOpStatus_t need_size(const Entry &entry, const TensorArgument &filter, const FilterSize &size) {
  MLUOPS_TRY(need_dim(entry, filter, 1, "kernel_h", size.kernel[0]));
  MLUOPS_TRY(need_dim(entry, filter, 2, "kernel_w", size.kernel[1]));
  return need_dim(entry, filter, 3, "group_channels", size.group_channels);
}

// `given` and `written` are all tensors of the call; each gradient has the shape of its tensor,
// which stands at the same place of `like`.
mluOpStatus_t check(const Entry &entry, mluOpHandle_t handle, const DeformConvTensors &t,
                    const DeformConvNumbers &numbers, Arguments given, Arguments written, Arguments like,
                    const FilterSize *size = nullptr) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, given));
  MLUOPS_TRY(need_descriptors(entry, written));
  MLUOPS_TRY(check_numbers(entry, numbers));
  if (size != nullptr) {
    MLUOPS_TRY(need_at_least(entry, "kernel_h", size->kernel[0], 1));
    MLUOPS_TRY(need_at_least(entry, "kernel_w", size->kernel[1], 1));
    MLUOPS_TRY(need_at_least(entry, "group_channels", size->group_channels, 1));
  }
  MLUOPS_TRY(check_deform_conv_ranks(entry, t));
  MLUOPS_TRY(check_deform_conv_shapes(entry, t, numbers));
  if (size != nullptr) MLUOPS_TRY(need_size(entry, t.filter, *size));
  for (std::size_t i = 0; i < like.size(); ++i) MLUOPS_TRY(need_same_shape(entry, written.begin()[i], like.begin()[i]));
  MLUOPS_TRY(need_packed(entry, given));
  MLUOPS_TRY(need_packed(entry, written));
  MLUOPS_TRY(need_real(entry, *given.begin()));
  for (const TensorArgument &tensor : given) MLUOPS_TRY(need_same_dtype(entry, tensor, *given.begin()));
  for (const TensorArgument &tensor : written) MLUOPS_TRY(need_same_dtype(entry, tensor, *given.begin()));
  for (const TensorArgument &tensor : given) MLUOPS_TRY(need_elements(entry, tensor));
  for (const TensorArgument &tensor : written) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, given));
  MLUOPS_TRY(need_indexable(entry, written));
  MLUOPS_TRY(need_data(entry, given));
  MLUOPS_TRY(need_data(entry, written));
  return require_no_overlap(entry, written, given);
}

DeformConvProblem problem_of(const Entry &entry, const DeformConvTensors &t, const DeformConvNumbers &n) {
  return {entry.function, deform_conv_geometry(t, n), t.input.data, t.offset.data, t.mask.data};
}

DeformConvDataProblem data_problem(const Entry &entry, const DeformConvTensors &t, const DeformConvNumbers &n,
                                   const void *grad_output, const TensorArgument *gradients) {
  return {problem_of(entry, t, n),
          t.filter.data,
          grad_output,
          const_cast<void *>(gradients[0].data),
          const_cast<void *>(gradients[1].data),
          const_cast<void *>(gradients[2].data)};
}

DeformConvWeightProblem weight_problem(const Entry &entry, const DeformConvTensors &t, const DeformConvNumbers &n,
                                       const void *grad_output, const void *grad_filter) {
  return {problem_of(entry, t, n), grad_output, const_cast<void *>(grad_filter), nullptr};
}

}  // namespace
}  // namespace mluops

using mluops::DeformConvNumbers;
using mluops::DeformConvTensors;
using mluops::TensorArgument;

mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask, const int stride_h,
    const int stride_w, const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
    const int conv_group, const int deformable_group, const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr mluops::Entry kEntry{"mluopsExtDeformConvForward"};
  return mluops::guarded(kEntry, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"filter", filter_desc, filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"output", output_desc, output}};
    const DeformConvNumbers numbers{
        {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, conv_group, deformable_group};
    MLUOPS_TRY(
        mluops::check(kEntry, handle, t, numbers, {t.filter, t.input, t.offset, t.mask}, {t.output}, {t.output}));
    return mluops::launch_deform_conv_forward(handle,
                                              {mluops::problem_of(kEntry, t, numbers), filter, nullptr, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h, const int stride_w,
    const int pad_h, const int pad_w, const int dilation_h, const int dilation_w, const int conv_group,
    const int deformable_group, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask) {
  constexpr mluops::Entry kEntry{"mluopsExtDeformConvBackwardData"};
  return mluops::guarded(kEntry, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"filter", filter_desc, filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"grad_output", grad_output_desc, grad_output}};
    const DeformConvNumbers numbers{
        {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, conv_group, deformable_group};
    const TensorArgument gradients[] = {{"grad_input", grad_input_desc, grad_input},
                                        {"grad_offset", grad_offset_desc, grad_offset},
                                        {"grad_mask", grad_mask_desc, grad_mask}};
    MLUOPS_TRY(mluops::check(kEntry, handle, t, numbers, {t.filter, t.input, t.offset, t.mask, t.output},
                             {gradients[0], gradients[1], gradients[2]}, {t.input, t.offset, t.mask}));
    return mluops::launch_deform_conv_backward_data(handle,
                                                    mluops::data_problem(kEntry, t, numbers, grad_output, gradients));
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackwardWeight(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t offset_desc, const void *offset, const mluOpTensorDescriptor_t mask_desc,
    const void *mask, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h,
    const int stride_w, const int pad_h, const int pad_w, const int dilation_h, const int dilation_w,
    const int conv_group, const int deformable_group, const int kernel_h, const int kernel_w, const int group_channels,
    const mluOpTensorDescriptor_t grad_filter_desc, void *grad_filter) {
  constexpr mluops::Entry kEntry{"mluopsExtDeformConvBackwardWeight"};
  return mluops::guarded(kEntry, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"grad_filter", grad_filter_desc, grad_filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"grad_output", grad_output_desc, grad_output}};
    const DeformConvNumbers numbers{
        {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, conv_group, deformable_group};
    const mluops::FilterSize size{{kernel_h, kernel_w}, group_channels};
    MLUOPS_TRY(mluops::check(kEntry, handle, t, numbers, {t.input, t.offset, t.mask, t.output}, {t.filter}, {t.filter},
                             &size));
    return mluops::launch_deform_conv_backward_weight(
        handle, mluops::weight_problem(kEntry, t, numbers, grad_output, grad_filter));
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDeformConvBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t filter_desc, const void *filter,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int stride_h, const int stride_w,
    const int pad_h, const int pad_w, const int dilation_h, const int dilation_w, const int conv_group,
    const int deformable_group, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask, const mluOpTensorDescriptor_t grad_filter_desc, void *grad_filter) {
  constexpr mluops::Entry kEntry{"mluopsExtDeformConvBackward"};
  return mluops::guarded(kEntry, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"filter", filter_desc, filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"grad_output", grad_output_desc, grad_output}};
    const DeformConvNumbers numbers{
        {stride_h, stride_w}, {pad_h, pad_w}, {dilation_h, dilation_w}, conv_group, deformable_group};
    const TensorArgument gradients[] = {{"grad_input", grad_input_desc, grad_input},
                                        {"grad_offset", grad_offset_desc, grad_offset},
                                        {"grad_mask", grad_mask_desc, grad_mask},
                                        {"grad_filter", grad_filter_desc, grad_filter}};
    MLUOPS_TRY(mluops::check(kEntry, handle, t, numbers, {t.filter, t.input, t.offset, t.mask, t.output},
                             {gradients[0], gradients[1], gradients[2], gradients[3]},
                             {t.input, t.offset, t.mask, t.filter}));
    const auto weight = mluops::weight_problem(kEntry, t, numbers, grad_output, grad_filter);
    auto both = mluops::data_problem(kEntry, t, numbers, grad_output, gradients);
    both.weight = &weight;
    return mluops::launch_deform_conv_backward_data(handle, both);
  });
}
