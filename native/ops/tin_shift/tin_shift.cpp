#include "ops/tin_shift/tin_shift.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

mluOpStatus_t check_shapes(const Entry &entry, const TensorArgument &input, const TensorArgument &shifts,
                           const TensorArgument &output) {
  MLUOPS_TRY(need_rank(entry, input, 4, "[N, T, C, HW]"));
  MLUOPS_TRY(need_rank(entry, shifts, 2, "[N, G]"));
  MLUOPS_TRY(need_rank(entry, output, 4, "[N, T, C, HW]"));
  MLUOPS_TRY(need_nonzero_dim(entry, input, 2, "C"));
  MLUOPS_TRY(need_nonzero_dim(entry, shifts, 1, "G"));
  const long long channels = input.desc->dims[2];
  const long long groups = shifts.desc->dims[1];
  MLUOPS_REQUIRE(channels % groups == 0, MLUOP_STATUS_BAD_PARAM, entry, "shifts_desc",
                 Text::format("[N, G] with G divides C=%lld", channels), Text::format("G=%lld", groups));
  MLUOPS_TRY(need_same_shape(entry, output, input));
  return need_same_dim(entry, shifts, 0, input, 0);
}

mluOpStatus_t check_types(const Entry &entry, const TensorArgument &input, const TensorArgument &shifts,
                          const TensorArgument &output) {
  MLUOPS_TRY(need_packed(entry, {input, shifts, output}));
  MLUOPS_TRY(need_dtype(entry, shifts, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_float_or_half(entry, input));
  return need_same_dtype(entry, output, input);
}

// Both directions move content by the same number of steps with the same sign.
mluOpStatus_t tin_shift(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                        const TensorArgument &shifts, const TensorArgument &output) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, shifts, output}));
  MLUOPS_TRY(check_shapes(entry, input, shifts, output));
  MLUOPS_TRY(check_types(entry, input, shifts, output));
  MLUOPS_TRY(need_nonzero_dim(entry, input, 0, "N"));
  MLUOPS_TRY(need_nonzero_dim(entry, input, 3, "HW"));
  MLUOPS_TRY(need_indexable(entry, {input, shifts, output}));
  const std::int64_t *dims = input.desc->dims;
  if (dims[1] == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {input, shifts, output}));
  MLUOPS_TRY(require_no_overlap(entry, {output}, {input, shifts}));

  TinShiftProblem problem;
  problem.function = entry.function;
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

mluOpStatus_t tin_shift_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                                const TensorArgument &shifts, const TensorArgument &output) {
  return tin_shift(entry, handle, input, shifts, output);
}

mluOpStatus_t tin_shift_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                                 const TensorArgument &shifts, const TensorArgument &grad_input) {
  return tin_shift(entry, handle, grad_output, shifts, grad_input);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(TinShiftForward);
MLUOPS_IN_DOUBLE(TinShiftBackward);

mluOpStatus_t MLUOP_WIN_API mluOpTinShiftForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                 const void *input, const mluOpTensorDescriptor_t shifts_desc,
                                                 const void *shifts, const mluOpTensorDescriptor_t output_desc,
                                                 void *output) {
  return mluops::guarded("mluOpTinShiftForward", [&] {
    return mluops::tin_shift_forward({"mluOpTinShiftForward"}, handle, {"input", input_desc, input},
                                     {"shifts", shifts_desc, shifts}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpTinShiftBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                                  const void *grad_output, const mluOpTensorDescriptor_t shifts_desc,
                                                  const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
                                                  void *grad_input) {
  return mluops::guarded("mluOpTinShiftBackward", [&] {
    return mluops::tin_shift_backward({"mluOpTinShiftBackward"}, handle, {"grad_output", grad_output_desc, grad_output},
                                      {"shifts", shifts_desc, shifts}, {"grad_input", grad_input_desc, grad_input});
  });
}
