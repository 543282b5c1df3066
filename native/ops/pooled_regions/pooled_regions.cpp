#include "ops/pooled_regions/pooled_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "mluops_ext/pooled_regions.h"

namespace mluops {
namespace {

constexpr const char *kRow = "image, x1, y1, x2, y2";

mluOpStatus_t launch(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const void *argmax,
                     double spatial_scale, bool rounded) {
  const RoiPoolGeometry geometry{region_sizes(t), spatial_scale, rounded};
  if (t.forward) {
    return launch_roi_pool_forward(
        handle, {entry.function, geometry, t.map.data, t.rois.data, const_cast<void *>(t.pooled.data),
                 static_cast<std::int32_t *>(const_cast<void *>(argmax))});
  }
  return launch_roi_pool_backward(handle, {entry.function, geometry, t.pooled.data, t.rois.data,
                                           static_cast<const std::int32_t *>(argmax), const_cast<void *>(t.map.data)});
}

mluOpStatus_t check_overlap(const Entry &entry, const RegionTensors &t, const TensorArgument &argmax) {
  if (t.forward) return require_no_overlap(entry, {t.pooled, argmax}, {t.map, t.rois});
  return require_no_overlap(entry, {t.map}, {t.pooled, t.rois, argmax});
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const TensorArgument &argmax,
                  double spatial_scale, bool rounded) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.map, t.rois, t.pooled, argmax}));
  MLUOPS_TRY(check_region_tensors(entry, t, kRow, 5, {{argmax}, MLUOP_DTYPE_INT32}));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", spatial_scale));
  MLUOPS_TRY(check_region_data(entry, t));
  MLUOPS_TRY(need_data(entry, {argmax}));
  MLUOPS_TRY(check_overlap(entry, t, argmax));
  return launch(entry, handle, t, argmax.data, spatial_scale, rounded);
}

// ---- Functions of mlu_op.h ----------------------------------------------------------------------

mluOpStatus_t need_pointers(const Entry &entry, const TensorArgument &tensor) {
  MLUOPS_TRY(need_descriptor(entry, Text::format("%s_desc", tensor.name).c_str(), tensor.desc));
  return need_pointer(entry, tensor.name, tensor.data);
}

