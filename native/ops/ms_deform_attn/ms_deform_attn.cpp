#include "ops/ms_deform_attn/ms_deform_attn.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// The tensors of both directions. `output` is [B, Q, M, C]: the result of forward, and the gradient
// passed to backward.
struct Tensors {
  TensorArgument value;
  TensorArgument shapes;
  TensorArgument starts;
  TensorArgument locations;
  TensorArgument weights;
  TensorArgument output;
};

struct Gradients {
  TensorArgument value;
  TensorArgument locations;
  TensorArgument weights;
};

constexpr const char *kValue = "[B, K, M, C]";
constexpr const char *kLocations = "[B, Q, M, L, P, 2]";
constexpr const char *kWeights = "[B, Q, M, L, P]";
constexpr const char *kOutput = "[B, Q, M, C]";

// Both directions compare dims of their tensors pair by pair, each in its own order.
struct SameDim {
  const TensorArgument &tensor;
  int dim;
  const TensorArgument &other;
  int other_dim;
};

mluOpStatus_t need_same_dims(const Entry &entry, std::initializer_list<SameDim> pairs) {
  for (const SameDim &pair : pairs) MLUOPS_TRY(need_same_dim(entry, pair.tensor, pair.dim, pair.other, pair.other_dim));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_ranks(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.value, 4, kValue));
  MLUOPS_TRY(need_rank(entry, t.shapes, 2, "[L, 2]"));
  MLUOPS_TRY(need_rank(entry, t.starts, 1, "[L]"));
  MLUOPS_TRY(need_rank(entry, t.locations, 6, kLocations));
  MLUOPS_TRY(need_rank(entry, t.weights, 5, kWeights));
  return need_rank(entry, t.output, 4, kOutput);
}

mluOpStatus_t check_forward_dims(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_dim(entry, t.shapes, 1, "height and width", 2));
  MLUOPS_TRY(need_dim(entry, t.locations, 5, "x and y", 2));
  return need_same_dims(entry, {{t.value, 0, t.output, 0},
                                {t.locations, 0, t.output, 0},
                                {t.weights, 0, t.output, 0},
                                {t.value, 2, t.output, 2},
                                {t.locations, 2, t.output, 2},
                                {t.weights, 2, t.output, 2},
                                {t.value, 3, t.output, 3},
                                {t.starts, 0, t.shapes, 0},
                                {t.locations, 3, t.shapes, 0},
                                {t.weights, 3, t.shapes, 0},
                                {t.locations, 1, t.output, 1},
                                {t.weights, 1, t.output, 1},
                                {t.locations, 4, t.weights, 4}});
}

mluOpStatus_t check_backward_dims(const Entry &entry, const Tensors &t, const Gradients &grad) {
  MLUOPS_TRY(need_same_shape(entry, grad.value, t.value));
  MLUOPS_TRY(need_same_shape(entry, grad.locations, t.locations));
  MLUOPS_TRY(need_same_shape(entry, grad.weights, t.weights));
  MLUOPS_TRY(
      need_same_dims(entry, {{t.value, 0, t.weights, 0}, {t.value, 2, t.weights, 2}, {t.shapes, 0, t.weights, 3}}));
  MLUOPS_TRY(need_dim(entry, t.shapes, 1, "height and width", 2));
  MLUOPS_TRY(need_same_dim(entry, t.starts, 0, t.weights, 3));
  for (int dim = 0; dim < 5; ++dim) MLUOPS_TRY(need_same_dim(entry, t.locations, dim, t.weights, dim));
  MLUOPS_TRY(need_dim(entry, t.locations, 5, "x and y", 2));
  return need_same_dims(entry, {{t.output, 0, t.weights, 0},
                                {t.output, 1, t.weights, 1},
                                {t.output, 2, t.weights, 2},
                                {t.output, 3, t.value, 3}});
}

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_float(entry, t.value));
  MLUOPS_TRY(need_dtype(entry, t.shapes, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_dtype(entry, t.starts, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.locations, t.weights, t.output}) MLUOPS_TRY(need_float(entry, tensor));
  return MLUOP_STATUS_SUCCESS;
}

