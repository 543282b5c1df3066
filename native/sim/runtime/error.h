// Errors of CNRT: the last one of each host thread, and the frame of every function.
#ifndef MLUSIM_RUNTIME_ERROR_H_
#define MLUSIM_RUNTIME_ERROR_H_

#include <new>

#include "base/explain.h"
#include "cnrt.h"
#include "runtime/device_use.h"

namespace mlusim {

// Makes `error` the calling thread's last error, if it is one, and returns it.
cnrtRet_t note(cnrtRet_t error);

// Calls body(function) for a CNRT function; no exception leaves it, and its error becomes the thread's last one. The device stays
// the same meanwhile.
template <typename Body>
cnrtRet_t guarded(const char *function, const Body &body) noexcept {
  const DeviceUse use;
  try {
    return note(body(function));
  } catch (const std::bad_alloc &) {
    return note(explain(cnrtErrorSysNoMem, "%s: out of host memory", function));
  } catch (...) {
    return note(explain(cnrtErrorUnknown, "%s: unexpected exception", function));
  }
}

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_ERROR_H_
