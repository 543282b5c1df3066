// No C++ exception crosses the C ABI.
#ifndef MLUOPS_CORE_EXCEPTION_GUARD_H_
#define MLUOPS_CORE_EXCEPTION_GUARD_H_

#include <exception>
#include <new>

#include "core/reason.h"

namespace mluops {

template <typename Body>
mluOpStatus_t guarded(const char *function, const Body &body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return out_of_memory(function);
  } catch (const std::exception &error) {
    return fail(MLUOP_STATUS_INTERNAL_ERROR, function, error.what());
  } catch (...) {
    return fail(MLUOP_STATUS_INTERNAL_ERROR, function, "unknown exception");
  }
}

}  // namespace mluops

#endif  // MLUOPS_CORE_EXCEPTION_GUARD_H_
