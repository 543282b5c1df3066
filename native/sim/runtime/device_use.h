// Keeps the device from changing while a thread uses its figures.
#ifndef MLUSIM_RUNTIME_DEVICE_USE_H_
#define MLUSIM_RUNTIME_DEVICE_USE_H_

#include "mlusim.h"

namespace mlusim {

// While such an object lives, the device does not change. Every function of the runtime holds one,
// so that device figures stay valid until it returns, and so does the host part of an operator. A
// thread may hold several, nested.
class MLUSIM_API DeviceUse {
 public:
  DeviceUse() { begin(); }
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;
  ~DeviceUse() { end(); }

  // What constructor and destructor do, for an object of another class that lives as long.
  static void begin();
  static void end();
};

// While such an object lives and alone() is true, no thread holds a DeviceUse, and new ones wait.
// The constructor does not wait: alone() is false if another thread holds a DeviceUse at that
// moment. For short work, and only while no fork can happen.
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
