#include "bang/dispatch.h"
#include "ops/tin_shift/tin_shift.h"

namespace mluops {

MLUOPS_BANG_LAUNCH(launch_tin_shift, TinShiftProblem)

}  // namespace mluops
