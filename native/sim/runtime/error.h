// CNRT errors: the last error of each host thread, and the common frame of all functions.
#ifndef MLUSIM_RUNTIME_ERROR_H_
#define MLUSIM_RUNTIME_ERROR_H_

#include <new>

#include "base/explain.h"
#include "cnrt.h"
#include "runtime/card_choice.h"
#include "runtime/device_use.h"

namespace mlusim {

// Stores `error` as the calling thread's last error, unless it is success, and returns it.
cnrtRet_t note(cnrtRet_t error);

// Refuses a number that no device has; `argument` is its name.
cnrtRet_t check_device(const char *function, const char *argument, int device);

// Returns the name of the function that the program called: `function`, or one that it works for.
const char *called_name(const char *function);

// Calls body(function) for a CNRT function: catches all exceptions, stores the error as the
// thread's last one, and keeps the device from changing.
template <typename Body>
cnrtRet_t guarded(const char *function, const Body &body) noexcept {
  const DeviceUse use;
  function = called_name(function);
  const cnrtRet_t refused = check_environment(function);
  if (refused != cnrtSuccess) return note(refused);
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
