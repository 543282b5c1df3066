#include "ops/rotated_feature_align/rotated_feature_align.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument source;
  TensorArgument boxes;
  TensorArgument result;
};

mluOpStatus_t check_tensors(const Entry &entry, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.source, t.boxes, t.result}));
  MLUOPS_TRY(need_rank(entry, t.source, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_rank(entry, t.boxes, 4, "[B, H, W, 5]"));
  MLUOPS_TRY(need_rank(entry, t.result, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_float_or_half(entry, t.source));
  MLUOPS_TRY(need_same_dtype(entry, t.boxes, t.source));
  MLUOPS_TRY(need_same_dtype(entry, t.result, t.source));
  MLUOPS_TRY(need_layout(entry, t.source, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, t.result, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_packed(entry, {t.source, t.boxes, t.result}));
  MLUOPS_TRY(need_same_shape(entry, t.result, t.source));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, t.boxes, dim, t.source, dim));
  return need_dim(entry, t.boxes, 3, "y, x, width, height, angle", 5);
}

mluOpStatus_t check_sizes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_indexable(entry, {t.source, t.boxes, t.result}));
  for (const TensorArgument &tensor : {t.source, t.boxes, t.result}) MLUOPS_TRY(need_elements(entry, tensor));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const Entry &entry, double spatial_scale, int points) {
  MLUOPS_REQUIRE(points == 1 || points == kMostPlaces, MLUOP_STATUS_BAD_PARAM, entry, "points", "1 or 5",
                 Text::format("%d", points));
  return need_positive(entry, "spatial_scale", spatial_scale);
}

mluOpStatus_t check_data(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_data(entry, {t.source, t.boxes, t.result}));
  return require_no_overlap(entry, {t.result}, {t.source, t.boxes});
}

RotatedFeatureAlignProblem problem_of(const Entry &entry, const Tensors &t, double spatial_scale, int points) {
  const std::int64_t *const dims = t.source.desc->dims;
  const RotatedFeatureAlignGeometry geometry{t.source.desc->dtype, dims[0], dims[1], dims[2], dims[3], points,
                                             spatial_scale};
  return {entry.function, geometry, t.source.data, t.boxes.data, const_cast<void *>(t.result.data)};
}

}  // namespace

mluOpStatus_t rotated_feature_align_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                                            const TensorArgument &bboxes, double spatial_scale, int points,
                                            const TensorArgument &output) {
  const Tensors tensors{input, bboxes, output};
  MLUOPS_TRY(check_tensors(entry, handle, tensors));
  MLUOPS_TRY(check_sizes(entry, tensors));
  MLUOPS_TRY(check_numbers(entry, spatial_scale, points));
  MLUOPS_TRY(check_data(entry, tensors));
  return launch_rotated_feature_align_forward(handle, problem_of(entry, tensors, spatial_scale, points));
}

mluOpStatus_t rotated_feature_align_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &top_output,
                                             const TensorArgument &bboxes, double spatial_scale, int points,
                                             const TensorArgument &bottom_input) {
  const Tensors tensors{top_output, bboxes, bottom_input};
  MLUOPS_TRY(check_tensors(entry, handle, tensors));
  MLUOPS_TRY(check_numbers(entry, spatial_scale, points));
  MLUOPS_TRY(check_sizes(entry, tensors));
  MLUOPS_TRY(check_data(entry, tensors));
  return launch_rotated_feature_align_backward(handle, problem_of(entry, tensors, spatial_scale, points));
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(RotatedFeatureAlignForward);
MLUOPS_IN_DOUBLE(RotatedFeatureAlignBackward);

mluOpStatus_t MLUOP_WIN_API mluOpRotatedFeatureAlignForward(const mluOpHandle_t handle,
                                                            const mluOpTensorDescriptor_t input_desc, const void *input,
                                                            const mluOpTensorDescriptor_t bboxes_desc,
                                                            const void *bboxes, const float spatial_scale,
                                                            const int points, const mluOpTensorDescriptor_t output_desc,
                                                            void *output) {
  return mluops::guarded("mluOpRotatedFeatureAlignForward", [&] {
    return mluops::rotated_feature_align_forward({"mluOpRotatedFeatureAlignForward"}, handle,
                                                 {"input", input_desc, input}, {"bboxes", bboxes_desc, bboxes},
                                                 spatial_scale, points, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRotatedFeatureAlignBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t top_output_desc, const void *top_output,
    const mluOpTensorDescriptor_t bboxes_desc, const void *bboxes, const float spatial_scale, const int points,
    const mluOpTensorDescriptor_t bottom_input_desc, void *bottom_input) {
  return mluops::guarded("mluOpRotatedFeatureAlignBackward", [&] {
    return mluops::rotated_feature_align_backward(
        {"mluOpRotatedFeatureAlignBackward"}, handle, {"top_output", top_output_desc, top_output},
        {"bboxes", bboxes_desc, bboxes}, spatial_scale, points, {"bottom_input", bottom_input_desc, bottom_input});
  });
}
