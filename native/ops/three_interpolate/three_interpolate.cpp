#include "ops/three_interpolate/three_interpolate.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

// The tensors of one direction: `dense` is features or grad_features [B, C, M], `points` output or grad_output [B, C, N].
struct Tensors {
  TensorArgument dense;
  TensorArgument points;
  TensorArgument indices;
  TensorArgument weights;
};

mluOpStatus_t check_kinds(const char *function, const Tensors &tensors, const TensorArgument &first,
                          const TensorArgument &last) {
  const TensorArgument *in_order[] = {&first, &tensors.indices, &tensors.weights, &last};
  const bool forward = &first == &tensors.dense;
  const char *const names[] = {forward ? "[B, C, M]" : "[B, C, N]", "[B, N, 3]", "[B, N, 3]",
                               forward ? "[B, C, N]" : "[B, C, M]"};
  for (int i = 0; i < 4; ++i) MLUOPS_TRY(need_rank(function, *in_order[i], 3, names[i]));
  for (const TensorArgument *tensor : in_order) MLUOPS_TRY(need_layout(function, *tensor, MLUOP_LAYOUT_ARRAY));
  MLUOPS_TRY(need_same_dtype(function, tensors.weights, first));
  MLUOPS_TRY(need_dtype(function, tensors.indices, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(function, last, tensors.weights));
  return need_float_or_half(function, first);
}

mluOpStatus_t check_shapes(const char *function, const Tensors &tensors, const TensorArgument &first,
                           const TensorArgument &last) {
  MLUOPS_TRY(need_same_dim(function, tensors.indices, 0, first, 0));
  MLUOPS_TRY(need_same_shape(function, tensors.weights, tensors.indices));
  MLUOPS_TRY(need_dim(function, tensors.weights, 2, "number of neighbours", kNeighbours));
  MLUOPS_TRY(need_same_dim(function, last, 0, first, 0));
  MLUOPS_TRY(need_same_dim(function, last, 1, first, 1));
  return need_same_dim(function, tensors.points, 2, tensors.indices, 1);
}

// All checks, in order; `first` and `last` are the dense input and the output in the order of the declaration.
mluOpStatus_t check_call(const char *function, mluOpHandle_t handle, const Tensors &tensors,
                         const TensorArgument &first, const TensorArgument &last) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(check_kinds(function, tensors, first, last));
  MLUOPS_TRY(check_shapes(function, tensors, first, last));
  MLUOPS_TRY(need_packed(function, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(need_indexable(function, {first, tensors.indices, tensors.weights, last}));
  MLUOPS_TRY(need_elements(function, tensors.indices));
  MLUOPS_TRY(need_elements(function, tensors.weights));
  MLUOPS_TRY(need_elements(function, tensors.points));
  MLUOPS_TRY(need_nonzero_dim(function, tensors.dense, 2, "M"));
  MLUOPS_TRY(need_data(function, {first, tensors.indices, tensors.weights, last}));
  return require_no_overlap(function, {last}, {first, tensors.indices, tensors.weights});
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

mluOpStatus_t forward(const char *function, mluOpHandle_t handle, const Tensors &tensors) {
  MLUOPS_TRY(check_call(function, handle, tensors, tensors.dense, tensors.points));
  ThreeInterpolateForwardProblem problem;
  problem.geometry = geometry_of(tensors);
  problem.features = tensors.dense.data;
  problem.indices = static_cast<const std::int32_t *>(tensors.indices.data);
  problem.weights = tensors.weights.data;
  problem.output = const_cast<void *>(tensors.points.data);
  return launch_three_interpolate_forward(handle, problem);
}

mluOpStatus_t backward(const char *function, mluOpHandle_t handle, const Tensors &tensors) {
  MLUOPS_TRY(check_call(function, handle, tensors, tensors.points, tensors.dense));
  ThreeInterpolateBackwardProblem problem;
  problem.geometry = geometry_of(tensors);
  problem.grad_output = tensors.points.data;
  problem.indices = static_cast<const std::int32_t *>(tensors.indices.data);
  problem.weights = tensors.weights.data;
  problem.grad_features = const_cast<void *>(tensors.dense.data);
  return launch_three_interpolate_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpThreeInterpolateForward", [&] {
    return mluops::forward("mluOpThreeInterpolateForward", handle,
                           {{"features", features_desc, features},
                            {"output", output_desc, output},
                            {"indices", indices_desc, indices},
                            {"weights", weights_desc, weights}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  return mluops::guarded("mluOpThreeInterpolateBackward", [&] {
    return mluops::backward("mluOpThreeInterpolateBackward", handle,
                            {{"grad_features", grad_features_desc, grad_features},
                             {"grad_output", grad_output_desc, grad_output},
                             {"indices", indices_desc, indices},
                             {"weights", weights_desc, weights}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtThreeInterpolateForwardDouble", [&] {
    return mluops::forward("mluopsExtThreeInterpolateForwardDouble", handle,
                           {{"features", features_desc, features},
                            {"output", output_desc, output},
                            {"indices", indices_desc, indices},
                            {"weights", weights_desc, weights}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  return mluops::guarded("mluopsExtThreeInterpolateBackwardDouble", [&] {
    return mluops::backward("mluopsExtThreeInterpolateBackwardDouble", handle,
                            {{"grad_features", grad_features_desc, grad_features},
                             {"grad_output", grad_output_desc, grad_output},
                             {"indices", indices_desc, indices},
                             {"weights", weights_desc, weights}});
  });
}
