// Overlaps of boxes in space and suppression by them on the CPU, in float and in double.
#include "cpu/bev_boxes.h"
#include "cpu/box_pairs.h"
#include "cpu/suppression.h"
#include "ops/boxes3d/boxes3d.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real, typename Value>
void compare(const BoxesValuesProblem &problem, const Value &value) {
  BoxPairs<BevBox<Real>, Real, Value> pairs(static_cast<const Real *>(problem.first), problem.first_count,
                                            static_cast<const Real *>(problem.second), problem.second_count,
                                            static_cast<Real *>(problem.values), value);
  if (problem.aligned) {
    pairs.run_aligned();
  } else {
    pairs.run();
  }
}

template <typename Real>
mluOpStatus_t values(const BoxesValuesProblem &problem) {
  using Box = BevBox<Real>;
  switch (problem.value) {
    case BoxesValue::kOverlapBev:
      compare<Real>(problem, [](const Box &a, const Box &b) { return common_area_from_above(a, b); });
      break;
    case BoxesValue::kIouBev:
      compare<Real>(problem, [](const Box &a, const Box &b) { return overlap_of(a, b, false); });
      break;
    case BoxesValue::kIou3d:
      compare<Real>(problem, [](const Box &a, const Box &b) { return iou_of_volumes(a, b); });
      break;
  }
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real, typename Box, typename Overlap>
mluOpStatus_t keep_boxes(const BoxesSuppressionProblem &problem, const Overlap &overlap) {
  Arena size(nullptr);
  SuppressionMemory<Box>(size, problem.count);
  Scratch<char> scratch(size.used());
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  const SuppressionMemory<Box> memory(arena, problem.count);
  const Candidates<Real> candidates{static_cast<const Real *>(problem.boxes), kBoxNumbers,
                                    static_cast<const Real *>(problem.scores), problem.count};
  const Real threshold = static_cast<Real>(problem.iou_threshold);
  *problem.kept_count = static_cast<std::int32_t>(suppress(candidates, overlap, threshold, memory, problem.kept));
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real>
mluOpStatus_t suppression(const BoxesSuppressionProblem &problem) {
  using Aligned = AlignedBevBox<Real>;
  using Rotated = BevBox<Real>;
  if (problem.upright)
    return keep_boxes<Real, Aligned>(problem, [](const Aligned &a, const Aligned &b) { return iou_of_aligned(a, b); });
  return keep_boxes<Real, Rotated>(problem, [](const Rotated &a, const Rotated &b) { return overlap_of(a, b, false); });
}

}  // namespace

mluOpStatus_t boxes_values(const BoxesValuesProblem &problem) {
  return problem.is_double ? values<double>(problem) : values<float>(problem);
}

mluOpStatus_t boxes_suppression(const BoxesSuppressionProblem &problem) {
  return problem.is_double ? suppression<double>(problem) : suppression<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_boxes_values, boxes_values, BoxesValuesProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_boxes_suppression, boxes_suppression, BoxesSuppressionProblem, problem.function);
