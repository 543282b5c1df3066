// How entry code reaches the kernels of a family: a launch function goes to the variant of bang.mlu for the current device's
// architecture. A family's bang_launch.cpp names its launch functions.
//
// The simulator has a variant per architecture; the vendor's compiler makes one that serves all.
#ifndef MLUOPS_BANG_DISPATCH_H_
#define MLUOPS_BANG_DISPATCH_H_

#include "mlu_op.h"

#ifdef MLUOPS_BANG_ARCHS
#include "sim/runtime/device_use.h"  // so that the variant and its policy see the same device until the launch
#define MLUOPS_BANG_DECLARE(signature) \
  namespace arch_270 {                 \
  signature;                           \
  }                                    \
  namespace arch_290 {                 \
  signature;                           \
  }                                    \
  namespace arch_372 {                 \
  signature;                           \
  }                                    \
  namespace arch_592 {                 \
  signature;                           \
  }
#define MLUOPS_BANG_CHOOSE(call)      \
  const mlusim::DeviceUse use;        \
  switch (::mluops::current_arch()) { \
    case 270:                         \
      return arch_270::call;          \
    case 290:                         \
      return arch_290::call;          \
    case 592:                         \
      return arch_592::call;          \
    default:                          \
      return arch_372::call;          \
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
  mluOpStatus_t launch(mluOpHandle_t handle, const Problem &problem) { MLUOPS_BANG_CHOOSE(launch(handle, problem)) }

namespace mluops {

// The architecture of the current device, as in __BANG_ARCH__; 0 if it is unknown.
int current_arch();

}  // namespace mluops

#endif  // MLUOPS_BANG_DISPATCH_H_
