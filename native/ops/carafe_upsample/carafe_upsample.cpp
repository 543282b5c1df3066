#include "ops/carafe_upsample/carafe_upsample.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "core/settings.h"
#include "mluops_ext/carafe_upsample.h"

namespace mluops {
namespace {

// `input` and `mask` and their gradients have the same shapes; `output` may be a gradient.
struct Tensors {
  TensorArgument input;
  TensorArgument mask;
  TensorArgument output;
};

struct Numbers {
  int kernel;
  int groups;
  int scale;
};

mluOpStatus_t check_ranks(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_rank(function, t.input, 4, "[N, H, W, C]"));
  MLUOPS_TRY(need_rank(function, t.mask, 4, "[N, s * H, s * W, G * k * k]"));
  return need_rank(function, t.output, 4, "[N, s * H, s * W, C]");
}

mluOpStatus_t check_shapes(const char *function, const Tensors &t, const Numbers &n) {
  MLUOPS_TRY(need_same_dim(function, t.mask, 0, t.input, 0));
  for (int dim = 1; dim < 3; ++dim)
    MLUOPS_TRY(
        need_dim(function, t.mask, dim, "scale_factor times that of the input", n.scale * t.input.desc->dims[dim]));
  const long long channels = t.input.desc->dims[3];
  MLUOPS_REQUIRE(channels % n.groups == 0, MLUOP_STATUS_BAD_PARAM, function, t.input.name,
                 Text::format("a C that group_size=%d divides", n.groups), Text::format("C=%lld", channels));
  std::int64_t cells = std::int64_t{n.kernel} * n.kernel;
  MLUOPS_REQUIRE(!__builtin_mul_overflow(cells, std::int64_t{n.groups}, &cells), MLUOP_STATUS_BAD_PARAM, function,
                 t.mask.name, "fewer cells", Text::format("kernel_size=%d", n.kernel));
  MLUOPS_TRY(need_dim(function, t.mask, 3, "group_size * kernel_size * kernel_size", cells));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(function, t.output, dim, t.mask, dim));
  return need_same_dim(function, t.output, 3, t.input, 3);
}

CarafeGeometry geometry_of(const Tensors &t, const Numbers &n) {
  const std::int64_t *const dims = t.input.desc->dims;
  return {dims[0], dims[1], dims[2], dims[3], n.kernel, n.groups, n.scale, t.input.desc->dtype};
}

// ---- functions of mluops_ext.h ------------------------------------------------------------------

mluOpStatus_t check(const char *function, mluOpHandle_t handle, const Tensors &t, const Numbers &n,
                    std::initializer_list<TensorArgument> given, std::initializer_list<TensorArgument> written) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, given));
  MLUOPS_TRY(need_descriptors(function, written));
  MLUOPS_TRY(need_at_least(function, "kernel_size", n.kernel, 1));
  MLUOPS_TRY(need_at_least(function, "group_size", n.groups, 1));
  MLUOPS_TRY(need_at_least(function, "scale_factor", n.scale, 1));
  MLUOPS_TRY(check_ranks(function, t));
  MLUOPS_TRY(check_shapes(function, t, n));
  if (written.size() == 2) {
    MLUOPS_TRY(need_same_shape(function, written.begin()[0], t.input));
    MLUOPS_TRY(need_same_shape(function, written.begin()[1], t.mask));
  }
  for (const auto &some : {given, written}) MLUOPS_TRY(need_packed(function, some));
  MLUOPS_TRY(need_real(function, t.input));
  for (const auto &some : {given, written}) {
    for (const TensorArgument &tensor : some) MLUOPS_TRY(need_same_dtype(function, tensor, t.input));
  }
  for (const auto &some : {given, written}) {
    for (const TensorArgument &tensor : some) MLUOPS_TRY(need_elements(function, tensor));
  }
  for (const auto &some : {given, written}) MLUOPS_TRY(need_indexable(function, some));
  for (const auto &some : {given, written}) MLUOPS_TRY(need_data(function, some));
  return require_no_overlap(function, written, given);
}

// ---- functions of mlu_op.h ----------------------------------------------------------------------

// Limits of the vendor's library.
constexpr int kMostForward = 45, kMostScale = 5, kMostBackward = 137;

bool any_empty(std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    if (tensor.desc->count == 0) return true;
  }
  return false;
}

