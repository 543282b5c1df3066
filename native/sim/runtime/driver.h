// The common frame of the functions of the driver interface.
#ifndef MLUSIM_RUNTIME_DRIVER_H_
#define MLUSIM_RUNTIME_DRIVER_H_

#include <new>
#include <utility>

#include "base/thread_state.h"
#include "cn_api.h"
#include "runtime/error.h"

namespace mlusim {

// Driver errors have the same numbers as the corresponding CNRT errors.
CNresult result_of(cnrtRet_t error);

// Calls a CNRT function without a change of the thread's last error.
template <typename Call>
cnrtRet_t quietly(const Call &call) {
  const cnrtRet_t before = cnrtGetLastError();
  const cnrtRet_t error = call();
  cnrtGetLastError();
  note(before);
  return error;
}

// Calls body(function) for a driver function, without a change of CNRT's last error.
template <typename Body>
CNresult answered(const char *function, const Body &body) noexcept {
  const DeviceUse use;
  const cnrtRet_t refused = check_environment(function);
  if (refused != cnrtSuccess) return result_of(refused);
  try {
    return result_of(body(function));
  } catch (const std::bad_alloc &) {
    return result_of(explain(cnrtErrorUnknown, "%s: out of host memory", function));
  } catch (...) {
    return result_of(explain(cnrtErrorUnknown, "%s: unexpected exception", function));
  }
}

// The same where CNRT functions do the work; their messages name the driver function.
template <typename Body>
CNresult answered_by_runtime(const char *function, const Body &body) noexcept {
  return answered(function, [&](const char *called) {
    const char *const before = std::exchange(thread_state().called, called);
    const cnrtRet_t error = quietly(body);
    thread_state().called = before;
    return error;
  });
}

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_DRIVER_H_
