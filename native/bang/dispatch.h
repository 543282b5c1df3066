// Connects entry code with the kernels of a family: a launch function calls the variant of bang.mlu
// for the architecture of the current device. A family's bang_launch.cpp, or bang/launch.cpp, names
// its launch functions.
//
// A library has either a variant for each architecture of bang/archs.h, which the build generates
// from cards.toml, or one that serves all, as the vendor's compiler makes it.
#ifndef MLUOPS_BANG_DISPATCH_H_
#define MLUOPS_BANG_DISPATCH_H_

#include "cases/call.h"
#include "mlu_op.h"

#ifdef MLUOPS_BANG_ARCHS
#include "bang/archs.h"
#define MLUOPS_BANG_DECLARE_IN(arch, signature) \
  namespace arch_##arch {                       \
    signature;                                  \
  }
#define MLUOPS_BANG_CASE(arch, call) \
  case arch:                         \
    return arch_##arch::call;
#define MLUOPS_BANG_OTHERWISE(arch, call) \
  default:                                \
    return arch_##arch::call;
#define MLUOPS_BANG_DECLARE(signature) MLUOPS_BANG_FOR_EACH_ARCH(MLUOPS_BANG_DECLARE_IN, signature)
#define MLUOPS_BANG_CHOOSE(call)                              \
  const ::mluops::CurrentDevice device;                       \
  switch (device.arch()) {                                    \
    MLUOPS_BANG_FOR_OTHER_ARCHS(MLUOPS_BANG_CASE, call)       \
    MLUOPS_BANG_FOR_DEFAULT_ARCH(MLUOPS_BANG_OTHERWISE, call) \
  }
#else
#define MLUOPS_BANG_DECLARE(signature) \
  namespace mlu {                      \
  signature;                           \
  }
#define MLUOPS_BANG_CHOOSE(call) return mlu::call;
#endif

#define MLUOPS_BANG_LAUNCH(launch, Problem)                                 \
  MLUOPS_BANG_DECLARE(mluOpStatus_t launch(mluOpHandle_t, const Problem &)) \
  mluOpStatus_t launch(mluOpHandle_t handle, const Problem &problem) {      \
    about_to_launch();                                                      \
    MLUOPS_BANG_CHOOSE(launch(handle, problem))                             \
  }

namespace mluops {

// The current device. It stays what it is while one of these lives, so that a variant, its policy
// and the launch see the same one. A library with several variants defines the members.
class CurrentDevice {
 public:
  CurrentDevice();
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &operator=(const CurrentDevice &) = delete;
  ~CurrentDevice();

  // As in __BANG_ARCH__; 0 if it is unknown.
  int arch() const { return arch_; }

 private:
  int arch_ = 0;
};

}  // namespace mluops

#endif  // MLUOPS_BANG_DISPATCH_H_
