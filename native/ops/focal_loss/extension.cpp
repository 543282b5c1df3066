#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/focal_loss.h"
#include "ops/focal_loss/focal_loss.h"

namespace mluops {
namespace {

// `grad` is that by the loss for gradients; else its descriptor is NULL.
struct Tensors {
  TensorArgument grad;
  TensorArgument input;
  TensorArgument target;
  TensorArgument output;
  bool gradient;
};

// Of softmaxes, losses are those of rows.
mluOpStatus_t check(const char *function, mluOpHandle_t handle, const Tensors &t, bool of_rows) {
  MLUOPS_TRY(need_handle(function, handle));
  if (t.gradient) MLUOPS_TRY(need_descriptors(function, {t.grad}));
  MLUOPS_TRY(need_descriptors(function, {t.input, t.target, t.output}));
  MLUOPS_TRY(need_rank(function, t.input, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(function, t.target, 1, "[N]"));
  MLUOPS_TRY(need_same_dim(function, t.target, 0, t.input, 0));
  const TensorArgument &loss = t.gradient ? t.grad : t.output;
  MLUOPS_TRY(need_rank(function, loss, of_rows ? 1 : 2, of_rows ? "[N]" : "[N, C]"));
  MLUOPS_TRY(need_same_dim(function, loss, 0, t.input, 0));
  if (!of_rows) MLUOPS_TRY(need_same_shape(function, loss, t.input));
  if (t.gradient) MLUOPS_TRY(need_same_shape(function, t.output, t.input));
  MLUOPS_TRY(need_packed(function, {t.input, t.target, t.output}));
  if (t.gradient) MLUOPS_TRY(need_packed(function, {t.grad}));
  const TensorArgument &first = t.gradient ? t.grad : t.input;
  MLUOPS_TRY(need_real(function, first));
  if (t.gradient) MLUOPS_TRY(need_same_dtype(function, t.input, first));
  MLUOPS_TRY(need_dtype(function, t.target, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(function, t.output, first));
  return need_indexable(function, {t.input});
}

mluOpStatus_t check_memory(const char *function, const Tensors &t) {
  if (t.gradient) MLUOPS_TRY(need_data(function, {t.grad}));
  MLUOPS_TRY(need_data(function, {t.input, t.target, t.output}));
  if (t.gradient) MLUOPS_TRY(require_no_overlap(function, {t.output}, {t.grad}));
  return require_no_overlap(function, {t.output}, {t.input, t.target});
}

mluOpStatus_t sigmoid(const char *function, mluOpHandle_t handle, double alpha, double gamma, const Tensors &t) {
  MLUOPS_TRY(check(function, handle, t, false));
  if (t.input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(function, t));
  SigmoidFocalLossProblem problem;
  problem.function = function;
  problem.type = t.input.desc->dtype;
  problem.gradient = t.gradient;
  problem.alpha = alpha;
  problem.gamma = gamma;
  problem.rows = t.input.desc->dims[0];
  problem.columns = t.input.desc->dims[1];
  problem.grad_output = t.grad.data;
  problem.input = t.input.data;
  problem.target = static_cast<const std::int32_t *>(t.target.data);
  problem.weight = nullptr;
  problem.output = const_cast<void *>(t.output.data);
  return launch_sigmoid_focal_loss(handle, problem);
}

mluOpStatus_t softmax(const char *function, mluOpHandle_t handle, bool of_probabilities, double alpha, double gamma,
                      const Tensors &t) {
  MLUOPS_TRY(check(function, handle, t, true));
  MLUOPS_TRY(need_nonzero_dim(function, t.input, 1, "C"));
  if (t.input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(function, t));
  SoftmaxFocalLossProblem problem;
  problem.function = function;
  problem.type = t.input.desc->dtype;
  problem.gradient = t.gradient;
  problem.of_probabilities = of_probabilities;
  problem.alpha = alpha;
  problem.gamma = gamma;
  problem.rows = t.input.desc->dims[0];
  problem.columns = t.input.desc->dims[1];
  problem.grad_output = t.grad.data;
  problem.input = t.input.data;
  problem.target = static_cast<const std::int32_t *>(t.target.data);
  problem.output = const_cast<void *>(t.output.data);
  return launch_softmax_focal_loss(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtSigmoidFocalLossForward(
    mluOpHandle_t handle, const double alpha, const double gamma, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t target_desc, const void *target,
    const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtSigmoidFocalLossForward", [&] {
    return mluops::sigmoid("mluopsExtSigmoidFocalLossForward", handle, alpha, gamma,
                           {{"grad_output", nullptr, nullptr},
                            {"input", input_desc, input},
                            {"target", target_desc, target},
                            {"output", output_desc, output},
                            false});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSigmoidFocalLossBackward(
    mluOpHandle_t handle, const double alpha, const double gamma, const mluOpTensorDescriptor_t grad_output_desc,
    const void *grad_output, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t target_desc, const void *target, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input) {
  return mluops::guarded("mluopsExtSigmoidFocalLossBackward", [&] {
    return mluops::sigmoid("mluopsExtSigmoidFocalLossBackward", handle, alpha, gamma,
                           {{"grad_output", grad_output_desc, grad_output},
                            {"input", input_desc, input},
                            {"target", target_desc, target},
                            {"grad_input", grad_input_desc, grad_input},
                            true});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSoftmaxFocalLossForward(
    mluOpHandle_t handle, const bool of_probabilities, const double alpha, const double gamma,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtSoftmaxFocalLossForward", [&] {
    return mluops::softmax("mluopsExtSoftmaxFocalLossForward", handle, of_probabilities, alpha, gamma,
                           {{"grad_output", nullptr, nullptr},
                            {"input", input_desc, input},
                            {"target", target_desc, target},
                            {"output", output_desc, output},
                            false});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSoftmaxFocalLossBackward(
    mluOpHandle_t handle, const bool of_probabilities, const double alpha, const double gamma,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t target_desc, const void *target,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtSoftmaxFocalLossBackward", [&] {
    return mluops::softmax("mluopsExtSoftmaxFocalLossBackward", handle, of_probabilities, alpha, gamma,
                           {{"grad_output", grad_output_desc, grad_output},
                            {"input", input_desc, input},
                            {"target", target_desc, target},
                            {"grad_input", grad_input_desc, grad_input},
                            true});
  });
}
