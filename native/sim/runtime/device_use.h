// Keeps the device unchanged while a thread uses its figures.
#ifndef MLUSIM_RUNTIME_DEVICE_USE_H_
#define MLUSIM_RUNTIME_DEVICE_USE_H_

#include "mlusim.h"

namespace mlusim {

// While one of these lives, the device stays what it is. Every call of the runtime holds one, so that what it reads of the
// device holds until the call is over; so does the host half of an operator. A thread may have many, one within the other.
class MLUSIM_API DeviceUse {
 public:
  DeviceUse();
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;
  ~DeviceUse();
};

// While one of these lives and alone() is true, no thread has a DeviceUse, and threads that want one wait. It looks once: alone()
// is false if a thread has one now. For short work, and only while no fork can happen.
class DeviceChange {
 public:
  DeviceChange();
  DeviceChange(const DeviceChange &) = delete;
  DeviceChange &operator=(const DeviceChange &) = delete;
  ~DeviceChange();
  bool alone() const { return alone_; }

 private:
  bool alone_ = false;
};

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_DEVICE_USE_H_
