// A library without operators: a handle, and the functions that return no status. The generated
// placeholders are the rest.
#include "core/reason.h"
#include "mluops_ext.h"

mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t *handle) {
  static int something;
  if (handle == nullptr) return mluops::refuse(MLUOP_STATUS_BAD_PARAM, "mluOpCreate", "handle", "a pointer", "NULL");
  *handle = reinterpret_cast<mluOpHandle_t>(&something);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t) { return MLUOP_STATUS_SUCCESS; }
size_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t) { return 0; }
void MLUOP_WIN_API mluOpSetGenCaseMode(int) {}
const char *MLUOP_WIN_API mluOpGetGenCaseDirectory(char *, size_t, size_t *, mluOpStatus_t *) { return nullptr; }
const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void) { return "bare"; }
