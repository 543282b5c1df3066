// The functions of mlu_op.h, which take their numbers from a descriptor. No workspace is needed.
#include "core/exception_guard.h"
#include "core/settings.h"
#include "mlu_op.h"
#include "ops/deform_conv/checks.h"

namespace mluops {
namespace {

// Up to six tensors, those that are missing left out.
class Given {
 public:
  Given(std::initializer_list<TensorArgument> all) {
    for (const TensorArgument &tensor : all) {
      if (tensor.desc != nullptr) tensors_[count_++] = tensor;
    }
  }
  const TensorArgument *begin() const { return tensors_; }
  const TensorArgument *end() const { return tensors_ + count_; }

 private:
  TensorArgument tensors_[6];
  int count_ = 0;
};

mluOpStatus_t need_both_or_none(const char *function, const TensorArgument &tensor) {
  MLUOPS_REQUIRE((tensor.desc == nullptr) == (tensor.data == nullptr), MLUOP_STATUS_BAD_PARAM, function, tensor.name,
                 "data and descriptor, or neither", tensor.desc == nullptr ? "only data" : "only a descriptor");
  return MLUOP_STATUS_SUCCESS;
}

// An optional tensor: its descriptor, if there is one, lives.
mluOpStatus_t need_optional(const char *function, const TensorArgument &tensor) {
  MLUOPS_TRY(need_both_or_none(function, tensor));
  return need_descriptors_or_null(function, {tensor});
}

mluOpStatus_t check_output_size(const char *function, const DeformConvTensors &t, const DcnSettings &settings) {
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = settings.dilation[axis] * (t.filter.desc->dims[1 + axis] - 1) + 1;
    const std::int64_t room =
        t.input.desc->dims[1 + axis] + settings.pad[2 * axis] + settings.pad[2 * axis + 1] - reach;
    MLUOPS_TRY(need_dim(function, t.output, 1 + axis, axis == 0 ? "Ho" : "Wo",
                        room < 0 ? 0 : room / settings.stride[axis] + 1));
  }
  return MLUOP_STATUS_SUCCESS;
}

DeformConvNumbers numbers_of(const DcnSettings &settings) {
  return {{settings.stride[0], settings.stride[1]},
          {settings.pad[0], settings.pad[2]},
          {settings.dilation[0], settings.dilation[1]},
          settings.conv_group,
          settings.deformable_group};
}

// What follows the checks for NULL. `vector` is the bias or its gradient.
mluOpStatus_t check(const char *function, const DeformConvTensors &t, const TensorArgument &vector,
                    const DcnSettings &settings, const Given &written, const Given &read) {
  MLUOPS_TRY(check_deform_conv_ranks({function}, t));
  for (const TensorArgument &tensor : Given{t.filter, t.input, t.offset, t.mask, t.output})
    MLUOPS_TRY(need_layout(function, tensor, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_float_or_half({function}, t.input));
  for (const TensorArgument &tensor : Given{t.filter, t.offset, t.mask, t.output, vector})
    MLUOPS_TRY(need_same_dtype(function, tensor, t.input));
  MLUOPS_TRY(check_deform_conv_shapes({function}, t, numbers_of(settings)));
  MLUOPS_TRY(check_output_size(function, t, settings));
  if (vector.desc != nullptr) {
    MLUOPS_TRY(need_rank(function, vector, 1, "[Co]"));
    MLUOPS_TRY(need_same_dim(function, vector, 0, t.filter, 0));
  }
  const long long batches = t.input.desc->dims[0];
  MLUOPS_REQUIRE(settings.im2col_step <= batches && batches % settings.im2col_step == 0, MLUOP_STATUS_BAD_PARAM,
                 function, "dcn_desc", Text::format("an im2col_step that divides N=%lld", batches),
                 Text::format("%d", settings.im2col_step));
  for (const Given *some : {&read, &written}) {
    for (const TensorArgument &tensor : *some) MLUOPS_TRY(need_packed(function, {tensor}));
  }
  for (const Given *some : {&read, &written}) {
    for (const TensorArgument &tensor : *some) MLUOPS_TRY(need_indexable(function, {tensor}));
  }
  for (const Given *some : {&read, &written}) {
    for (const TensorArgument &tensor : *some) {
      MLUOPS_TRY(need_elements(function, tensor));
      MLUOPS_TRY(need_data(function, {tensor}));
    }
  }
  for (const TensorArgument &output : written) {
    for (const TensorArgument &input : read) MLUOPS_TRY(require_no_overlap(function, {output}, {input}));
    for (const TensorArgument &other : written) {
      if (&other < &output) MLUOPS_TRY(require_no_overlap(function, {output}, {other}));
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_workspace(const char *function, const void *workspace, std::size_t size) {
  MLUOPS_REQUIRE(size == 0 || workspace != nullptr, MLUOP_STATUS_BAD_PARAM, function, "workspace",
                 Text::format("%zu bytes", size), "NULL");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t no_workspace(const char *function, mluOpHandle_t handle, mluOpDCNDescriptor_t dcn_desc,
                           std::initializer_list<TensorArgument> needed, std::initializer_list<TensorArgument> others,
                           std::size_t *size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_object(function, "dcn_desc", dcn_desc));
  MLUOPS_TRY(need_descriptors(function, needed));
  MLUOPS_TRY(need_descriptors_or_null(function, others));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

using mluops::DeformConvTensors;
using mluops::TensorArgument;

mluOpStatus_t MLUOP_WIN_API mluOpGetDCNForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t bias_desc,
    const mluOpTensorDescriptor_t output_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetDCNForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::no_workspace(kFunction, handle, dcn_desc,
                                {{"input", input_desc, nullptr},
                                 {"offset", offset_desc, nullptr},
                                 {"filter", filter_desc, nullptr},
                                 {"output", output_desc, nullptr}},
                                {{"mask", mask_desc, nullptr}, {"bias", bias_desc, nullptr}}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDCNForward(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                            const mluOpTensorDescriptor_t input_desc, const void *input,
                                            const mluOpTensorDescriptor_t offset_desc, const void *offset,
                                            const mluOpTensorDescriptor_t mask_desc, const void *mask,
                                            const mluOpTensorDescriptor_t filter_desc, const void *filter,
                                            const mluOpTensorDescriptor_t bias_desc, const void *bias, void *workspace,
                                            size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                                            void *output) {
  constexpr const char *kFunction = "mluOpDCNForward";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"filter", filter_desc, filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"output", output_desc, output}};
    const TensorArgument vector{"bias", bias_desc, bias};
    mluops::DcnSettings settings;
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::read_settings(kFunction, "dcn_desc", dcn_desc, &settings));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {t.input, t.offset, t.filter, t.output}));
    for (const TensorArgument &tensor : {t.mask, vector}) MLUOPS_TRY(mluops::need_optional(kFunction, tensor));
    MLUOPS_TRY(mluops::need_workspace(kFunction, workspace, workspace_size));
    MLUOPS_TRY(
        mluops::check(kFunction, t, vector, settings, {t.output}, {t.input, t.offset, t.mask, t.filter, vector}));
    const mluops::DeformConvGeometry geometry = mluops::deform_conv_geometry(t, mluops::numbers_of(settings));
    return mluops::launch_deform_conv_forward(handle,
                                              {{kFunction, geometry, input, offset, mask}, filter, bias, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBackwardWeightWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t grad_output_desc, const mluOpTensorDescriptor_t grad_filter_desc,
    const mluOpTensorDescriptor_t grad_bias_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetDCNBackwardWeightWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::no_workspace(kFunction, handle, dcn_desc, {},
                                {{"input", input_desc, nullptr},
                                 {"offset", offset_desc, nullptr},
                                 {"mask", mask_desc, nullptr},
                                 {"grad_output", grad_output_desc, nullptr},
                                 {"grad_filter", grad_filter_desc, nullptr},
                                 {"grad_bias", grad_bias_desc, nullptr}},
                                workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardWeight(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                                   const mluOpTensorDescriptor_t input_desc, const void *input,
                                                   const mluOpTensorDescriptor_t offset_desc, const void *offset,
                                                   const mluOpTensorDescriptor_t mask_desc, const void *mask,
                                                   const mluOpTensorDescriptor_t grad_output_desc,
                                                   const void *grad_output, void *workspace, size_t workspace_size,
                                                   const mluOpTensorDescriptor_t grad_filter_desc, void *grad_filter,
                                                   const mluOpTensorDescriptor_t grad_bias_desc, void *grad_bias) {
  constexpr const char *kFunction = "mluOpDCNBackwardWeight";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"grad_filter", grad_filter_desc, grad_filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"grad_output", grad_output_desc, grad_output}};
    const TensorArgument vector{"grad_bias", grad_bias_desc, grad_bias};
    mluops::DcnSettings settings;
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::read_settings(kFunction, "dcn_desc", dcn_desc, &settings));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {t.input, t.offset, t.output, t.filter}));
    for (const TensorArgument &tensor : {t.mask, vector}) MLUOPS_TRY(mluops::need_optional(kFunction, tensor));
    MLUOPS_TRY(mluops::need_workspace(kFunction, workspace, workspace_size));
    MLUOPS_TRY(
        mluops::check(kFunction, t, vector, settings, {t.filter, vector}, {t.input, t.offset, t.mask, t.output}));
    const mluops::DeformConvGeometry geometry = mluops::deform_conv_geometry(t, mluops::numbers_of(settings));
    return mluops::launch_deform_conv_backward_weight(
        handle, {{kFunction, geometry, input, offset, mask}, grad_output, grad_filter, grad_bias});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBakcwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t grad_output_desc,
    const mluOpTensorDescriptor_t grad_input_desc, const mluOpTensorDescriptor_t grad_offset_desc,
    const mluOpTensorDescriptor_t grad_mask_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetDCNBakcwardDataWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::no_workspace(kFunction, handle, dcn_desc,
                                {{"input", input_desc, nullptr},
                                 {"offset", offset_desc, nullptr},
                                 {"filter", filter_desc, nullptr},
                                 {"grad_output", grad_output_desc, nullptr},
                                 {"grad_input", grad_input_desc, nullptr},
                                 {"grad_offset", grad_offset_desc, nullptr}},
                                {{"mask", mask_desc, nullptr}, {"grad_mask", grad_mask_desc, nullptr}}, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardData(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                                 const mluOpTensorDescriptor_t input_desc, const void *input,
                                                 const mluOpTensorDescriptor_t offset_desc, const void *offset,
                                                 const mluOpTensorDescriptor_t mask_desc, const void *mask,
                                                 const mluOpTensorDescriptor_t filter_desc, const void *filter,
                                                 const mluOpTensorDescriptor_t grad_output_desc,
                                                 const void *grad_output, void *workspace, const size_t workspace_size,
                                                 const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
                                                 const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset,
                                                 const mluOpTensorDescriptor_t grad_mask_desc, void *grad_mask) {
  constexpr const char *kFunction = "mluOpDCNBackwardData";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    const DeformConvTensors t{{"filter", filter_desc, filter},
                              {"input", input_desc, input},
                              {"offset", offset_desc, offset},
                              {"mask", mask_desc, mask},
                              {"grad_output", grad_output_desc, grad_output}};
    const TensorArgument d_input{"grad_input", grad_input_desc, grad_input};
    const TensorArgument d_offset{"grad_offset", grad_offset_desc, grad_offset};
    const TensorArgument d_mask{"grad_mask", grad_mask_desc, grad_mask};
    mluops::DcnSettings settings;
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::read_settings(kFunction, "dcn_desc", dcn_desc, &settings));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {t.input, t.offset, t.filter, t.output, d_input, d_offset}));
    for (const TensorArgument &tensor : {t.mask, d_mask}) MLUOPS_TRY(mluops::need_optional(kFunction, tensor));
    MLUOPS_REQUIRE((mask == nullptr) == (grad_mask == nullptr), MLUOP_STATUS_BAD_PARAM, kFunction, "grad_mask",
                   "a tensor exactly if there is a mask", grad_mask == nullptr ? "NULL" : "a tensor");
    MLUOPS_TRY(mluops::need_workspace(kFunction, workspace, workspace_size));
    for (const auto &pair : {std::initializer_list<TensorArgument>{d_input, t.input}, {d_offset, t.offset}}) {
      MLUOPS_TRY(mluops::need_same_shape(kFunction, pair.begin()[0], pair.begin()[1]));
      MLUOPS_TRY(mluops::need_same_dtype(kFunction, pair.begin()[0], pair.begin()[1]));
      MLUOPS_TRY(mluops::need_layout(kFunction, pair.begin()[0], MLUOP_LAYOUT_NHWC));
    }
    if (mask != nullptr) {
      MLUOPS_TRY(mluops::need_same_shape(kFunction, d_mask, t.mask));
      MLUOPS_TRY(mluops::need_same_dtype(kFunction, d_mask, t.mask));
      MLUOPS_TRY(mluops::need_layout(kFunction, d_mask, MLUOP_LAYOUT_NHWC));
    }
    MLUOPS_TRY(mluops::check(kFunction, t, {"bias", nullptr, nullptr}, settings, {d_input, d_offset, d_mask},
                             {t.input, t.offset, t.mask, t.filter, t.output}));
    const mluops::DeformConvGeometry geometry = mluops::deform_conv_geometry(t, mluops::numbers_of(settings));
    return mluops::launch_deform_conv_backward_data(
        handle, {{kFunction, geometry, input, offset, mask}, filter, grad_output, grad_input, grad_offset, grad_mask});
  });
}
