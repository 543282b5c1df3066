// A tracing tool: it stands between compiled launches and the runtime.
#include <cnrt.h>
#include <dlfcn.h>
#include <stdio.h>

#include <map>
#include <string>

static std::map<const void *, std::string> &names() {
  static auto *all = new std::map<const void *, std::string>;
  return *all;
}

extern "C" {
void __real___bangRegisterFunction(void **, const char *, char *, const char *, int, cnrtDim3_t *, cnrtDim3_t *, int *);

void __wrap___bangRegisterFunction(void **module, const char *host, char *device, const char *name, int limit,
                                   cnrtDim3_t *id, cnrtDim3_t *dim, int *w) {
  names()[host] = name;
  __real___bangRegisterFunction(module, host, device, name, limit, id, dim, w);
}

cnrtRet_t __wrap_cnrtInvokeKernel(const void *kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void **arguments,
                                  size_t reserved, cnrtQueue_t queue) {
  void *runtime = dlopen("libcnrt.so", RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) return cnrtErrorNotFound;
  const auto real = (decltype(&cnrtInvokeKernel))dlsym(runtime, "cnrtInvokeKernel");
  printf("%s %u\n", names()[kernel].c_str(), dim.x * dim.y * dim.z);
  return real(kernel, dim, type, arguments, reserved, queue);
}
}
