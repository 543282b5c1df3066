// Names of the statuses, version of the ABI, and the last reason.
#include "core/reason.h"
#include "mluops_ext/library.h"

const char *MLUOP_WIN_API mluOpGetErrorString(mluOpStatus_t status) {
  switch (status) {
#define MLUOPS_NAME(enumerator) \
  case enumerator:              \
    return #enumerator
    MLUOPS_NAME(MLUOP_STATUS_SUCCESS);
    MLUOPS_NAME(MLUOP_STATUS_NOT_INITIALIZED);
    MLUOPS_NAME(MLUOP_STATUS_ALLOC_FAILED);
    MLUOPS_NAME(MLUOP_STATUS_BAD_PARAM);
    MLUOPS_NAME(MLUOP_STATUS_INTERNAL_ERROR);
    MLUOPS_NAME(MLUOP_STATUS_ARCH_MISMATCH);
    MLUOPS_NAME(MLUOP_STATUS_EXECUTION_FAILED);
    MLUOPS_NAME(MLUOP_STATUS_NOT_SUPPORTED);
    MLUOPS_NAME(MLUOP_STATUS_NUMERICAL_OVERFLOW);
#undef MLUOPS_NAME
  }
  return "MLUOP_STATUS_UNKNOWN";
}

void MLUOP_WIN_API mluOpGetLibVersion(int *major, int *minor, int *patch) {
  if (major != nullptr) *major = MLUOP_MAJOR;
  if (minor != nullptr) *minor = MLUOP_MINOR;
  if (patch != nullptr) *patch = MLUOP_PATCHLEVEL;
}

const char *MLUOP_WIN_API mluopsExtGetLastReason(void) { return mluops::last_reason(); }

const char *MLUOP_WIN_API mluopsExtGetLibraryVersion(void) { return MLUOPS_LIBRARY_VERSION; }
