// The true functions behind the broken ones.
#ifndef MLUOPS_FUZZ_BROKEN_H_
#define MLUOPS_FUZZ_BROKEN_H_

#include <dlfcn.h>

#include <cstdlib>

#include "mlu_op.h"

namespace broken {

template <typename Function>
Function *real(Function *, const char *name) {
  static void *library = dlopen(std::getenv("MLUOPS_FUZZ_LIBRARY"), RTLD_NOW);
  return reinterpret_cast<Function *>(dlsym(library, name));
}

}  // namespace broken

#endif  // MLUOPS_FUZZ_BROKEN_H_
