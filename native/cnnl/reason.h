// The reason of a refused call, and the common frame of all functions.
#ifndef CNNL_REASON_H_
#define CNNL_REASON_H_

#include <exception>
#include <new>

#include "cnnl.h"

namespace cnnl {

// Keeps a sentence for cnnlStandInGetLastReason(); returns `status`.
cnnlStatus_t refuse(cnnlStatus_t status, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

inline cnnlStatus_t refuse_null(const char *function, const char *argument) {
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected a pointer, got NULL", function, argument);
}

// Calls body(function); no exception leaves it.
template <typename Body>
cnnlStatus_t guarded(const char *function, const Body &body) noexcept {
  try {
    return body(function);
  } catch (const std::bad_alloc &) {
    return refuse(CNNL_STATUS_ALLOC_FAILED, "%s: out of host memory", function);
  } catch (const std::exception &error) {
    return refuse(CNNL_STATUS_INTERNAL_ERROR, "%s: %s", function, error.what());
  }
}

}  // namespace cnnl

#define CNNL_TRY(call)                                                                                            \
  do {                                                                                                            \
    if (const cnnlStatus_t status_of_call = (call); status_of_call != CNNL_STATUS_SUCCESS) return status_of_call; \
  } while (false)

#endif  // CNNL_REASON_H_