// Batches are not processed in steps here, but a step that does not divide their number is refused.
mluOpStatus_t check_step(const Entry &entry, std::int64_t batches, int step) {
  const std::int64_t used = batches < step ? batches : step;
  MLUOPS_REQUIRE(used > 0 && batches % used == 0, MLUOP_STATUS_BAD_PARAM, entry, "im2col_step",
                 Text::format("positive, and a divisor of B=%lld or more than it", static_cast<long long>(batches)),
                 Text::format("%d", step));
  return MLUOP_STATUS_SUCCESS;
}

MsDeformAttnGeometry geometry_of(const Tensors &t) {
  MsDeformAttnGeometry geometry;
  geometry.batches = t.value.desc->dims[0];
  geometry.keys = t.value.desc->dims[1];
  geometry.heads = t.value.desc->dims[2];
  geometry.channels = t.value.desc->dims[3];
  geometry.queries = t.weights.desc->dims[1];
  geometry.levels = t.weights.desc->dims[3];
  geometry.points = t.weights.desc->dims[4];
  geometry.is_double = t.value.desc->dtype == MLUOP_DTYPE_DOUBLE;
  geometry.nothing_sampled = false;
  return geometry;
}

const float *floats(const TensorArgument &tensor) { return static_cast<const float *>(tensor.data); }
float *result(const TensorArgument &tensor) { return static_cast<float *>(const_cast<void *>(tensor.data)); }

template <typename Problem>
void set_inputs(Problem &problem, const Tensors &t) {
  problem.geometry = geometry_of(t);
  problem.levels.shapes = static_cast<const std::int32_t *>(t.shapes.data);
  problem.levels.starts = static_cast<const std::int32_t *>(t.starts.data);
  problem.levels.shapes_name = t.shapes.name;
  problem.levels.starts_name = t.starts.name;
  problem.value = floats(t.value);
  problem.locations = floats(t.locations);
  problem.weights = floats(t.weights);
}

// `*done` is set if there is nothing to compute.
mluOpStatus_t check_backward_data(const Entry &entry, const Tensors &t, const Gradients &grad, bool *done) {
  const bool levels = t.starts.desc->count > 0;
  const bool keys = t.value.desc->count > 0;
  const bool points = t.weights.desc->count > 0;
  *done = !levels || (!keys && !points);
  if (*done) return MLUOP_STATUS_SUCCESS;
  if (!points) {
    MLUOPS_TRY(need_data(entry, {grad.value}));
  } else if (!keys) {
    MLUOPS_TRY(need_data(entry, {grad.locations, grad.weights}));
  } else {
    MLUOPS_TRY(need_data(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output, grad.value,
                                 grad.locations, grad.weights}));
  }
  return require_no_overlap(entry, {grad.value, grad.locations, grad.weights},
                            {t.value, t.shapes, t.starts, t.locations, t.weights, t.output});
}

}  // namespace

mluOpStatus_t ms_deform_attn_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &value,
                                     const TensorArgument &shapes, const TensorArgument &starts,
                                     const TensorArgument &locations, const TensorArgument &weights, int step,
                                     const TensorArgument &output) {
  const Tensors t{value, shapes, starts, locations, weights, output};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output}));
  MLUOPS_TRY(check_ranks(entry, t));
  MLUOPS_TRY(check_forward_dims(entry, t));
  MLUOPS_TRY(need_packed(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(need_indexable(entry, {t.value, t.locations, t.output}));
  MLUOPS_TRY(need_elements(entry, t.output));

  MsDeformAttnForwardProblem problem;
  problem.function = entry.function;
  set_inputs(problem, t);
  problem.output = result(t.output);
  problem.geometry.nothing_sampled = problem.geometry.levels == 0 || problem.geometry.points == 0;
  if (problem.geometry.nothing_sampled) {
    MLUOPS_TRY(need_data(entry, {t.output}));
  } else {
    MLUOPS_TRY(check_step(entry, problem.geometry.batches, step));
    MLUOPS_TRY(need_data(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output}));
  }
  MLUOPS_TRY(require_no_overlap(entry, {t.output}, {t.value, t.shapes, t.starts, t.locations, t.weights}));
  return launch_ms_deform_attn_forward(handle, problem);
}

