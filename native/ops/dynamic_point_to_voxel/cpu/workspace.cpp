#include "ops/dynamic_point_to_voxel/dynamic_point_to_voxel.h"

namespace mluops {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kNumber = sizeof(std::int32_t), kKey = sizeof(std::uint64_t);

}  // namespace

// Places, two lists of keys, one of numbers and the gaps before cache lines.
std::size_t workspace_scatter_forward(std::int64_t points) {
  return static_cast<std::size_t>(points) * (3 * kNumber + 2 * kKey + kNumber) + 5 * kLine;
}

// Where the list of each voxel begins, a list of points and the gaps.
std::size_t workspace_scatter_backward(std::int64_t points, std::int64_t rows) {
  return (static_cast<std::size_t>(points) + static_cast<std::size_t>(rows) + 3) * kNumber + 3 * kLine;
}

}  // namespace mluops
