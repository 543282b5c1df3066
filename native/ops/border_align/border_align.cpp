#include "ops/border_align/border_align.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

constexpr const char *kFeatureDims = "[N, H, W, 4C]";
constexpr const char *kBorderDims = "[N, K, 4, C]";

mluOpStatus_t check_feature_map(const char *function, const TensorArgument &features) {
  const long long channels = features.desc->dims[3];
  MLUOPS_REQUIRE(channels % kBorders == 0, MLUOP_STATUS_BAD_PARAM, function,
                 Text::format("%s_desc", features.name).c_str(), "dim 3 = 4C, a multiple of 4",
                 Text::format("%lld", channels));
  MLUOPS_TRY(need_nonzero_dim(function, features, 0, "N"));
  MLUOPS_TRY(need_nonzero_dim(function, features, 3, "4C"));
  MLUOPS_TRY(need_nonzero_dim(function, features, 1, "H"));
  return need_nonzero_dim(function, features, 2, "W");
}

mluOpStatus_t check_pool_size(const char *function, std::int32_t pool_size) {
  MLUOPS_REQUIRE(pool_size > 0, MLUOP_STATUS_BAD_PARAM, function, "pool_size", "at least 1",
                 Text::format("%d", static_cast<int>(pool_size)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_border_shape(const char *function, const TensorArgument &tensor, const TensorArgument &features,
                                 const TensorArgument &boxes) {
  MLUOPS_TRY(need_dim(function, tensor, 0, "N", features.desc->dims[0]));
  MLUOPS_TRY(need_dim(function, tensor, 1, "K", boxes.desc->dims[1]));
  MLUOPS_TRY(need_dim(function, tensor, 2, "number of borders", kBorders));
  return need_dim(function, tensor, 3, "C", features.desc->dims[3] / kBorders);
}

BorderAlignGeometry geometry_of(const TensorArgument &features, const TensorArgument &boxes, std::int32_t pool_size) {
  BorderAlignGeometry geometry;
  geometry.batches = features.desc->dims[0];
  geometry.height = features.desc->dims[1];
  geometry.width = features.desc->dims[2];
  geometry.boxes = boxes.desc->dims[1];
  geometry.channels = features.desc->dims[3] / kBorders;
  geometry.pool_size = pool_size;
  geometry.half = features.desc->dtype == MLUOP_DTYPE_HALF;
  geometry.is_double = features.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

mluOpStatus_t check_forward(const char *function, const TensorArgument &input, const TensorArgument &boxes,
                            std::int32_t pool_size, const TensorArgument &output, const TensorArgument &argmax) {
  MLUOPS_TRY(need_rank(function, input, 4, kFeatureDims));
  MLUOPS_TRY(need_rank(function, boxes, 3, "[N, K, 4]"));
  MLUOPS_TRY(need_rank(function, output, 4, kBorderDims));
  MLUOPS_TRY(need_rank(function, argmax, 4, kBorderDims));
  MLUOPS_TRY(need_packed(function, {input, boxes, output, argmax}));
  MLUOPS_TRY(need_same_dtype(function, boxes, input));
  MLUOPS_TRY(need_float_or_half(function, input));
  MLUOPS_TRY(need_same_dtype(function, output, input));
  MLUOPS_TRY(need_dtype(function, argmax, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_layout(function, input, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(function, output, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(function, argmax, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(check_feature_map(function, input));
  MLUOPS_TRY(need_nonzero_dim(function, boxes, 1, "K"));
  MLUOPS_TRY(need_dim(function, boxes, 2, "x1, y1, x2, y2", 4));
  MLUOPS_TRY(need_same_dim(function, boxes, 0, input, 0));
  MLUOPS_TRY(check_pool_size(function, pool_size));
  MLUOPS_TRY(check_border_shape(function, output, input, boxes));
  MLUOPS_TRY(check_border_shape(function, argmax, input, boxes));
  MLUOPS_TRY(need_indexable(function, {input, boxes, output, argmax}));
  MLUOPS_TRY(need_data(function, {input, boxes, output, argmax}));
  return require_no_overlap(function, {output, argmax}, {input, boxes});
}

mluOpStatus_t border_align_forward(const char *function, mluOpHandle_t handle, const TensorArgument &input,
                                   const TensorArgument &boxes, std::int32_t pool_size, const TensorArgument &output,
                                   const TensorArgument &argmax) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {input, boxes, output, argmax}));
  MLUOPS_TRY(check_forward(function, input, boxes, pool_size, output, argmax));
  BorderAlignForwardProblem problem;
  problem.geometry = geometry_of(input, boxes, pool_size);
  problem.input = input.data;
  problem.box = boxes.data;
  problem.output = const_cast<void *>(output.data);
  problem.argmax = static_cast<std::int32_t *>(const_cast<void *>(argmax.data));
  return launch_border_align_forward(handle, problem);
}

mluOpStatus_t check_backward(const char *function, const TensorArgument &grad_output, const TensorArgument &boxes,
                             const TensorArgument &argmax, std::int32_t pool_size, const TensorArgument &grad_input) {
  MLUOPS_TRY(need_rank(function, grad_output, 4, kBorderDims));
  MLUOPS_TRY(need_rank(function, boxes, 3, "[N, K, 4]"));
  MLUOPS_TRY(need_rank(function, argmax, 4, kBorderDims));
  MLUOPS_TRY(need_rank(function, grad_input, 4, kFeatureDims));
  MLUOPS_TRY(need_packed(function, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(need_float_or_half(function, grad_output));
  MLUOPS_TRY(need_dtype(function, argmax, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(function, boxes, grad_output));
  MLUOPS_TRY(need_same_dtype(function, grad_input, grad_output));
  MLUOPS_TRY(need_layout(function, grad_output, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(function, argmax, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(function, grad_input, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(check_feature_map(function, grad_input));
  MLUOPS_TRY(need_dim(function, boxes, 2, "x1, y1, x2, y2", 4));
  MLUOPS_TRY(need_nonzero_dim(function, boxes, 1, "K"));
  MLUOPS_TRY(check_pool_size(function, pool_size));
  MLUOPS_TRY(check_border_shape(function, grad_output, grad_input, boxes));
  MLUOPS_TRY(need_same_dim(function, boxes, 0, grad_input, 0));
  MLUOPS_TRY(check_border_shape(function, argmax, grad_input, boxes));
  MLUOPS_TRY(need_indexable(function, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(need_data(function, {grad_output, boxes, argmax, grad_input}));
  return require_no_overlap(function, {grad_input}, {grad_output, boxes, argmax});
}

mluOpStatus_t border_align_backward(const char *function, mluOpHandle_t handle, const TensorArgument &grad_output,
                                    const TensorArgument &boxes, const TensorArgument &argmax, std::int32_t pool_size,
                                    const TensorArgument &grad_input) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(check_backward(function, grad_output, boxes, argmax, pool_size, grad_input));
  BorderAlignBackwardProblem problem;
  problem.geometry = geometry_of(grad_input, boxes, pool_size);
  problem.grad_output = grad_output.data;
  problem.box = boxes.data;
  problem.argmax = static_cast<const std::int32_t *>(argmax.data);
  problem.grad_input = const_cast<void *>(grad_input.data);
  return launch_border_align_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const mluOpTensorDescriptor_t boxes_desc,
                                                    const void *boxes, const int32_t pool_size,
                                                    const mluOpTensorDescriptor_t output_desc, void *output,
                                                    const mluOpTensorDescriptor_t argmax_idx_desc, void *argmax_idx) {
  return mluops::guarded("mluOpBorderAlignForward", [&] {
    return mluops::border_align_forward("mluOpBorderAlignForward", handle, {"input", input_desc, input},
                                        {"boxes", boxes_desc, boxes}, pool_size, {"output", output_desc, output},
                                        {"argmax_idx", argmax_idx_desc, argmax_idx});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignBackward(mluOpHandle_t handle,
                                                     const mluOpTensorDescriptor_t grad_output_desc,
                                                     const void *grad_output, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
                                                     const void *argmax_idx, const int32_t pool_size,
                                                     const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluOpBorderAlignBackward", [&] {
    return mluops::border_align_backward("mluOpBorderAlignBackward", handle,
                                         {"grad_output", grad_output_desc, grad_output}, {"boxes", boxes_desc, boxes},
                                         {"argmax_idx", argmax_idx_desc, argmax_idx}, pool_size,
                                         {"grad_input", grad_input_desc, grad_input});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_idx_desc,
    void *argmax_idx) {
  return mluops::guarded("mluopsExtBorderAlignForwardDouble", [&] {
    return mluops::border_align_forward("mluopsExtBorderAlignForwardDouble", handle, {"input", input_desc, input},
                                        {"boxes", boxes_desc, boxes}, pool_size, {"output", output_desc, output},
                                        {"argmax_idx", argmax_idx_desc, argmax_idx});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
    const void *argmax_idx, const int32_t pool_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtBorderAlignBackwardDouble", [&] {
    return mluops::border_align_backward("mluopsExtBorderAlignBackwardDouble", handle,
                                         {"grad_output", grad_output_desc, grad_output}, {"boxes", boxes_desc, boxes},
                                         {"argmax_idx", argmax_idx_desc, argmax_idx}, pool_size,
                                         {"grad_input", grad_input_desc, grad_input});
  });
}
