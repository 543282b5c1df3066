// A setter that stores its value and then refuses it.
#include "broken.h"

extern "C" mluOpStatus_t mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc, int position) {
  const auto real = broken::real(&mluOpSetTensorDescriptorPosition, __func__);
  const mluOpStatus_t status = real(desc, position);
  return position == 7 ? real(nullptr, position) : status;
}
