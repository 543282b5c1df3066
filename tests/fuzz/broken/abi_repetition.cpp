// An operator whose result depends on what its output held.
#include "broken.h"

extern "C" mluOpStatus_t mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type,
                                             const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
                                             const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y) {
  const char before = y == nullptr ? '\0' : *static_cast<char *>(y);
  const mluOpStatus_t status =
      broken::real(&mluOpPsamaskForward, __func__)(handle, psa_type, x_desc, x, h_mask, w_mask, y_desc, y);
  if (status == MLUOP_STATUS_SUCCESS && h_mask == 3) *static_cast<char *>(y) = before;
  return status;
}
