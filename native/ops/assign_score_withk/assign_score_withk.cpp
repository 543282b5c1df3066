#include "ops/assign_score_withk/assign_score_withk.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/assign_score_withk.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument points;
  TensorArgument centers;
  TensorArgument scores;
  TensorArgument knn_idx;
  TensorArgument output;  // or its gradient
};

mluOpStatus_t check_shapes(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_rank(function, t.points, 4, "[B, N0, M, O]"));
  MLUOPS_TRY(need_rank(function, t.centers, 4, "[B, N0, M, O]"));
  MLUOPS_TRY(need_same_shape(function, t.centers, t.points));
  MLUOPS_TRY(need_rank(function, t.scores, 4, "[B, N1, K, M]"));
  MLUOPS_TRY(need_same_dim(function, t.scores, 0, t.points, 0));
  MLUOPS_TRY(need_same_dim(function, t.scores, 3, t.points, 2));
  MLUOPS_TRY(need_rank(function, t.knn_idx, 3, "[B, N1, K]"));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(function, t.knn_idx, dim, t.scores, dim));
  MLUOPS_TRY(need_rank(function, t.output, 4, "[B, O, N1, K]"));
  MLUOPS_TRY(need_same_dim(function, t.output, 0, t.points, 0));
  MLUOPS_TRY(need_same_dim(function, t.output, 1, t.points, 3));
  MLUOPS_TRY(need_same_dim(function, t.output, 2, t.scores, 1));
  return need_same_dim(function, t.output, 3, t.scores, 2);
}

// All values have the type of the first array of a call.
mluOpStatus_t check_types(const char *function, const Tensors &t, const TensorArgument &first) {
  MLUOPS_TRY(need_real(function, first));
  for (const TensorArgument &tensor : {t.points, t.centers, t.scores, t.output})
    MLUOPS_TRY(need_same_dtype(function, tensor, first));
  return need_dtype(function, t.knn_idx, MLUOP_DTYPE_INT32);
}

AssignScoreShape shape_of(const Tensors &t) {
  AssignScoreShape shape;
  shape.batches = t.points.desc->dims[0];
  shape.points = t.points.desc->dims[1];
  shape.centres = t.scores.desc->dims[1];
  shape.neighbours = t.scores.desc->dims[2];
  shape.scores = t.points.desc->dims[2];
  shape.channels = t.points.desc->dims[3];
  shape.type = t.points.desc->dtype;
  return shape;
}

// Data of tensors without elements is not looked at.
mluOpStatus_t need_contents(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    if (tensor.desc->count > 0) MLUOPS_TRY(need_data(function, {tensor}));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t assign_score_forward(const char *function, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.points, t.centers, t.scores, t.knn_idx, t.output}));
  MLUOPS_TRY(check_shapes(function, t));
  MLUOPS_TRY(need_packed(function, {t.points, t.centers, t.scores, t.knn_idx, t.output}));
  MLUOPS_TRY(check_types(function, t, t.points));
  MLUOPS_TRY(need_indexable(function, {t.points, t.scores, t.knn_idx, t.output}));
  if (t.output.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_contents(function, {t.points, t.centers, t.scores, t.knn_idx, t.output}));
  MLUOPS_TRY(require_no_overlap(function, {t.output}, {t.points, t.centers, t.scores, t.knn_idx}));
  AssignScoreForwardProblem problem;
  problem.function = function;
  problem.shape = shape_of(t);
  problem.points = t.points.data;
  problem.centers = t.centers.data;
  problem.scores = t.scores.data;
  problem.numbers = static_cast<const std::int32_t *>(t.knn_idx.data);
  problem.output = const_cast<void *>(t.output.data);
  return launch_assign_score_forward(handle, problem);
}

struct Gradients {
  TensorArgument points;
  TensorArgument centers;
  TensorArgument scores;
};

