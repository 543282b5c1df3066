#include "ops/tin_shift/tin_shift.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

mluOpStatus_t check_shapes(const char *function, const TensorArgument &input, const TensorArgument &shifts,
                           const TensorArgument &output) {
  MLUOPS_TRY(need_rank(function, input, 4, "[N, T, C, HW]"));
  MLUOPS_TRY(need_rank(function, shifts, 2, "[N, G]"));
  MLUOPS_TRY(need_rank(function, output, 4, "[N, T, C, HW]"));
  MLUOPS_TRY(need_nonzero_dim(function, input, 2, "C"));
  MLUOPS_TRY(need_nonzero_dim(function, shifts, 1, "G"));
  const long long channels = input.desc->dims[2];
  const long long groups = shifts.desc->dims[1];
  MLUOPS_REQUIRE(channels % groups == 0, MLUOP_STATUS_BAD_PARAM, function, "shifts_desc",
                 Text::format("[N, G] with G divides C=%lld", channels), Text::format("G=%lld", groups));
  MLUOPS_TRY(need_same_shape(function, output, input));
  return need_same_dim(function, shifts, 0, input, 0);
}

mluOpStatus_t check_types(const char *function, const TensorArgument &input, const TensorArgument &shifts,
                          const TensorArgument &output) {
  MLUOPS_TRY(need_packed(function, {input, shifts, output}));
  MLUOPS_TRY(need_dtype(function, shifts, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_float_or_half(function, input));
  return need_same_dtype(function, output, input);
}

// Both directions move content by the same number of steps with the same sign.
mluOpStatus_t tin_shift(const char *function, mluOpHandle_t handle, const TensorArgument &input,
                        const TensorArgument &shifts, const TensorArgument &output) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {input, shifts, output}));
  MLUOPS_TRY(check_shapes(function, input, shifts, output));
  MLUOPS_TRY(check_types(function, input, shifts, output));
  MLUOPS_TRY(need_nonzero_dim(function, input, 0, "N"));
  MLUOPS_TRY(need_nonzero_dim(function, input, 3, "HW"));
  MLUOPS_TRY(need_indexable(function, {input, shifts, output}));
  const std::int64_t *dims = input.desc->dims;
  if (dims[1] == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {input, shifts, output}));
  MLUOPS_TRY(require_no_overlap(function, {output}, {input, shifts}));

  TinShiftProblem problem;
  problem.function = function;
  problem.input = input.data;
  problem.shifts = static_cast<const std::int32_t *>(shifts.data);
  problem.output = const_cast<void *>(output.data);
  problem.batches = dims[0];
  problem.times = dims[1];
  problem.channels = dims[2];
  problem.pixels = dims[3];
  problem.groups = shifts.desc->dims[1];
  problem.element_size = size_of(input.desc->dtype);
  return launch_tin_shift(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpTinShiftForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                 const void *input, const mluOpTensorDescriptor_t shifts_desc,
                                                 const void *shifts, const mluOpTensorDescriptor_t output_desc,
                                                 void *output) {
  return mluops::guarded("mluOpTinShiftForward", [&] {
    return mluops::tin_shift("mluOpTinShiftForward", handle, {"input", input_desc, input},
                             {"shifts", shifts_desc, shifts}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpTinShiftBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                                  const void *grad_output, const mluOpTensorDescriptor_t shifts_desc,
                                                  const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
                                                  void *grad_input) {
  return mluops::guarded("mluOpTinShiftBackward", [&] {
    return mluops::tin_shift("mluOpTinShiftBackward", handle, {"grad_output", grad_output_desc, grad_output},
                             {"shifts", shifts_desc, shifts}, {"grad_input", grad_input_desc, grad_input});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftForwardDouble(mluOpHandle_t handle,
                                                           const mluOpTensorDescriptor_t input_desc, const void *input,
                                                           const mluOpTensorDescriptor_t shifts_desc,
                                                           const void *shifts,
                                                           const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtTinShiftForwardDouble", [&] {
    return mluops::tin_shift("mluopsExtTinShiftForwardDouble", handle, {"input", input_desc, input},
                             {"shifts", shifts_desc, shifts}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input) {
  return mluops::guarded("mluopsExtTinShiftBackwardDouble", [&] {
    return mluops::tin_shift("mluopsExtTinShiftBackwardDouble", handle, {"grad_output", grad_output_desc, grad_output},
                             {"shifts", shifts_desc, shifts}, {"grad_input", grad_input_desc, grad_input});
  });
}
