#include "ops/stack_three_interpolate/stack_three_interpolate.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/stack_three_interpolate.h"

namespace mluops {
namespace {

// `features` are [M, C] and `points` [N, C], or the gradients of these.
struct Tensors {
  TensorArgument features;
  TensorArgument indices;
  TensorArgument weights;
  TensorArgument points;
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.features, 2, "[M, C]"));
  MLUOPS_TRY(need_rank(entry, t.indices, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.weights, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.points, 2, "[N, C]"));
  MLUOPS_TRY(need_dim(entry, t.indices, 1, "number of neighbours", 3));
  MLUOPS_TRY(need_same_shape(entry, t.weights, t.indices));
  MLUOPS_TRY(need_same_dim(entry, t.points, 0, t.indices, 0));
  return need_same_dim(entry, t.points, 1, t.features, 1);
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const Tensors &t, bool forward) {
  const TensorArgument &given = forward ? t.features : t.points, &made = forward ? t.points : t.features;
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {given, t.indices, t.weights, made}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_packed(entry, {given, t.indices, t.weights, made}));
  MLUOPS_TRY(need_real(entry, given));
  MLUOPS_TRY(need_dtype(entry, t.indices, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.weights, made}) MLUOPS_TRY(need_same_dtype(entry, tensor, given));
  for (const TensorArgument &tensor : {given, t.indices, made}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {given, t.indices, t.weights, made}));
  MLUOPS_TRY(need_data(entry, {given, t.indices, t.weights, made}));
  MLUOPS_TRY(require_no_overlap(entry, {made}, {given, t.indices, t.weights}));
  StackThreeInterpolateProblem problem;
  problem.function = entry.function;
  problem.type = given.desc->dtype;
  problem.sources = t.features.desc->dims[0];
  problem.targets = t.points.desc->dims[0];
  problem.channels = t.features.desc->dims[1];
  problem.source = given.data;
  problem.indices = static_cast<const std::int32_t *>(t.indices.data);
  problem.weights = t.weights.data;
  problem.result = const_cast<void *>(made.data);
  return forward ? launch_stack_three_interpolate_forward(handle, problem)
                 : launch_stack_three_interpolate_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtStackThreeInterpolateForward", [&] {
    return mluops::run({"mluopsExtStackThreeInterpolateForward"}, handle,
                       {{"features", features_desc, features},
                        {"indices", indices_desc, indices},
                        {"weights", weights_desc, weights},
                        {"output", output_desc, output}},
                       true);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  return mluops::guarded("mluopsExtStackThreeInterpolateBackward", [&] {
    return mluops::run({"mluopsExtStackThreeInterpolateBackward"}, handle,
                       {{"grad_features", grad_features_desc, grad_features},
                        {"indices", indices_desc, indices},
                        {"weights", weights_desc, weights},
                        {"grad_output", grad_output_desc, grad_output}},
                       false);
  });
}
