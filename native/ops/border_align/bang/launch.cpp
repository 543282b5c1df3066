#include "bang/dispatch.h"
#include "ops/border_align/border_align.h"

namespace mluops {

MLUOPS_BANG_LAUNCH(launch_border_align_forward, BorderAlignForwardProblem)
MLUOPS_BANG_LAUNCH(launch_border_align_backward, BorderAlignBackwardProblem)

}  // namespace mluops
