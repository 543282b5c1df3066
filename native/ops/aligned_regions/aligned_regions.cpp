#include "ops/aligned_regions/aligned_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "core/settings.h"
#include "mluops_ext/aligned_regions.h"

namespace mluops {
namespace {

constexpr const char *kRow = "image, x1, y1, x2, y2";

struct Argmax {
  TensorArgument y;
  TensorArgument x;
};

struct Numbers {
  double spatial_scale;
  int sampling_ratio;
  bool aligned;
};

mluOpStatus_t check_numbers(const Entry &entry, const Numbers &numbers) {
  MLUOPS_TRY(need_positive(entry, "spatial_scale", numbers.spatial_scale));
  return need_sampling_ratio(entry, "sampling_ratio", numbers.sampling_ratio);
}

mluOpStatus_t check_tensors(const Entry &entry, const RegionTensors &t, const Argmax *argmax) {
  if (argmax == nullptr) return check_region_tensors(entry, t, kRow, 5);
  return check_region_tensors(entry, t, kRow, 5, {{argmax->y, argmax->x}, MLUOP_DTYPE_INVALID});
}

mluOpStatus_t check_overlap(const Entry &entry, const RegionTensors &t, const Argmax &argmax) {
  if (t.forward) return require_no_overlap(entry, {t.pooled, argmax.y, argmax.x}, {t.map, t.rois});
  return require_no_overlap(entry, {t.map}, {t.pooled, t.rois, argmax.y, argmax.x});
}

RoiAlignGeometry geometry_of(const RegionTensors &t, const Numbers &numbers, bool largest) {
  return {region_sizes(t), numbers.sampling_ratio, numbers.spatial_scale, numbers.aligned, largest};
}

// `argmax` is NULL for means.
mluOpStatus_t launch(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const Numbers &numbers,
                     const Argmax *argmax) {
  const RoiAlignGeometry geometry = geometry_of(t, numbers, argmax != nullptr);
  const void *const y = argmax == nullptr ? nullptr : argmax->y.data;
  const void *const x = argmax == nullptr ? nullptr : argmax->x.data;
  if (t.forward) {
    return launch_roi_align_forward(
        handle, {entry.function, geometry, t.map.data, t.rois.data, const_cast<void *>(t.pooled.data),
                 const_cast<void *>(y), const_cast<void *>(x)});
  }
  return launch_roi_align_backward(
      handle, {entry.function, geometry, t.pooled.data, t.rois.data, y, x, const_cast<void *>(t.map.data)});
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const Numbers &numbers,
                  const Argmax *argmax) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.map, t.rois, t.pooled}));
  if (argmax != nullptr) MLUOPS_TRY(need_descriptors(entry, {argmax->y, argmax->x}));
  MLUOPS_TRY(check_tensors(entry, t, argmax));
  MLUOPS_TRY(check_numbers(entry, numbers));
  MLUOPS_TRY(check_region_data(entry, t));
  if (argmax != nullptr) {
    MLUOPS_TRY(need_data(entry, {argmax->y, argmax->x}));
    MLUOPS_TRY(check_overlap(entry, t, *argmax));
  }
  return launch(entry, handle, t, numbers, argmax);
}

// ---- Functions of mlu_op.h ----------------------------------------------------------------------

mluOpStatus_t need_pointers(const Entry &entry, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_TRY(need_descriptor(entry, Text::format("%s_desc", tensor.name).c_str(), tensor.desc));
    MLUOPS_TRY(need_pointer(entry, tensor.name, tensor.data));
  }
  return MLUOP_STATUS_SUCCESS;
}

// Without regions or channels there is nothing to write; gradients of maps are zeros then.
bool is_nothing(const RegionTensors &t) { return t.pooled.desc->count == 0 && (t.forward || t.map.desc->count == 0); }

