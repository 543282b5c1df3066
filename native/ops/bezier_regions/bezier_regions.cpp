#include "ops/bezier_regions/bezier_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "mluops_ext/bezier_regions.h"

namespace mluops {
namespace {

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const RegionTensors &t, double spatial_scale,
                  int sampling_ratio, bool aligned) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.map, t.rois, t.pooled}));
  MLUOPS_TRY(check_region_tensors(entry, t, "image, x0, y0, ..., x7, y7", 17));
  MLUOPS_TRY(need_positive(entry, "spatial_scale", spatial_scale));
  MLUOPS_TRY(need_sampling_ratio(entry, "sampling_ratio", sampling_ratio));
  MLUOPS_TRY(check_region_data(entry, t));
  const BezierAlignProblem problem{entry.function,
                                   {region_sizes(t), sampling_ratio, spatial_scale, aligned},
                                   t.given().data,
                                   t.rois.data,
                                   const_cast<void *>(t.written().data)};
  return t.forward ? launch_bezier_align_forward(handle, problem) : launch_bezier_align_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtBezierAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                        const void *input, const mluOpTensorDescriptor_t rois_desc,
                                                        const void *rois, const double spatial_scale,
                                                        const int sampling_ratio, const bool aligned,
                                                        const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtBezierAlignForward", [&] {
    return mluops::run({"mluopsExtBezierAlignForward"}, handle,
                       {{"input", input_desc, input}, {"rois", rois_desc, rois}, {"output", output_desc, output}, true},
                       spatial_scale, sampling_ratio, aligned);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBezierAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const double spatial_scale, const int sampling_ratio,
    const bool aligned, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input) {
  return mluops::guarded("mluopsExtBezierAlignBackward", [&] {
    return mluops::run({"mluopsExtBezierAlignBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"rois", rois_desc, rois},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       spatial_scale, sampling_ratio, aligned);
  });
}
