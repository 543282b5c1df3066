#include "ops/focal_loss/focal_loss.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument input;
  TensorArgument target;
  TensorArgument weight;
  TensorArgument output;

  bool weighted() const { return weight.desc != nullptr && weight.desc->count != 0; }
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.input, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(entry, t.target, 1, "[N]"));
  MLUOPS_TRY(need_same_dim(entry, t.target, 0, t.input, 0));
  MLUOPS_TRY(need_rank(entry, t.output, 2, "[N, C]"));
  MLUOPS_TRY(need_same_shape(entry, t.output, t.input));
  MLUOPS_TRY(need_float_or_half(entry, t.input));
  MLUOPS_TRY(need_dtype(entry, t.target, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(entry, t.output, t.input));
  if (!t.weighted()) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_same_dtype(entry, t.weight, t.input));
  MLUOPS_TRY(need_rank(entry, t.weight, 1, "[C]"));
  return need_same_dim(entry, t.weight, 0, t.input, 1);
}

// Where production tells of strides and sizes as it does of shapes.
mluOpStatus_t as_bad_param(mluOpStatus_t status) {
  return status == MLUOP_STATUS_SUCCESS ? status : MLUOP_STATUS_BAD_PARAM;
}

mluOpStatus_t check_modes(const Entry &entry, mluOpComputationPreference_t prefer, bool holds, const char *expected,
                          mluOpLossReduction_t reduction) {
  MLUOPS_REQUIRE(holds, MLUOP_STATUS_NOT_SUPPORTED, entry, "prefer", expected,
                 Text::format("%d", static_cast<int>(prefer)));
  MLUOPS_REQUIRE(reduction == MLUOP_LOSS_REDUCTION_NONE, MLUOP_STATUS_NOT_SUPPORTED, entry, "reduction", "0 (none)",
                 Text::format("%d", static_cast<int>(reduction)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_overlaps(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(require_no_overlap(entry, {t.output}, {t.input, t.target}));
  return t.weighted() ? require_no_overlap(entry, {t.output}, {t.weight}) : MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t launch(const Entry &entry, mluOpHandle_t handle, const Tensors &t, bool gradient, double alpha,
                     double gamma) {
  SigmoidFocalLossProblem problem;
  problem.function = entry.function;
  problem.type = t.input.desc->dtype;
  problem.gradient = gradient;
  problem.alpha = alpha;
  problem.gamma = gamma;
  problem.rows = t.input.desc->dims[0];
  problem.columns = t.input.desc->dims[1];
  problem.grad_output = nullptr;
  problem.input = t.input.data;
  problem.target = static_cast<const std::int32_t *>(t.target.data);
  problem.weight = t.weighted() ? t.weight.data : nullptr;
  problem.output = const_cast<void *>(t.output.data);
  return launch_sigmoid_focal_loss(handle, problem);
}

}  // namespace

mluOpStatus_t focal_loss_sigmoid_forward(const Entry &entry, mluOpHandle_t handle, mluOpComputationPreference_t prefer,
                                         mluOpLossReduction_t reduction, const TensorArgument &input,
                                         const TensorArgument &target, const TensorArgument &weight, double alpha,
                                         double gamma, const TensorArgument &output) {
  const Tensors t{input, target, weight, output};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, target, output}));
  MLUOPS_TRY(need_descriptors_or_null(entry, {weight}));
  const bool known = prefer == MLUOP_COMPUTATION_FAST || prefer == MLUOP_COMPUTATION_HIGH_PRECISION;
  MLUOPS_TRY(check_modes(entry, prefer, known, "0 (fast) or 1 (high precision)", reduction));
  MLUOPS_REQUIRE(!(gamma < 0), MLUOP_STATUS_NOT_SUPPORTED, entry, "gamma", "at least 0", Text::format("%g", gamma));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(as_bad_param(need_indexable(entry, {input})));
  MLUOPS_TRY(need_packed(entry, {input, target, output}));
  if (t.weighted()) MLUOPS_TRY(need_packed(entry, {weight}));
  if (input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  if (t.weighted()) MLUOPS_TRY(need_data(entry, {weight}));
  MLUOPS_TRY(need_data(entry, {input, target, output}));
  MLUOPS_TRY(check_overlaps(entry, t));
  return launch(entry, handle, t, false, alpha, gamma);
}

mluOpStatus_t focal_loss_sigmoid_backward(const Entry &entry, mluOpHandle_t handle, mluOpComputationPreference_t prefer,
                                          mluOpLossReduction_t reduction, const TensorArgument &input,
                                          const TensorArgument &target, const TensorArgument &weight, double alpha,
                                          double gamma, const TensorArgument &grad_input) {
  constexpr double kMostGamma = 10000;
  const Tensors t{input, target, weight, grad_input};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, target, grad_input}));
  MLUOPS_TRY(need_descriptors_or_null(entry, {weight}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(as_bad_param(need_indexable(entry, {input})));
  MLUOPS_TRY(as_bad_param(need_packed(entry, {input, target, grad_input})));
  if (t.weighted()) MLUOPS_TRY(as_bad_param(need_packed(entry, {weight})));
  const bool precise = prefer == MLUOP_COMPUTATION_HIGH_PRECISION;
  MLUOPS_TRY(check_modes(entry, prefer, precise, "1 (high precision)", reduction));
  MLUOPS_REQUIRE(gamma >= 0 && gamma <= kMostGamma, MLUOP_STATUS_NOT_SUPPORTED, entry, "gamma", "0 to 10000",
                 Text::format("%g", gamma));
  if (t.weighted()) MLUOPS_TRY(need_data(entry, {weight}));
  if (input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {input, target, grad_input}));
  MLUOPS_TRY(check_overlaps(entry, t));
  return launch(entry, handle, t, true, alpha, gamma);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(FocalLossSigmoidForward);
MLUOPS_IN_DOUBLE(FocalLossSigmoidBackward);

mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidForward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpFocalLossSigmoidForward", [&] {
    return mluops::focal_loss_sigmoid_forward({"mluOpFocalLossSigmoidForward"}, handle, prefer, reduction,
                                              {"input", input_desc, input}, {"target", target_desc, target},
                                              {"weight", weight_desc, weight}, alpha, gamma,
                                              {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidBackward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluOpFocalLossSigmoidBackward", [&] {
    return mluops::focal_loss_sigmoid_backward({"mluOpFocalLossSigmoidBackward"}, handle, prefer, reduction,
                                               {"input", input_desc, input}, {"target", target_desc, target},
                                               {"weight", weight_desc, weight}, alpha, gamma,
                                               {"grad_input", grad_input_desc, grad_input});
  });
}