mluOpStatus_t ms_deform_attn_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &value,
                                      const TensorArgument &shapes, const TensorArgument &starts,
                                      const TensorArgument &locations, const TensorArgument &weights,
                                      const TensorArgument &output, std::int32_t step, const TensorArgument &grad_value,
                                      const TensorArgument &grad_locations, const TensorArgument &grad_weights) {
  const Tensors t{value, shapes, starts, locations, weights, output};
  const Gradients grad{grad_value, grad_locations, grad_weights};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output, grad.value,
                                      grad.locations, grad.weights}));
  MLUOPS_TRY(check_ranks(entry, t));
  MLUOPS_TRY(need_rank(entry, grad.value, 4, kValue));
  MLUOPS_TRY(need_rank(entry, grad.locations, 6, kLocations));
  MLUOPS_TRY(need_rank(entry, grad.weights, 5, kWeights));
  MLUOPS_TRY(need_packed(entry, {t.value, t.shapes, t.starts, t.locations, t.weights, t.output, grad.value,
                                 grad.locations, grad.weights}));
  MLUOPS_TRY(check_types(entry, t));
  for (const TensorArgument &tensor : {grad.value, grad.locations, grad.weights}) MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(check_step(entry, t.weights.desc->dims[0], step));
  MLUOPS_TRY(check_backward_dims(entry, t, grad));
  MLUOPS_TRY(need_indexable(entry, {t.value, t.locations}));
  MLUOPS_TRY(need_elements(entry, t.output));
  bool done = false;
  MLUOPS_TRY(check_backward_data(entry, t, grad, &done));
  if (done) return MLUOP_STATUS_SUCCESS;

  MsDeformAttnBackwardProblem problem;
  problem.function = entry.function;
  set_inputs(problem, t);
  problem.geometry.nothing_sampled = problem.geometry.keys == 0 || problem.geometry.points == 0;
  problem.grad_output = floats(t.output);
  problem.grad_value = result(grad.value);
  problem.grad_locations = result(grad.locations);
  problem.grad_weights = result(grad.weights);
  return launch_ms_deform_attn_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(MsDeformAttnForward);
MLUOPS_IN_DOUBLE(MsDeformAttnBackward);

mluOpStatus_t MLUOP_WIN_API mluOpMsDeformAttnForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void *data_value,
    const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void *data_spatial_shapes,
    const mluOpTensorDescriptor_t data_level_start_index_desc, const void *data_level_start_index,
    const mluOpTensorDescriptor_t data_sampling_loc_desc, const void *data_sampling_loc,
    const mluOpTensorDescriptor_t data_attn_weight_desc, const void *data_attn_weight, const int im2col_step,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col) {
  return mluops::guarded("mluOpMsDeformAttnForward", [&] {
    return mluops::ms_deform_attn_forward(
        {"mluOpMsDeformAttnForward"}, handle, {"data_value", data_value_desc, data_value},
        {"data_spatial_shapes", data_spatial_shapes_desc, data_spatial_shapes},
        {"data_level_start_index", data_level_start_index_desc, data_level_start_index},
        {"data_sampling_loc", data_sampling_loc_desc, data_sampling_loc},
        {"data_attn_weight", data_attn_weight_desc, data_attn_weight}, im2col_step,
        {"data_col", data_col_desc, data_col});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMsDeformAttnBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc, const void *value,
    const mluOpTensorDescriptor_t spatial_shapes_desc, const void *spatial_shapes,
    const mluOpTensorDescriptor_t level_start_index_desc, const void *level_start_index,
    const mluOpTensorDescriptor_t sampling_loc_desc, const void *sampling_loc,
    const mluOpTensorDescriptor_t attn_weight_desc, const void *attn_weight,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int32_t im2col_step,
    const mluOpTensorDescriptor_t grad_value_desc, void *grad_value,
    const mluOpTensorDescriptor_t grad_sampling_loc_desc, void *grad_sampling_loc,
    const mluOpTensorDescriptor_t grad_attn_weight_desc, void *grad_attn_weight) {
  return mluops::guarded("mluOpMsDeformAttnBackward", [&] {
    return mluops::ms_deform_attn_backward(
        {"mluOpMsDeformAttnBackward"}, handle, {"value", value_desc, value},
        {"spatial_shapes", spatial_shapes_desc, spatial_shapes},
        {"level_start_index", level_start_index_desc, level_start_index},
        {"sampling_loc", sampling_loc_desc, sampling_loc}, {"attn_weight", attn_weight_desc, attn_weight},
        {"grad_output", grad_output_desc, grad_output}, im2col_step, {"grad_value", grad_value_desc, grad_value},
        {"grad_sampling_loc", grad_sampling_loc_desc, grad_sampling_loc},
        {"grad_attn_weight", grad_attn_weight_desc, grad_attn_weight});
  });
}
