#include "ops/border_align/border_align.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

constexpr const char *kFeatureDims = "[N, H, W, 4C]";
constexpr const char *kBorderDims = "[N, K, 4, C]";

mluOpStatus_t check_feature_map(const Entry &entry, const TensorArgument &features) {
  const long long channels = features.desc->dims[3];
  MLUOPS_REQUIRE(channels % kBorders == 0, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", features.name).c_str(), "dim 3 = 4C, a multiple of 4",
                 Text::format("%lld", channels));
  MLUOPS_TRY(need_nonzero_dim(entry, features, 0, "N"));
  MLUOPS_TRY(need_nonzero_dim(entry, features, 3, "4C"));
  MLUOPS_TRY(need_nonzero_dim(entry, features, 1, "H"));
  return need_nonzero_dim(entry, features, 2, "W");
}

mluOpStatus_t check_pool_size(const Entry &entry, std::int32_t pool_size) {
  MLUOPS_REQUIRE(pool_size > 0, MLUOP_STATUS_BAD_PARAM, entry, "pool_size", "at least 1",
                 Text::format("%d", static_cast<int>(pool_size)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_border_shape(const Entry &entry, const TensorArgument &tensor, const TensorArgument &features,
                                 const TensorArgument &boxes) {
  MLUOPS_TRY(need_dim(entry, tensor, 0, "N", features.desc->dims[0]));
  MLUOPS_TRY(need_dim(entry, tensor, 1, "K", boxes.desc->dims[1]));
  MLUOPS_TRY(need_dim(entry, tensor, 2, "number of borders", kBorders));
  return need_dim(entry, tensor, 3, "C", features.desc->dims[3] / kBorders);
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

mluOpStatus_t check_forward(const Entry &entry, const TensorArgument &input, const TensorArgument &boxes,
                            std::int32_t pool_size, const TensorArgument &output, const TensorArgument &argmax) {
  MLUOPS_TRY(need_rank(entry, input, 4, kFeatureDims));
  MLUOPS_TRY(need_rank(entry, boxes, 3, "[N, K, 4]"));
  MLUOPS_TRY(need_rank(entry, output, 4, kBorderDims));
  MLUOPS_TRY(need_rank(entry, argmax, 4, kBorderDims));
  MLUOPS_TRY(need_packed(entry, {input, boxes, output, argmax}));
  MLUOPS_TRY(need_same_dtype(entry, boxes, input));
  MLUOPS_TRY(need_float_or_half(entry, input));
  MLUOPS_TRY(need_same_dtype(entry, output, input));
  MLUOPS_TRY(need_dtype(entry, argmax, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_layout(entry, input, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, output, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, argmax, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(check_feature_map(entry, input));
  MLUOPS_TRY(need_nonzero_dim(entry, boxes, 1, "K"));
  MLUOPS_TRY(need_dim(entry, boxes, 2, "x1, y1, x2, y2", 4));
  MLUOPS_TRY(need_same_dim(entry, boxes, 0, input, 0));
  MLUOPS_TRY(check_pool_size(entry, pool_size));
  MLUOPS_TRY(check_border_shape(entry, output, input, boxes));
  MLUOPS_TRY(check_border_shape(entry, argmax, input, boxes));
  MLUOPS_TRY(need_indexable(entry, {input, boxes, output, argmax}));
  MLUOPS_TRY(need_data(entry, {input, boxes, output, argmax}));
  return require_no_overlap(entry, {output, argmax}, {input, boxes});
}

mluOpStatus_t check_backward(const Entry &entry, const TensorArgument &grad_output, const TensorArgument &boxes,
                             const TensorArgument &argmax, std::int32_t pool_size, const TensorArgument &grad_input) {
  MLUOPS_TRY(need_rank(entry, grad_output, 4, kBorderDims));
  MLUOPS_TRY(need_rank(entry, boxes, 3, "[N, K, 4]"));
  MLUOPS_TRY(need_rank(entry, argmax, 4, kBorderDims));
  MLUOPS_TRY(need_rank(entry, grad_input, 4, kFeatureDims));
  MLUOPS_TRY(need_packed(entry, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(need_float_or_half(entry, grad_output));
  MLUOPS_TRY(need_dtype(entry, argmax, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_same_dtype(entry, boxes, grad_output));
  MLUOPS_TRY(need_same_dtype(entry, grad_input, grad_output));
  MLUOPS_TRY(need_layout(entry, grad_output, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, argmax, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, grad_input, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(check_feature_map(entry, grad_input));
  MLUOPS_TRY(need_dim(entry, boxes, 2, "x1, y1, x2, y2", 4));
  MLUOPS_TRY(need_nonzero_dim(entry, boxes, 1, "K"));
  MLUOPS_TRY(check_pool_size(entry, pool_size));
  MLUOPS_TRY(check_border_shape(entry, grad_output, grad_input, boxes));
  MLUOPS_TRY(need_same_dim(entry, boxes, 0, grad_input, 0));
  MLUOPS_TRY(check_border_shape(entry, argmax, grad_input, boxes));
  MLUOPS_TRY(need_indexable(entry, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(need_data(entry, {grad_output, boxes, argmax, grad_input}));
  return require_no_overlap(entry, {grad_input}, {grad_output, boxes, argmax});
}

}  // namespace

mluOpStatus_t border_align_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                                   const TensorArgument &boxes, std::int32_t pool_size, const TensorArgument &output,
                                   const TensorArgument &argmax) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, boxes, output, argmax}));
  MLUOPS_TRY(check_forward(entry, input, boxes, pool_size, output, argmax));
  BorderAlignForwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(input, boxes, pool_size);
  problem.input = input.data;
  problem.box = boxes.data;
  problem.output = const_cast<void *>(output.data);
  problem.argmax = static_cast<std::int32_t *>(const_cast<void *>(argmax.data));
  return launch_border_align_forward(handle, problem);
}

mluOpStatus_t border_align_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                                    const TensorArgument &boxes, const TensorArgument &argmax, std::int32_t pool_size,
                                    const TensorArgument &grad_input) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {grad_output, boxes, argmax, grad_input}));
  MLUOPS_TRY(check_backward(entry, grad_output, boxes, argmax, pool_size, grad_input));
  BorderAlignBackwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(grad_input, boxes, pool_size);
  problem.grad_output = grad_output.data;
  problem.box = boxes.data;
  problem.argmax = static_cast<const std::int32_t *>(argmax.data);
  problem.grad_input = const_cast<void *>(grad_input.data);
  return launch_border_align_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(BorderAlignForward);
MLUOPS_IN_DOUBLE(BorderAlignBackward);

mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const mluOpTensorDescriptor_t boxes_desc,
                                                    const void *boxes, const int32_t pool_size,
                                                    const mluOpTensorDescriptor_t output_desc, void *output,
                                                    const mluOpTensorDescriptor_t argmax_idx_desc, void *argmax_idx) {
  return mluops::guarded("mluOpBorderAlignForward", [&] {
    return mluops::border_align_forward({"mluOpBorderAlignForward"}, handle, {"input", input_desc, input},
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
    return mluops::border_align_backward({"mluOpBorderAlignBackward"}, handle,
                                         {"grad_output", grad_output_desc, grad_output}, {"boxes", boxes_desc, boxes},
                                         {"argmax_idx", argmax_idx_desc, argmax_idx}, pool_size,
                                         {"grad_input", grad_input_desc, grad_input});
  });
}
