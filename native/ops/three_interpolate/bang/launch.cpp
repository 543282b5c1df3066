#include "bang/dispatch.h"
#include "ops/three_interpolate/three_interpolate.h"

namespace mluops {

MLUOPS_BANG_LAUNCH(launch_three_interpolate_forward, ThreeInterpolateForwardProblem)
MLUOPS_BANG_LAUNCH(launch_three_interpolate_backward, ThreeInterpolateBackwardProblem)

}  // namespace mluops
