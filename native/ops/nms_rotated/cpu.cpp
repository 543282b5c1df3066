// NmsRotated on the CPU, in float and in double.
#include "cpu/suppression.h"
#include "ops/nms_rotated/nms_rotated.h"

MLUOPS_BEGIN_LEVEL
namespace {

// The first whole cache line of some memory.
char *aligned(void *memory) {
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(memory);
  return reinterpret_cast<char *>((place + kCacheLine - 1) / kCacheLine * kCacheLine);
}

template <typename Real>
mluOpStatus_t keep_boxes(const NmsRotatedProblem &problem) {
  using Box = RotatedBox<Real>;
  Arena size(nullptr);
  SuppressionMemory<Box>(size, problem.count);
  const std::int64_t needed = size.used() + static_cast<std::int64_t>(kCacheLine);
  const bool given = problem.workspace_size >= needed;
  Scratch<char> scratch(given ? 0 : needed);
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(aligned(given ? problem.workspace : scratch.data()));
  const SuppressionMemory<Box> memory(arena, problem.count);
  const auto overlap = [](const Box &a, const Box &b) { return overlap_of(a, b, false); };
  const Candidates<Real> candidates{static_cast<const Real *>(problem.boxes), problem.columns,
                                    static_cast<const Real *>(problem.scores), problem.count};
  const std::int64_t kept =
      suppress(candidates, overlap, static_cast<Real>(problem.iou_threshold), memory, problem.kept);
  *problem.kept_count = static_cast<std::int32_t>(kept);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t nms_rotated(const NmsRotatedProblem &problem) {
  return problem.is_double ? keep_boxes<double>(problem) : keep_boxes<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_nms_rotated, nms_rotated, NmsRotatedProblem, problem.function);
