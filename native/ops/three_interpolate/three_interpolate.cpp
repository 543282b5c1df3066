#include "ops/three_interpolate/three_interpolate.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// The tensors of one direction: `dense` is features or grad_features [B, C, M], `points` output or
// grad_output [B, C, N].
struct Tensors {
  TensorArgument dense;
  TensorArgument points;
  TensorArgument indices;
  TensorArgument weights;
};

mluOpStatus_t check_kinds(const Entry &entry, const Tensors &tensors, const TensorArgument &first,
                          const TensorArgument &last) {
  const TensorArgument *in_order[] = {&first, &tensors.indices, &tensors.weights, &last};
  const bool forward = &first == &tensors.dense;
  const char *const names[] = {forward ? "[B, C, M]" : "[B, C, N]", "[B, N, 3]", "[B, N, 3]",
                               forward ? "[B, C, N]" : "[B, C, M]"};
  for (int i = 0; i < 4; ++i) MLUOPS_TRY(need_rank(entry, *in_order[i], 3, names[i]));
  for (const TensorArgument *tensor : in_order) MLUOPS_TRY(need_layout(entry, *tensor, MLUOP_LAYOUT_ARRAY));
  MLUOPS_TRY(need_same_dtype(entry, tensors.weights, first));
  MLUOPS_TRY(need_dtype(entry, tensors.indices, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(entry, last, tensors.weights));
  return need_float_or_half(entry, first);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &tensors, const TensorArgument &first,
                           const TensorArgument &last) {
  MLUOPS_TRY(need_same_dim(entry, tensors.indices, 0, first, 0));
  MLUOPS_TRY(need_same_shape(entry, tensors.weights, tensors.indices));
  MLUOPS_TRY(need_dim(entry, tensors.weights, 2, "number of neighbours", kNeighbours));
  MLUOPS_TRY(need_same_dim(entry, last, 0, first, 0));
  MLUOPS_TRY(need_same_dim(entry, last, 1, first, 1));
  return need_same_dim(entry, tensors.points, 2, tensors.indices, 1);
}

// All checks, in order; `first` and `last` are the dense input and the output in the order of the
// declaration.
mluOpStatus_t check_call(const Entry &entry, mluOpHandle_t handle, const Tensors &tensors, const TensorArgument &first,
                         const TensorArgument &last) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(check_kinds(entry, tensors, first, last));
  MLUOPS_TRY(check_shapes(entry, tensors, first, last));
  MLUOPS_TRY(need_packed(entry, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(need_indexable(entry, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(need_elements(entry, tensors.indices));
  MLUOPS_TRY(need_elements(entry, tensors.weights));
  MLUOPS_TRY(need_elements(entry, tensors.points));
  MLUOPS_TRY(need_nonzero_dim(entry, tensors.dense, 2, "M"));
  MLUOPS_TRY(need_data(entry, {first, tensors.indices, tensors.weights, last}));
  return require_no_overlap(entry, {last}, {first, tensors.indices, tensors.weights});
}

ThreeInterpolateGeometry geometry_of(const Tensors &tensors) {
  ThreeInterpolateGeometry geometry;
  geometry.batches = tensors.dense.desc->dims[0];
  geometry.channels = tensors.dense.desc->dims[1];
  geometry.sources = tensors.dense.desc->dims[2];
  geometry.targets = tensors.points.desc->dims[2];
  geometry.half = tensors.dense.desc->dtype == MLUOP_DTYPE_HALF;
  geometry.is_double = tensors.dense.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

}  // namespace

mluOpStatus_t three_interpolate_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &features,
                                        const TensorArgument &indices, const TensorArgument &weights,
                                        const TensorArgument &output) {
  const Tensors tensors{features, output, indices, weights};
  MLUOPS_TRY(check_call(entry, handle, tensors, tensors.dense, tensors.points));
  ThreeInterpolateForwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(tensors);
  problem.features = tensors.dense.data;
  problem.indices = static_cast<const std::int32_t *>(tensors.indices.data);
  problem.weights = tensors.weights.data;
  problem.output = const_cast<void *>(tensors.points.data);
  return launch_three_interpolate_forward(handle, problem);
}

mluOpStatus_t three_interpolate_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                                         const TensorArgument &indices, const TensorArgument &weights,
                                         const TensorArgument &grad_features) {
  const Tensors tensors{grad_features, grad_output, indices, weights};
  MLUOPS_TRY(check_call(entry, handle, tensors, tensors.points, tensors.dense));
  ThreeInterpolateBackwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(tensors);
  problem.grad_output = tensors.points.data;
  problem.indices = static_cast<const std::int32_t *>(tensors.indices.data);
  problem.weights = tensors.weights.data;
  problem.grad_features = const_cast<void *>(tensors.dense.data);
  return launch_three_interpolate_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(ThreeInterpolateForward);
MLUOPS_IN_DOUBLE(ThreeInterpolateBackward);

mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpThreeInterpolateForward", [&] {
    return mluops::three_interpolate_forward({"mluOpThreeInterpolateForward"}, handle,
                                             {"features", features_desc, features}, {"indices", indices_desc, indices},
                                             {"weights", weights_desc, weights}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  return mluops::guarded("mluOpThreeInterpolateBackward", [&] {
    return mluops::three_interpolate_backward({"mluOpThreeInterpolateBackward"}, handle,
                                              {"grad_output", grad_output_desc, grad_output},
                                              {"indices", indices_desc, indices}, {"weights", weights_desc, weights},
                                              {"grad_features", grad_features_desc, grad_features});
  });
}
