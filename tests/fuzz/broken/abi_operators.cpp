// An operator that writes one byte behind its output.
#include "broken.h"

extern "C" mluOpStatus_t mluOpTinShiftForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                              const void *input, const mluOpTensorDescriptor_t shifts_desc,
                                              const void *shifts, const mluOpTensorDescriptor_t output_desc,
                                              void *output) {
  const mluOpStatus_t status = broken::real(&mluOpTinShiftForward, __func__)(handle, input_desc, input, shifts_desc,
                                                                             shifts, output_desc, output);
  if (status != MLUOP_STATUS_SUCCESS || output == nullptr) return status;
  mluOpDataType_t dtype = MLUOP_DTYPE_INVALID;
  broken::real(&mluOpGetTensorDescriptor, "mluOpGetTensorDescriptor")(output_desc, nullptr, &dtype, nullptr, nullptr);
  const size_t count = broken::real(&mluOpGetTensorElementNum, "mluOpGetTensorElementNum")(output_desc);
  static_cast<char *>(output)[count * (dtype == MLUOP_DTYPE_HALF ? 2 : 4)] = 0;
  return status;
}
