#include "cpu_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace cnnl {
namespace {

// Opens the library in the folder of this one; it is never closed. Names of functions stay inside
// it: programs have operators of the same names.
void *open_library() {
  Dl_info own;
  if (dladdr(reinterpret_cast<void *>(&find_cpu_function), &own) == 0 || own.dli_fname == nullptr) return nullptr;
  char *const real = realpath(own.dli_fname, nullptr);
  if (real == nullptr) return nullptr;
  std::string path = real;
  free(real);
  path.erase(path.rfind('/') + 1);
  path += "libmluops_cpu.so";
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void *find_cpu_function(const char *name) {
  static void *const library = open_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

cnnlStatus_t refuse_without_cpu(const char *function) {
  return refuse(CNNL_STATUS_NOT_SUPPORTED,
                "%s: expected libmluops_cpu.so, which computes this operator, in the folder of this library; it is not "
                "there or cannot be opened",
                function);
}

cnnlStatus_t answered(const char *function, const char *name, mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return CNNL_STATUS_SUCCESS;
  return refuse(static_cast<cnnlStatus_t>(status), "%s: %s of the CPU library refuses these arguments: status %d",
                function, name, static_cast<int>(status));
}

}  // namespace cnnl
