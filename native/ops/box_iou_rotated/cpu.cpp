// BoxIouRotated on the CPU, in float and in double.
#include "cpu/box_pairs.h"
#include "cpu/rotated_rects.h"
#include "ops/box_iou_rotated/box_iou_rotated.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real>
mluOpStatus_t compare(const BoxIouRotatedProblem &problem) {
  using Box = RotatedBox<Real>;
  const bool of_first = problem.of_first;
  const auto value = [of_first](const Box &a, const Box &b) { return overlap_of(a, b, of_first); };
  BoxPairs<Box, Real, decltype(value)> pairs(static_cast<const Real *>(problem.first), problem.first_count,
                                             static_cast<const Real *>(problem.second), problem.second_count,
                                             static_cast<Real *>(problem.ious), value);
  if (problem.aligned) {
    pairs.run_aligned();
  } else {
    pairs.run();
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t box_iou_rotated(const BoxIouRotatedProblem &problem) {
  return problem.is_double ? compare<double>(problem) : compare<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_box_iou_rotated, box_iou_rotated, BoxIouRotatedProblem, problem.function);