mluOpStatus_t check_layouts_and_types(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) MLUOPS_TRY(need_layout(function, tensor, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_float_or_half({function}, *tensors.begin()));
  for (const TensorArgument &tensor : tensors) MLUOPS_TRY(need_same_dtype(function, tensor, *tensors.begin()));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_no_more(const char *function, const char *what, int value, int most) {
  MLUOPS_REQUIRE(value <= most, MLUOP_STATUS_NOT_SUPPORTED, function, "carafe_desc",
                 Text::format("%s of at most %d", what, most), Text::format("%d", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t forward(const char *function, mluOpHandle_t handle, mluOpCarafeDescriptor_t desc, const Tensors &t) {
  CarafeSettings settings{};
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(read_settings(function, "carafe_desc", desc, &settings));
  MLUOPS_TRY(need_descriptors(function, {t.input, t.mask, t.output}));
  const Numbers numbers{settings.kernel_size, settings.group_size, settings.scale_factor};
  MLUOPS_TRY(need_no_more(function, "a kernel_size", numbers.kernel, kMostForward));
  MLUOPS_TRY(need_no_more(function, "a scale_factor", numbers.scale, kMostScale));
  MLUOPS_TRY(check_ranks(function, t));
  MLUOPS_TRY(check_layouts_and_types(function, {t.input, t.mask, t.output}));
  for (const TensorArgument &tensor : {t.input, t.mask, t.output}) {
    MLUOPS_REQUIRE(need_packed(function, {tensor}) == MLUOP_STATUS_SUCCESS, MLUOP_STATUS_BAD_PARAM, function,
                   tensor.name, "a packed tensor", "strides");
  }
  MLUOPS_TRY(check_shapes(function, t, numbers));
  if (any_empty({t.input, t.mask, t.output})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.input, t.mask, t.output}));
  MLUOPS_TRY(need_indexable(function, {t.input, t.mask, t.output}));
  MLUOPS_TRY(require_no_overlap(function, {t.output}, {t.input, t.mask}));
  return launch_carafe_forward(
      handle, {function, geometry_of(t, numbers), t.input.data, t.mask.data, const_cast<void *>(t.output.data)});
}

mluOpStatus_t backward(const char *function, mluOpHandle_t handle, mluOpCarafeDescriptor_t desc, const Tensors &t,
                       const TensorArgument &grad_input, const TensorArgument &grad_mask) {
  CarafeSettings settings{};
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(read_settings(function, "carafe_desc", desc, &settings));
  MLUOPS_TRY(need_descriptors(function, {t.input, t.mask, t.output, grad_input, grad_mask}));
  const Numbers numbers{settings.kernel_size, settings.group_size, settings.scale_factor};
  MLUOPS_TRY(check_ranks(function, t));
  MLUOPS_TRY(check_layouts_and_types(function, {t.input, t.mask, t.output, grad_input, grad_mask}));
  MLUOPS_TRY(check_shapes(function, t, numbers));
  MLUOPS_TRY(need_same_shape(function, grad_input, t.input));
  MLUOPS_TRY(need_same_shape(function, grad_mask, t.mask));
  MLUOPS_TRY(need_packed(function, {t.input, t.mask, t.output, grad_input, grad_mask}));
  if (any_empty({t.input, t.mask, t.output})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.input, t.mask, t.output, grad_input, grad_mask}));
  MLUOPS_TRY(need_no_more(function, "a kernel_size", numbers.kernel, kMostBackward));
  MLUOPS_TRY(need_indexable(function, {t.input, t.mask, t.output, grad_input, grad_mask}));
  MLUOPS_TRY(require_no_overlap(function, {grad_input, grad_mask}, {t.input, t.mask, t.output}));
  return launch_carafe_backward(handle, {function, geometry_of(t, numbers), t.input.data, t.mask.data, t.output.data,
                                         const_cast<void *>(grad_input.data), const_cast<void *>(grad_mask.data)});
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtCarafeForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                   const void *input, const mluOpTensorDescriptor_t mask_desc,
                                                   const void *mask, const int kernel_size, const int group_size,
                                                   const int scale_factor, const mluOpTensorDescriptor_t output_desc,
                                                   void *output) {
  constexpr const char *kFunction = "mluopsExtCarafeForward";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    const mluops::Tensors t{{"input", input_desc, input}, {"mask", mask_desc, mask}, {"output", output_desc, output}};
    const mluops::Numbers numbers{kernel_size, group_size, scale_factor};
    MLUOPS_TRY(mluops::check(kFunction, handle, t, numbers, {t.input, t.mask}, {t.output}));
    return mluops::launch_carafe_forward(handle, {kFunction, mluops::geometry_of(t, numbers), input, mask, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtCarafeBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const mluOpTensorDescriptor_t mask_desc,
                                                    const void *mask, const mluOpTensorDescriptor_t grad_output_desc,
                                                    const void *grad_output, const int kernel_size,
                                                    const int group_size, const int scale_factor,
                                                    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
                                                    const mluOpTensorDescriptor_t grad_mask_desc, void *grad_mask) {
  constexpr const char *kFunction = "mluopsExtCarafeBackward";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    const mluops::Tensors t{
        {"input", input_desc, input}, {"mask", mask_desc, mask}, {"grad_output", grad_output_desc, grad_output}};
    const mluops::Numbers numbers{kernel_size, group_size, scale_factor};
    MLUOPS_TRY(mluops::check(kFunction, handle, t, numbers, {t.input, t.mask, t.output},
                             {{"grad_input", grad_input_desc, grad_input}, {"grad_mask", grad_mask_desc, grad_mask}}));
    return mluops::launch_carafe_backward(
        handle, {kFunction, mluops::geometry_of(t, numbers), input, mask, grad_output, grad_input, grad_mask});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpCarafeForward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                               const mluOpTensorDescriptor_t input_desc, const void *input,
                                               const mluOpTensorDescriptor_t mask_desc, const void *mask,
                                               const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpCarafeForward", [&] {
    return mluops::forward("mluOpCarafeForward", handle, carafe_desc,
                           {{"input", input_desc, input}, {"mask", mask_desc, mask}, {"output", output_desc, output}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpCarafeBackward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                                const mluOpTensorDescriptor_t input_desc, const void *input,
                                                const mluOpTensorDescriptor_t mask_desc, const void *mask,
                                                const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
                                                const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
                                                const mluOpTensorDescriptor_t grad_mask_desc, void *grad_mask) {
  return mluops::guarded("mluOpCarafeBackward", [&] {
    return mluops::backward(
        "mluOpCarafeBackward", handle, carafe_desc,
        {{"input", input_desc, input}, {"mask", mask_desc, mask}, {"grad_output", grad_output_desc, grad_output}},
        {"grad_input", grad_input_desc, grad_input}, {"grad_mask", grad_mask_desc, grad_mask});
  });
}
