#include "ops/optimizer_steps/optimizer_steps.h"

#include <cmath>

#include "core/check.h"
#include "core/exception_guard.h"
#include "core/settings.h"
#include "mluops_ext/optimizer_steps.h"

namespace mluops {
namespace {

constexpr const char *kFunction = "mluOpAdamW";

struct Tensors {
  TensorArgument param;
  TensorArgument other;  // the parameters rounded to bfloat16, or the number of the step
  TensorArgument momentum;
  TensorArgument velocity;
  TensorArgument grad;
};

mluOpStatus_t check_types(const Tensors &t, bool numbered) {
  const mluOpDataType_t low = numbered ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_BFLOAT16;
  MLUOPS_TRY(need_dtype(kFunction, t.param, MLUOP_DTYPE_FLOAT));
  MLUOPS_TRY(need_dtype(kFunction, t.other, low));
  MLUOPS_TRY(need_dtype(kFunction, t.momentum, MLUOP_DTYPE_FLOAT));
  MLUOPS_TRY(need_dtype(kFunction, t.velocity, MLUOP_DTYPE_FLOAT));
  return need_dtype(kFunction, t.grad, low);
}

// A number that lies within limits; NaN does not.
mluOpStatus_t need(const char *function, const char *name, bool holds, const char *expected, double value) {
  MLUOPS_REQUIRE(holds, MLUOP_STATUS_BAD_PARAM, function, name, expected, Text::format("%g", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const char *function, const AdamWNumbers &n) {
  MLUOPS_TRY(need(function, "beta1", n.beta1 >= 0 && n.beta1 <= 1, "from 0 to 1", n.beta1));
  MLUOPS_TRY(need(function, "beta2", n.beta2 >= 0 && n.beta2 <= 1, "from 0 to 1", n.beta2));
  return need(function, "epsilon", n.epsilon > 0, "above 0", n.epsilon);
}

mluOpStatus_t check_count(const TensorArgument &tensor, const TensorArgument &like) {
  MLUOPS_REQUIRE(tensor.desc->count == like.desc->count, MLUOP_STATUS_BAD_PARAM, kFunction,
                 Text::format("%s_desc", tensor.name).c_str(),
                 Text::format("as many elements as %s, %lld", like.name, static_cast<long long>(like.desc->count)),
                 describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_counts(const Tensors &t, bool numbered) {
  for (const TensorArgument &tensor : {t.velocity, t.momentum}) MLUOPS_TRY(need_elements(kFunction, tensor));
  for (const TensorArgument &tensor : {t.param, t.other, t.momentum, t.velocity, t.grad})
    MLUOPS_TRY(need_indexable(kFunction, {tensor}));
  for (const TensorArgument &tensor : {t.momentum, t.velocity, t.grad}) MLUOPS_TRY(check_count(tensor, t.param));
  return numbered ? need_elements(kFunction, t.other) : check_count(t.other, t.param);
}

mluOpStatus_t check_memory(const Tensors &t) {
  MLUOPS_TRY(need_data(kFunction, {t.param, t.other, t.momentum, t.velocity, t.grad}));
  MLUOPS_TRY(need_packed(kFunction, {t.param, t.other, t.momentum, t.velocity, t.grad}));
  return require_no_overlap(kFunction, {t.param, t.other, t.momentum, t.velocity}, {t.grad});
}

template <typename T>
T *data_of(const TensorArgument &tensor) {
  return static_cast<T *>(const_cast<void *>(tensor.data));
}

mluOpStatus_t adam_w(mluOpHandle_t handle, mluOpAdamWDescriptor_t desc, const Tensors &t, AdamWNumbers numbers) {
  AdamWSettings settings{};
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(read_settings(kFunction, "adamw_desc", desc, &settings));
  MLUOPS_TRY(need_descriptors(kFunction, {t.param, t.other, t.momentum, t.velocity, t.grad}));
  const bool numbered = settings.need_remove_nan;
  MLUOPS_TRY(check_types(t, numbered));
  MLUOPS_TRY(check_numbers(kFunction, numbers));
  MLUOPS_TRY(check_counts(t, numbered));
  MLUOPS_TRY(check_memory(t));
  numbers.weight_decay = static_cast<double>(settings.weight_decay);
  numbers.grad_scale = static_cast<double>(settings.grad_scale);
  const AdamWProblem problem{kFunction,
                             t.param.desc->count,
                             numbers,
                             false,
                             numbered,
                             data_of<void>(t.param),
                             data_of<void>(t.momentum),
                             data_of<void>(t.velocity),
                             t.grad.data,
                             numbered ? nullptr : data_of<std::uint16_t>(t.other),
                             numbered ? data_of<float>(t.other) : nullptr};
  return launch_adam_w(handle, problem);
}

// ---- Without a descriptor ----------------------------------------------------------------------

constexpr const char *kExtension = "mluopsExtAdamW";

mluOpStatus_t check_scalars(int step, const AdamWNumbers &n) {
  constexpr const char *kFinite = "a finite number";
  MLUOPS_TRY(need_at_least(kExtension, "step", step, 1));
  MLUOPS_TRY(need(kExtension, "lr", std::isfinite(n.lr), kFinite, n.lr));
  MLUOPS_TRY(check_numbers(kExtension, n));
  MLUOPS_TRY(need(kExtension, "epsilon", std::isfinite(n.epsilon), kFinite, n.epsilon));
  MLUOPS_TRY(need(kExtension, "weight_decay", std::isfinite(n.weight_decay), kFinite, n.weight_decay));
  return need(kExtension, "grad_scale", std::isfinite(n.grad_scale), kFinite, n.grad_scale);
}

mluOpStatus_t adam_w_of(mluOpHandle_t handle, int step, AdamWNumbers numbers, bool keeps, const TensorArgument &param,
                        const TensorArgument &momentum, const TensorArgument &velocity, const TensorArgument &grad) {
  MLUOPS_TRY(need_handle(kExtension, handle));
  MLUOPS_TRY(need_descriptors(kExtension, {param, momentum, velocity, grad}));
  MLUOPS_TRY(check_scalars(step, numbers));
  for (const TensorArgument &tensor : {param, momentum, velocity, grad})
    MLUOPS_TRY(need_rank(kExtension, tensor, 1, "[N]"));
  for (const TensorArgument &tensor : {momentum, velocity, grad})
    MLUOPS_TRY(need_same_dim(kExtension, tensor, 0, param, 0));
  MLUOPS_TRY(need_packed(kExtension, {param, momentum, velocity, grad}));
  const bool is_double = param.desc->dtype == MLUOP_DTYPE_DOUBLE;
  MLUOPS_TRY(need_float({kExtension, is_double}, param));
  for (const TensorArgument &tensor : {momentum, velocity, grad})
    MLUOPS_TRY(need_same_dtype(kExtension, tensor, param));
  MLUOPS_TRY(need_elements(kExtension, param));
  MLUOPS_TRY(need_indexable(kExtension, {param, momentum, velocity, grad}));
  MLUOPS_TRY(need_data(kExtension, {param, momentum, velocity, grad}));
  MLUOPS_TRY(require_no_overlap(kExtension, {param, momentum, velocity}, {grad}));
  numbers.bias1 = 1 - std::pow(numbers.beta1, step);
  numbers.bias2 = 1 - std::pow(numbers.beta2, step);
  const AdamWProblem problem{kExtension,
                             param.desc->count,
                             numbers,
                             is_double,
                             keeps,
                             data_of<void>(param),
                             data_of<void>(momentum),
                             data_of<void>(velocity),
                             grad.data,
                             nullptr,
                             nullptr};
  return launch_adam_w(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpAdamW(mluOpHandle_t handle, mluOpAdamWDescriptor_t adamw_desc,
                                       const mluOpTensorDescriptor_t param_desc, void *param,
                                       const mluOpTensorDescriptor_t paramh_desc, void *param_h,
                                       const mluOpTensorDescriptor_t momentum_desc, void *momentum,
                                       const mluOpTensorDescriptor_t velocity_desc, void *velocity,
                                       const mluOpTensorDescriptor_t grad_desc, void *grad, const float lr,
                                       const float beta1, const float beta2, const float bias1, const float bias2,
                                       const float epsilon) {
  return mluops::guarded("mluOpAdamW", [&] {
    return mluops::adam_w(handle, adamw_desc,
                          {{"param", param_desc, param},
                           {"param_h", paramh_desc, param_h},
                           {"momentum", momentum_desc, momentum},
                           {"velocity", velocity_desc, velocity},
                           {"grad", grad_desc, grad}},
                          {lr, beta1, beta2, epsilon, bias1, bias2, 0, 1});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtAdamW(mluOpHandle_t handle, const int step, const double lr, const double beta1,
                                           const double beta2, const double epsilon, const double weight_decay,
                                           const double grad_scale, const bool need_remove_nan,
                                           const mluOpTensorDescriptor_t param_desc, void *param,
                                           const mluOpTensorDescriptor_t momentum_desc, void *momentum,
                                           const mluOpTensorDescriptor_t velocity_desc, void *velocity,
                                           const mluOpTensorDescriptor_t grad_desc, const void *grad) {
  return mluops::guarded("mluopsExtAdamW", [&] {
    return mluops::adam_w_of(handle, step, {lr, beta1, beta2, epsilon, 1, 1, weight_decay, grad_scale}, need_remove_nan,
                             {"param", param_desc, param}, {"momentum", momentum_desc, momentum},
                             {"velocity", velocity_desc, velocity}, {"grad", grad_desc, grad});
  });
}
