// Functions of the ABI that a library does not implement, and the query for them.
#include "core/unimplemented.h"

#include <cstring>

#include "core/reason.h"
#include "mluops_ext/library.h"

mluOpStatus_t mluops_not_implemented(const char *function) {
  return mluops::fail(MLUOP_STATUS_NOT_SUPPORTED, function,
                      mluops::Text::format("not implemented by the %s library", mluopsExtGetLibraryKind()));
}

int MLUOP_WIN_API mluopsExtImplements(const char *function) {
  if (function == nullptr) return 0;
  for (size_t i = 0; i < mluops_entry_count; ++i) {
    const mluopsEntry &entry = mluops_entries[i];
    if (std::strcmp(entry.name, function) != 0) continue;
    return entry.function != entry.placeholder ? 1 : 0;
  }
  return 0;
}
