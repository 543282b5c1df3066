#include "ops/voxelization/voxelization.h"

namespace mluops {

std::int64_t voxel_slots(std::int64_t points, std::int64_t max_voxels) {
  const std::int64_t voxels = points < max_voxels ? points : max_voxels;
  std::int64_t slots = 64;
  while (slots < 2 * voxels) slots *= 2;
  return slots;
}

// A cell for each point, the table, and the gaps before cache lines.
std::size_t workspace_voxelization(std::int64_t points, std::int64_t max_voxels) {
  constexpr std::int64_t kLine = 64, kGaps = 3;
  const std::int64_t numbers = 3 * points + voxel_slots(points, max_voxels);
  return static_cast<std::size_t>(numbers * static_cast<std::int64_t>(sizeof(std::int32_t)) + kGaps * kLine);
}

}  // namespace mluops
