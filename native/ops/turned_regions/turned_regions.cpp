#include "ops/turned_regions/turned_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "mluops_ext/turned_regions.h"

namespace mluops {
namespace {

constexpr const char *kRow = "image, x, y, width, height, angle";

struct Numbers {
  double spatial_scale;
  int samples;  // of a bin along an axis
  bool aligned;
  bool clockwise;
  int orientations;
};

mluOpStatus_t launch(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const Numbers &numbers) {
  const RoiAlignRotatedGeometry geometry{region_sizes(t),           numbers.samples, numbers.spatial_scale,
                                         numbers.aligned ? 0.5 : 0, numbers.aligned, numbers.clockwise,
                                         numbers.orientations};
  const RoiAlignRotatedProblem problem{entry.function, geometry, t.given().data, t.rois.data,
                                       const_cast<void *>(t.written().data)};
  return t.forward ? launch_roi_align_rotated_forward(handle, problem)
                   : launch_roi_align_rotated_backward(handle, problem);
}

// ---- Functions of mlu_op.h ----------------------------------------------------------------------

mluOpStatus_t check_types(const Entry &entry, const RegionTensors &t) {
  MLUOPS_TRY(need_layout(entry, t.map, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, t.pooled, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_float_or_half(entry, t.given()));
  MLUOPS_TRY(need_same_dtype(entry, t.written(), t.given()));
  MLUOPS_TRY(need_same_dtype(entry, t.rois, t.given()));
  return need_packed(entry, {t.map, t.rois, t.pooled});
}

mluOpStatus_t check_shapes(const Entry &entry, const RegionTensors &t, int pooled_height, int pooled_width) {
  MLUOPS_TRY(need_rank(entry, t.rois, 2, "[R, 6]"));
  MLUOPS_TRY(need_rank(entry, t.pooled, 4, "[R, ph, pw, C]"));
  MLUOPS_TRY(need_rank(entry, t.map, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_dim(entry, t.rois, 1, kRow, 6));
  MLUOPS_TRY(need_dim(entry, t.pooled, 1, "pooled_height", pooled_height));
  MLUOPS_TRY(need_dim(entry, t.pooled, 2, "pooled_width", pooled_width));
  MLUOPS_TRY(need_nonzero_dim(entry, t.map, 3, "C"));
  MLUOPS_TRY(need_nonzero_dim(entry, t.rois, 0, "R"));
  MLUOPS_TRY(need_same_dim(entry, t.pooled, 0, t.rois, 0));
  return need_same_dim(entry, t.pooled, 3, t.map, 3);
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, int pooled_height, int pooled_width,
                  const Numbers &numbers) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.given(), t.rois, t.written()}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_shapes(entry, t, pooled_height, pooled_width));
  MLUOPS_TRY(need_at_least(entry, "pooled_height", pooled_height, 1));
  MLUOPS_TRY(need_at_least(entry, "pooled_width", pooled_width, 1));
  MLUOPS_TRY(need_not_negative(entry, "spatial_scale", numbers.spatial_scale));
  MLUOPS_TRY(need_sampling_ratio(entry, "sample_ratio", numbers.samples));
  if (t.map.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {t.given(), t.rois, t.written()}));
  MLUOPS_TRY(require_no_overlap(entry, {t.written()}, {t.given(), t.rois}));
  return launch(entry, handle, t, numbers);
}

// ---- Functions of mluops_ext.h ------------------------------------------------------------------

mluOpStatus_t run_turning(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const Numbers &numbers) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.map, t.rois, t.pooled}));
  MLUOPS_TRY(check_region_tensors(entry, t, kRow, 6, {{}, MLUOP_DTYPE_INVALID}, false));
  const std::int64_t channels = t.given().desc->dims[3];
  MLUOPS_REQUIRE(numbers.orientations < 1 || channels % numbers.orientations == 0, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", t.given().name).c_str(),
                 Text::format("dim 3 that num_orientations=%d divides", numbers.orientations),
                 describe(t.given().desc));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", numbers.spatial_scale));
  MLUOPS_TRY(need_sampling_ratio(entry, "num_samples", numbers.samples));
  MLUOPS_TRY(need_between(entry, "num_orientations", numbers.orientations, 1, kMostOrientations));
  MLUOPS_TRY(check_region_data(entry, t));
  return launch(entry, handle, t, numbers);
}

}  // namespace

mluOpStatus_t roi_align_rotated_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &features,
                                        const TensorArgument &rois, int pooled_height, int pooled_width,
                                        int sample_ratio, double spatial_scale, bool aligned, bool clockwise,
                                        const TensorArgument &output) {
  return run(entry, handle, {features, rois, output, true}, pooled_height, pooled_width,
             {spatial_scale, sample_ratio, aligned, clockwise, 1});
}

mluOpStatus_t roi_align_rotated_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &top_grad,
                                         const TensorArgument &rois, int pooled_height, int pooled_width,
                                         int sample_ratio, double spatial_scale, bool aligned, bool clockwise,
                                         const TensorArgument &bottom_grad) {
  return run(entry, handle, {bottom_grad, rois, top_grad, false}, pooled_height, pooled_width,
             {spatial_scale, sample_ratio, aligned, clockwise, 1});
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(RoiAlignRotatedForward);
MLUOPS_IN_DOUBLE(RoiAlignRotatedBackward);

mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpRoiAlignRotatedForward", [&] {
    return mluops::roi_align_rotated_forward(
        {"mluOpRoiAlignRotatedForward"}, handle, {"features", features_desc, features}, {"rois", rois_desc, rois},
        pooled_height, pooled_width, sample_ratio, spatial_scale, aligned, clockwise, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t top_grad_desc, const void *top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad) {
  return mluops::guarded("mluOpRoiAlignRotatedBackward", [&] {
    return mluops::roi_align_rotated_backward({"mluOpRoiAlignRotatedBackward"}, handle,
                                              {"top_grad", top_grad_desc, top_grad}, {"rois", rois_desc, rois},
                                              pooled_height, pooled_width, sample_ratio, spatial_scale, aligned,
                                              clockwise, {"bottom_grad", bottom_grad_desc, bottom_grad});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRiRoiAlignRotatedForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int num_samples,
    const int num_orientations, const bool clockwise, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtRiRoiAlignRotatedForward", [&] {
    return mluops::run_turning(
        {"mluopsExtRiRoiAlignRotatedForward"}, handle,
        {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
        {spatial_scale, num_samples, false, clockwise, num_orientations});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRiRoiAlignRotatedBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int num_samples,
    const int num_orientations, const bool clockwise, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtRiRoiAlignRotatedBackward", [&] {
    return mluops::run_turning({"mluopsExtRiRoiAlignRotatedBackward"}, handle,
                               {{"grad_input", grad_input_desc, grad_input},
                                {"rois", rois_desc, rois},
                                {"grad_output", grad_output_desc, grad_output},
                                false},
                               {spatial_scale, num_samples, false, clockwise, num_orientations});
  });
}
