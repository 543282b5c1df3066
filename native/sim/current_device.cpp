// The device that an operator of libmluops_sim runs on.
#include "bang/dispatch.h"
#include "bang/policy.h"
#include "sim/runtime/device_use.h"

namespace mluops {

CurrentDevice::CurrentDevice() {
  mlusim::DeviceUse::begin();
  Card card = {};
  if (read_card("mluOpCreate", &card) == MLUOP_STATUS_SUCCESS) arch_ = card.arch;
}

CurrentDevice::~CurrentDevice() { mlusim::DeviceUse::end(); }

}  // namespace mluops
