// The launch functions that entry code calls: each goes to the variant of bang.mlu for the current device's architecture.
//
// The simulator has a variant per architecture; the vendor's compiler makes one that serves all.
#include "bang/policy.h"
#include "core/reason.h"
#include "ops/border_align/border_align.h"
#include "ops/get_indice_pairs/get_indice_pairs.h"
#include "ops/psamask/psamask.h"
#include "ops/three_interpolate/three_interpolate.h"
#include "ops/tin_shift/tin_shift.h"

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
#define MLUOPS_BANG_CHOOSE(call) \
  const mlusim::DeviceUse use;   \
  switch (current_arch()) {      \
    case 270:                    \
      return arch_270::call;     \
    case 290:                    \
      return arch_290::call;     \
    case 592:                    \
      return arch_592::call;     \
    default:                     \
      return arch_372::call;     \
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

#ifdef MLUOPS_BANG_ARCHS
namespace {

int current_arch() {
  Card card = {};
  return read_card("mluOpCreate", &card) == MLUOP_STATUS_SUCCESS ? card.arch : 0;
}

}  // namespace
#endif

MLUOPS_BANG_LAUNCH(launch_tin_shift, TinShiftProblem)
MLUOPS_BANG_LAUNCH(launch_psamask_forward, PsamaskForwardProblem)
MLUOPS_BANG_LAUNCH(launch_psamask_backward, PsamaskBackwardProblem)
MLUOPS_BANG_LAUNCH(launch_border_align_forward, BorderAlignForwardProblem)
MLUOPS_BANG_LAUNCH(launch_border_align_backward, BorderAlignBackwardProblem)
MLUOPS_BANG_LAUNCH(launch_three_interpolate_forward, ThreeInterpolateForwardProblem)
MLUOPS_BANG_LAUNCH(launch_three_interpolate_backward, ThreeInterpolateBackwardProblem)
MLUOPS_BANG_LAUNCH(launch_get_indice_pairs, GetIndicePairsProblem)

MLUOPS_BANG_DECLARE(std::size_t workspace_get_indice_pairs(const SparseGeometry &, std::int64_t))
std::size_t workspace_get_indice_pairs(const SparseGeometry &geometry, std::int64_t rows) {
  MLUOPS_BANG_CHOOSE(workspace_get_indice_pairs(geometry, rows))
}

}  // namespace mluops