mluOpStatus_t check_gradients(const char *function, const Tensors &t, const Gradients &grad) {
  for (const TensorArgument &tensor : {grad.points, grad.centers})
    MLUOPS_TRY(need_rank(function, tensor, 4, "[B, N0, M, O]"));
  MLUOPS_TRY(need_rank(function, grad.scores, 4, "[B, N1, K, M]"));
  MLUOPS_TRY(need_same_shape(function, grad.points, t.points));
  MLUOPS_TRY(need_same_shape(function, grad.centers, t.centers));
  MLUOPS_TRY(need_same_shape(function, grad.scores, t.scores));
  MLUOPS_TRY(need_packed(function, {t.points, t.centers, t.scores, t.knn_idx, t.output}));
  MLUOPS_TRY(need_packed(function, {grad.points, grad.centers, grad.scores}));
  MLUOPS_TRY(check_types(function, t, t.output));
  for (const TensorArgument &tensor : {grad.points, grad.centers, grad.scores})
    MLUOPS_TRY(need_same_dtype(function, tensor, t.output));
  return need_indexable(function, {t.points, t.scores, t.knn_idx, t.output});
}

mluOpStatus_t assign_score_backward(const char *function, mluOpHandle_t handle, const Tensors &t,
                                    const Gradients &grad) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(
      function, {t.output, t.points, t.centers, t.scores, t.knn_idx, grad.points, grad.centers, grad.scores}));
  MLUOPS_TRY(check_shapes(function, t));
  MLUOPS_TRY(check_gradients(function, t, grad));
  if (grad.points.desc->count == 0 && grad.scores.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_contents(
      function, {t.output, t.points, t.centers, t.scores, t.knn_idx, grad.points, grad.centers, grad.scores}));
  MLUOPS_TRY(require_no_overlap(function, {grad.points, grad.centers, grad.scores},
                                {t.output, t.points, t.centers, t.scores, t.knn_idx}));
  AssignScoreBackwardProblem problem;
  problem.function = function;
  problem.shape = shape_of(t);
  problem.grad_output = t.output.data;
  problem.points = t.points.data;
  problem.centers = t.centers.data;
  problem.scores = t.scores.data;
  problem.numbers = static_cast<const std::int32_t *>(t.knn_idx.data);
  problem.grad_points = const_cast<void *>(grad.points.data);
  problem.grad_centers = const_cast<void *>(grad.centers.data);
  problem.grad_scores = const_cast<void *>(grad.scores.data);
  return launch_assign_score_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtAssignScoreWithkForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t centers_desc, const void *centers, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t knn_idx_desc, const void *knn_idx,
    const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtAssignScoreWithkForward", [&] {
    return mluops::assign_score_forward("mluopsExtAssignScoreWithkForward", handle,
                                        {{"points", points_desc, points},
                                         {"centers", centers_desc, centers},
                                         {"scores", scores_desc, scores},
                                         {"knn_idx", knn_idx_desc, knn_idx},
                                         {"output", output_desc, output}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtAssignScoreWithkBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t points_desc, const void *points, const mluOpTensorDescriptor_t centers_desc,
    const void *centers, const mluOpTensorDescriptor_t scores_desc, const void *scores,
    const mluOpTensorDescriptor_t knn_idx_desc, const void *knn_idx, const mluOpTensorDescriptor_t grad_points_desc,
    void *grad_points, const mluOpTensorDescriptor_t grad_centers_desc, void *grad_centers,
    const mluOpTensorDescriptor_t grad_scores_desc, void *grad_scores) {
  return mluops::guarded("mluopsExtAssignScoreWithkBackward", [&] {
    return mluops::assign_score_backward("mluopsExtAssignScoreWithkBackward", handle,
                                         {{"points", points_desc, points},
                                          {"centers", centers_desc, centers},
                                          {"scores", scores_desc, scores},
                                          {"knn_idx", knn_idx_desc, knn_idx},
                                          {"grad_output", grad_output_desc, grad_output}},
                                         {{"grad_points", grad_points_desc, grad_points},
                                          {"grad_centers", grad_centers_desc, grad_centers},
                                          {"grad_scores", grad_scores_desc, grad_scores}});
  });
}
