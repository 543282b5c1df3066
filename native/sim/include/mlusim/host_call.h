// Tells the simulator that a function of the host runs on behalf of Python: if it ends the process, the simulator says so.
#ifndef MLUSIM_HOST_CALL_H_
#define MLUSIM_HOST_CALL_H_

#include "mlusim.h"

namespace mlusim {

// Without a name there is none.
struct HostCall {
  const char *name = nullptr;
  const void *frame = nullptr;  // of the function that called it
};

}  // namespace mlusim

// Makes this the call of this thread, and returns the one that was.
extern "C" MLUSIM_API void mlusim_change_host_call(const ::mlusim::HostCall *next, ::mlusim::HostCall *before);

namespace mlusim {

class WithinHostCall {
 public:
  explicit WithinHostCall(const char *name) {
    const HostCall call = {name, __builtin_frame_address(0)};
    mlusim_change_host_call(&call, &before_);
  }
  WithinHostCall(const WithinHostCall &) = delete;
  WithinHostCall &operator=(const WithinHostCall &) = delete;
  ~WithinHostCall() {
    HostCall ended;
    mlusim_change_host_call(&before_, &ended);
  }

 private:
  HostCall before_;
};

}  // namespace mlusim

#endif  // MLUSIM_HOST_CALL_H_