mluOpStatus_t check_production(const Entry &entry, const RegionTensors &t, const Numbers &numbers,
                               const Argmax *argmax) {
  MLUOPS_TRY(check_tensors(entry, t, argmax));
  MLUOPS_REQUIRE(t.given().desc->dtype != MLUOP_DTYPE_DOUBLE, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", t.given().name).c_str(), "float or half", describe(t.given().desc));
  MLUOPS_TRY(check_numbers(entry, numbers));
  for (int dim = 1; dim < 3; ++dim)
    MLUOPS_TRY(need_nonzero_dim(entry, t.pooled, dim, dim == 1 ? "pooled_height" : "pooled_width"));
  if (t.rois.desc->count != 0) {
    for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_nonzero_dim(entry, t.map, dim, dim == 0 ? "B" : "H, W"));
  }
  MLUOPS_TRY(need_indexable(entry, {t.map, t.rois, t.pooled}));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_production(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const Numbers &numbers,
                             const Argmax *argmax) {
  MLUOPS_TRY(check_production(entry, t, numbers, argmax));
  if (is_nothing(t)) return MLUOP_STATUS_SUCCESS;
  if (t.rois.desc->count == 0) {
    MLUOPS_TRY(need_data(entry, {t.map}));
    return launch(entry, handle, t, numbers, argmax);
  }
  MLUOPS_TRY(check_region_data(entry, t));
  if (argmax != nullptr) {
    MLUOPS_TRY(need_data(entry, {argmax->y, argmax->x}));
    MLUOPS_TRY(check_overlap(entry, t, *argmax));
  }
  return launch(entry, handle, t, numbers, argmax);
}

mluOpStatus_t need_mode(const Entry &entry, int pool_mode) { return need_between(entry, "pool_mode", pool_mode, 0, 1); }

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignForward_v2(mluOpHandle_t handle,
                                                    const mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                                    const mluOpTensorDescriptor_t input_desc, const void *input,
                                                    const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                                    const mluOpTensorDescriptor_t output_desc, void *output,
                                                    const mluOpTensorDescriptor_t argmax_x_desc, void *argmax_x,
                                                    const mluOpTensorDescriptor_t argmax_y_desc, void *argmax_y) {
  using namespace mluops;
  return guarded("mluOpRoiAlignForward_v2", [&] {
    const Entry entry{"mluOpRoiAlignForward_v2"};
    const RegionTensors t{
        {"input", input_desc, input}, {"boxes", boxes_desc, boxes}, {"output", output_desc, output}, true};
    const Argmax argmax{{"argmax_y", argmax_y_desc, argmax_y}, {"argmax_x", argmax_x_desc, argmax_x}};
    RoiAlignSettings settings{};
    MLUOPS_TRY(need_handle(entry, handle));
    MLUOPS_TRY(read_settings(entry, "roialign_desc", roialign_desc, &settings));
    MLUOPS_TRY(need_pointers(entry, {t.map, t.rois, t.pooled}));
    if (settings.pool_mode == 0) MLUOPS_TRY(need_pointers(entry, {argmax.x, argmax.y}));
    MLUOPS_TRY(need_rank(entry, t.pooled, 4, "[R, ph, pw, C]"));
    MLUOPS_TRY(need_dim(entry, t.pooled, 1, "pooled_height", settings.pooled_height));
    MLUOPS_TRY(need_dim(entry, t.pooled, 2, "pooled_width", settings.pooled_width));
    return run_production(entry, handle, t, {settings.spatial_scale, settings.sampling_ratio, settings.aligned},
                          settings.pool_mode == 0 ? &argmax : nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward(mluOpHandle_t handle, const float spatial_scale,
                                                  const int sampling_ratio, const bool aligned,
                                                  const mluOpTensorDescriptor_t grads_desc, const void *grads,
                                                  const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                                  const mluOpTensorDescriptor_t grads_image_desc, void *grads_image) {
  using namespace mluops;
  return guarded("mluOpRoiAlignBackward", [&] {
    const Entry entry{"mluOpRoiAlignBackward"};
    const RegionTensors t{{"grads_image", grads_image_desc, grads_image},
                          {"boxes", boxes_desc, boxes},
                          {"grads", grads_desc, grads},
                          false};
    MLUOPS_TRY(need_handle(entry, handle));
    MLUOPS_TRY(need_pointers(entry, {t.pooled, t.rois, t.map}));
    return run_production(entry, handle, t, {spatial_scale, sampling_ratio, aligned}, nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward_v2(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                                     const void *grads, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void *boxes, const mluOpTensorDescriptor_t argmax_x_desc,
                                                     const void *argmax_x, const mluOpTensorDescriptor_t argmax_y_desc,
                                                     const void *argmax_y, const float spatial_scale,
                                                     const int sampling_ratio, const bool aligned, const int pool_mode,
                                                     const mluOpTensorDescriptor_t grads_image_desc,
                                                     void *grads_image) {
  using namespace mluops;
  return guarded("mluOpRoiAlignBackward_v2", [&] {
    const Entry entry{"mluOpRoiAlignBackward_v2"};
    const RegionTensors t{{"grads_image", grads_image_desc, grads_image},
                          {"boxes", boxes_desc, boxes},
                          {"grads", grads_desc, grads},
                          false};
    const Argmax argmax{{"argmax_y", argmax_y_desc, argmax_y}, {"argmax_x", argmax_x_desc, argmax_x}};
    MLUOPS_TRY(need_handle(entry, handle));
    MLUOPS_TRY(need_pointers(entry, {t.pooled, t.rois, t.map}));
    MLUOPS_TRY(need_mode(entry, pool_mode));
    if (pool_mode == 0) MLUOPS_TRY(need_pointers(entry, {argmax.x, argmax.y}));
    return run_production(entry, handle, t, {spatial_scale, sampling_ratio, aligned},
                          pool_mode == 0 ? &argmax : nullptr);
  });
}

// ---- Functions of mluops_ext.h ------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                     const void *input, const mluOpTensorDescriptor_t rois_desc,
                                                     const void *rois, const double spatial_scale,
                                                     const int sampling_ratio, const bool aligned,
                                                     const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtRoiAlignForward", [&] {
    return mluops::run({"mluopsExtRoiAlignForward"}, handle,
                       {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
                       {spatial_scale, sampling_ratio, aligned}, nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignBackward(mluOpHandle_t handle,
                                                      const mluOpTensorDescriptor_t grad_output_desc,
                                                      const void *grad_output, const mluOpTensorDescriptor_t rois_desc,
                                                      const void *rois, const double spatial_scale,
                                                      const int sampling_ratio, const bool aligned,
                                                      const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtRoiAlignBackward", [&] {
    return mluops::run({"mluopsExtRoiAlignBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"rois", rois_desc, rois},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       {spatial_scale, sampling_ratio, aligned}, nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignMaxForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                        const void *input, const mluOpTensorDescriptor_t rois_desc,
                                                        const void *rois, const double spatial_scale,
                                                        const int sampling_ratio, const bool aligned,
                                                        const mluOpTensorDescriptor_t output_desc, void *output,
                                                        const mluOpTensorDescriptor_t argmax_y_desc, void *argmax_y,
                                                        const mluOpTensorDescriptor_t argmax_x_desc, void *argmax_x) {
  return mluops::guarded("mluopsExtRoiAlignMaxForward", [&] {
    const mluops::Argmax argmax{{"argmax_y", argmax_y_desc, argmax_y}, {"argmax_x", argmax_x_desc, argmax_x}};
    return mluops::run({"mluopsExtRoiAlignMaxForward"}, handle,
                       {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
                       {spatial_scale, sampling_ratio, aligned}, &argmax);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignMaxBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t argmax_y_desc,
    const void *argmax_y, const mluOpTensorDescriptor_t argmax_x_desc, const void *argmax_x, const double spatial_scale,
    const int sampling_ratio, const bool aligned, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtRoiAlignMaxBackward", [&] {
    const mluops::Argmax argmax{{"argmax_y", argmax_y_desc, argmax_y}, {"argmax_x", argmax_x_desc, argmax_x}};
    return mluops::run({"mluopsExtRoiAlignMaxBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"rois", rois_desc, rois},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       {spatial_scale, sampling_ratio, aligned}, &argmax);
  });
}
