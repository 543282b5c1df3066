#include "ops/precise_regions/precise_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "mluops_ext/precise_regions.h"

namespace mluops {
namespace {

constexpr const char *kRow = "image, x1, y1, x2, y2";

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, double spatial_scale) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.map, t.rois, t.pooled}));
  MLUOPS_TRY(check_region_tensors(entry, t, kRow, 5));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", spatial_scale));
  MLUOPS_TRY(check_region_data(entry, t));
  const PrRoiPoolProblem problem{entry.function,
                                 {region_sizes(t), spatial_scale},
                                 t.given().data,
                                 t.rois.data,
                                 const_cast<void *>(t.written().data)};
  return t.forward ? launch_pr_roi_pool_forward(handle, problem) : launch_pr_roi_pool_backward(handle, problem);
}

// `t.map` is read here, and `grad_rois` written.
mluOpStatus_t run_coor(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, const TensorArgument &output,
                       double spatial_scale, const TensorArgument &grad_rois) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.pooled, t.map, t.rois, output, grad_rois}));
  MLUOPS_TRY(check_region_tensors(entry, t, kRow, 5, {{output}, MLUOP_DTYPE_INVALID}));
  MLUOPS_TRY(need_rank(entry, grad_rois, 2, "[R, 5]"));
  MLUOPS_TRY(need_same_dtype(entry, grad_rois, t.pooled));
  MLUOPS_TRY(need_packed(entry, {grad_rois}));
  MLUOPS_TRY(need_same_shape(entry, grad_rois, t.rois));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", spatial_scale));
  MLUOPS_TRY(need_region_data(entry, t, {output, grad_rois}));
  MLUOPS_TRY(require_no_overlap(entry, {grad_rois}, {t.pooled, t.map, t.rois, output}));
  return launch_pr_roi_pool_coor_backward(handle, {entry.function,
                                                   {region_sizes(t), spatial_scale},
                                                   t.pooled.data,
                                                   t.map.data,
                                                   t.rois.data,
                                                   output.data,
                                                   const_cast<void *>(grad_rois.data)});
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                      const void *input, const mluOpTensorDescriptor_t rois_desc,
                                                      const void *rois, const double spatial_scale,
                                                      const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtPrRoiPoolForward", [&] {
    return mluops::run({"mluopsExtPrRoiPoolForward"}, handle,
                       {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
                       spatial_scale);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolBackward(mluOpHandle_t handle,
                                                       const mluOpTensorDescriptor_t grad_output_desc,
                                                       const void *grad_output, const mluOpTensorDescriptor_t rois_desc,
                                                       const void *rois, const double spatial_scale,
                                                       const mluOpTensorDescriptor_t grad_input_desc,
                                                       void *grad_input) {
  return mluops::guarded("mluopsExtPrRoiPoolBackward", [&] {
    return mluops::run({"mluopsExtPrRoiPoolBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"rois", rois_desc, rois},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       spatial_scale);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtPrRoiPoolCoorBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t output_desc, const void *output, const double spatial_scale,
    const mluOpTensorDescriptor_t grad_rois_desc, void *grad_rois) {
  return mluops::guarded("mluopsExtPrRoiPoolCoorBackward", [&] {
    return mluops::run_coor({"mluopsExtPrRoiPoolCoorBackward"}, handle,
                            {{"input", input_desc, input},
                             {"rois", rois_desc, rois},
                             {"grad_output", grad_output_desc, grad_output},
                             false},
                            {"output", output_desc, output}, spatial_scale, {"grad_rois", grad_rois_desc, grad_rois});
  });
}