// Without regions there is nothing to read; gradients of maps are zeros then. `argmax` is like
// `pooled`.
mluOpStatus_t run_production(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t,
                             const TensorArgument &argmax, mluOpPoolingMode_t mode, double spatial_scale) {
  MLUOPS_REQUIRE(mode == MLUOP_POOLING_MAX, MLUOP_STATUS_BAD_PARAM, entry, "pooling_mode", "MLUOP_POOLING_MAX",
                 Text::format("%d", static_cast<int>(mode)));
  if (t.forward) {
    MLUOPS_TRY(check_region_tensors(entry, t, kRow, 5));
  } else {
    MLUOPS_TRY(check_region_tensors(entry, t, kRow, 5, {{argmax}, MLUOP_DTYPE_INT32}));
  }
  MLUOPS_REQUIRE(t.given().desc->dtype != MLUOP_DTYPE_DOUBLE, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", t.given().name).c_str(), "float or half", describe(t.given().desc));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", spatial_scale));
  for (const int dim : {1, 2}) MLUOPS_TRY(need_nonzero_dim(entry, t.pooled, dim, dim == 1 ? "ph" : "pw"));
  MLUOPS_TRY(need_indexable(entry, {t.map, t.rois, t.pooled}));
  if (t.pooled.desc->count == 0 && (t.forward || t.map.desc->count == 0)) return MLUOP_STATUS_SUCCESS;
  if (t.rois.desc->count != 0) {
    MLUOPS_TRY(check_region_data(entry, t));
    TensorArgument places = argmax;
    if (t.forward) {
      MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(argmax.data) % sizeof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                     entry, argmax.name, "an address aligned to int32", Text::format("%p", argmax.data));
      const std::int64_t bytes = t.pooled.desc->count * static_cast<std::int64_t>(sizeof(std::int32_t));
      for (const TensorArgument &other : {t.map, t.rois, t.pooled}) {
        MLUOPS_TRY(
            require_no_overlap(entry, argmax.name, argmax.data, bytes, other.name, other.data, other.desc->bytes()));
      }
    } else {
      MLUOPS_TRY(need_data(entry, {places}));
      MLUOPS_TRY(check_overlap(entry, t, places));
    }
  } else {
    MLUOPS_TRY(need_data(entry, {t.map}));
  }
  return launch(entry, handle, t, argmax.data, spatial_scale, true);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingForward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                                   const mluOpTensorDescriptor_t input_desc, const void *input,
                                                   const mluOpTensorDescriptor_t rois_desc, const void *rois,
                                                   float spatial_scale, const mluOpTensorDescriptor_t output_desc,
                                                   void *output, int *argmax) {
  using namespace mluops;
  return guarded("mluOpRoiPoolingForward", [&] {
    const Entry entry{"mluOpRoiPoolingForward"};
    const RegionTensors t{
        {"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true};
    MLUOPS_TRY(need_handle(entry, handle));
    for (const TensorArgument &tensor : {t.map, t.rois, t.pooled}) MLUOPS_TRY(need_pointers(entry, tensor));
    MLUOPS_TRY(need_pointer(entry, "argmax", argmax));
    return run_production(entry, handle, t, {"argmax", nullptr, argmax}, pooling_mode, spatial_scale);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingBackward(mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode,
                                                    const mluOpTensorDescriptor_t grads_desc, const void *grads,
                                                    const mluOpTensorDescriptor_t rois_desc, const void *rois,
                                                    const mluOpTensorDescriptor_t argmax_desc, const int *argmax,
                                                    const float spatial_scale,
                                                    const mluOpTensorDescriptor_t grads_image_desc, void *grads_image) {
  using namespace mluops;
  return guarded("mluOpRoiPoolingBackward", [&] {
    const Entry entry{"mluOpRoiPoolingBackward"};
    const RegionTensors t{
        {"grads_image", grads_image_desc, grads_image}, {"rois", rois_desc, rois}, {"grads", grads_desc, grads}, false};
    const TensorArgument places{"argmax", argmax_desc, argmax};
    MLUOPS_TRY(need_handle(entry, handle));
    for (const TensorArgument &tensor : {t.pooled, t.rois, places, t.map}) MLUOPS_TRY(need_pointers(entry, tensor));
    return run_production(entry, handle, t, places, pooling_mode, spatial_scale);
  });
}

// ---- Functions of mluops_ext.h ------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const mluOpTensorDescriptor_t rois_desc,
                                                    const void *rois, const double spatial_scale, const bool rounded,
                                                    const mluOpTensorDescriptor_t output_desc, void *output,
                                                    const mluOpTensorDescriptor_t argmax_desc, void *argmax) {
  return mluops::guarded("mluopsExtRoiPoolForward", [&] {
    return mluops::run({"mluopsExtRoiPoolForward"}, handle,
                       {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
                       {"argmax", argmax_desc, argmax}, spatial_scale, rounded);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtRoiPoolBackward(mluOpHandle_t handle,
                                                     const mluOpTensorDescriptor_t grad_output_desc,
                                                     const void *grad_output, const mluOpTensorDescriptor_t rois_desc,
                                                     const void *rois, const mluOpTensorDescriptor_t argmax_desc,
                                                     const void *argmax, const mluOpTensorDescriptor_t grad_input_desc,
                                                     void *grad_input) {
  return mluops::guarded("mluopsExtRoiPoolBackward", [&] {
    return mluops::run({"mluopsExtRoiPoolBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"rois", rois_desc, rois},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       {"argmax", argmax_desc, argmax}, 1.0, false);
  });
}
