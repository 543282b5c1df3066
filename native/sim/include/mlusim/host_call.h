// Tells the simulator that a host function runs on behalf of Python: if the function ends the
// process, the simulator reports that.
#ifndef MLUSIM_HOST_CALL_H_
#define MLUSIM_HOST_CALL_H_

#include "mlusim.h"

namespace mlusim {

// A call without a name stands for none.
struct HostCall {
  const char *name = nullptr;
  const void *frame = nullptr;  // the frame of the caller
};

}  // namespace mlusim

// Makes `next` the current call of this thread; `before` becomes the previous one.
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
