#include "bang/dispatch.h"
#include "ops/psamask/psamask.h"

namespace mluops {

MLUOPS_BANG_LAUNCH(launch_psamask_forward, PsamaskForwardProblem)
MLUOPS_BANG_LAUNCH(launch_psamask_backward, PsamaskBackwardProblem)

}  // namespace mluops
