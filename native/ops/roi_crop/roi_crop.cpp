#include "ops/roi_crop/roi_crop.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// `map` is the input or its gradient, `samples` the output or its gradient; `given` is the one of
// them that is not written.
mluOpStatus_t check_tensors(const Entry &entry, const TensorArgument &given, const TensorArgument &map,
                            const TensorArgument &grid, const TensorArgument &samples) {
  MLUOPS_TRY(need_float(entry, given));
  for (const TensorArgument &tensor : {grid, map, samples}) MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(need_rank(entry, map, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_rank(entry, grid, 4, "[R, h, w, 2]"));
  MLUOPS_TRY(need_rank(entry, samples, 4, "[R, h, w, C]"));
  MLUOPS_TRY(need_layout(entry, map, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, samples, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_packed(entry, {map, grid, samples}));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, samples, dim, grid, dim));
  MLUOPS_TRY(need_same_dim(entry, samples, 3, map, 3));
  MLUOPS_TRY(need_dim(entry, grid, 3, "y and x", 2));
  const long long batches = map.desc->dims[0], regions = grid.desc->dims[0];
  MLUOPS_REQUIRE(batches != 0 && regions % batches == 0, MLUOP_STATUS_BAD_PARAM, entry, "grid_desc",
                 Text::format("[R, h, w, 2] with B=%lld divides R", batches), Text::format("R=%lld", regions));
  MLUOPS_TRY(need_indexable(entry, {map, grid, samples}));
  for (const TensorArgument &tensor : {map, grid, samples}) MLUOPS_TRY(need_elements(entry, tensor));
  return need_data(entry, {map, grid, samples});
}

RoiCropGeometry geometry_of(const TensorArgument &map, const TensorArgument &grid) {
  RoiCropGeometry geometry;
  geometry.batches = map.desc->dims[0];
  geometry.height = map.desc->dims[1];
  geometry.width = map.desc->dims[2];
  geometry.channels = map.desc->dims[3];
  geometry.regions = grid.desc->dims[0];
  geometry.grid_height = grid.desc->dims[1];
  geometry.grid_width = grid.desc->dims[2];
  geometry.is_double = map.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

}  // namespace

mluOpStatus_t roi_crop_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                               const TensorArgument &grid, const TensorArgument &output) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, grid, output}));
  MLUOPS_TRY(check_tensors(entry, input, input, grid, output));
  MLUOPS_TRY(require_no_overlap(entry, {output}, {input, grid}));
  const RoiCropForwardProblem problem{entry.function, geometry_of(input, grid), input.data, grid.data,
                                      const_cast<void *>(output.data)};
  return launch_roi_crop_forward(handle, problem);
}

mluOpStatus_t roi_crop_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                                const TensorArgument &grid, const TensorArgument &grad_input) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {grad_output, grid, grad_input}));
  MLUOPS_TRY(check_tensors(entry, grad_output, grad_input, grid, grad_output));
  MLUOPS_TRY(require_no_overlap(entry, {grad_input}, {grad_output, grid}));
  const RoiCropBackwardProblem problem{entry.function, geometry_of(grad_input, grid), grad_output.data, grid.data,
                                       const_cast<void *>(grad_input.data)};
  return launch_roi_crop_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(RoiCropForward);
MLUOPS_IN_DOUBLE(RoiCropBackward);

mluOpStatus_t MLUOP_WIN_API mluOpRoiCropForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                const void *input, const mluOpTensorDescriptor_t grid_desc,
                                                const void *grid, const mluOpTensorDescriptor_t output_desc,
                                                void *output) {
  return mluops::guarded("mluOpRoiCropForward", [&] {
    return mluops::roi_crop_forward({"mluOpRoiCropForward"}, handle, {"input", input_desc, input},
                                    {"grid", grid_desc, grid}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpRoiCropBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                                 const void *grad_output, const mluOpTensorDescriptor_t grid_desc,
                                                 const void *grid, const mluOpTensorDescriptor_t grad_input_desc,
                                                 void *grad_input) {
  return mluops::guarded("mluOpRoiCropBackward", [&] {
    return mluops::roi_crop_backward({"mluOpRoiCropBackward"}, handle, {"grad_output", grad_output_desc, grad_output},
                                     {"grid", grid_desc, grid}, {"grad_input", grad_input_desc, grad_input});
  });
}
