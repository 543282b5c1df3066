#include "ops/get_indice_pairs/cpu_workspace.h"

#include <algorithm>

#include "ops/get_indice_pairs/get_indice_pairs.h"

namespace mluops {
namespace {

// More planes at once would only take memory: this many threads share the work of one call at the most.
constexpr std::int64_t kMostSlots = 16;

std::size_t align(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

class Divider {
 public:
  std::size_t take(std::int64_t count, std::size_t element) {
    const std::size_t offset = used_;
    used_ += align(static_cast<std::size_t>(count) * element);
    return offset;
  }
  std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
};

}  // namespace

SparseWorkspace divide_workspace(const SparseGeometry &geometry, std::int64_t rows) {
  const std::int64_t planes = std::int64_t{geometry.filter_space[0]} * geometry.filter_space[1];
  const std::int64_t width = geometry.filter_space[2];
  const bool sub_m = geometry.sub_m != 0;
  const std::int64_t words = (rows + 63) / 64;
  SparseWorkspace parts;
  Divider divider;
  parts.rows = divider.take(rows, sizeof(SparseRecord));
  parts.rows_other = divider.take(rows, sizeof(SparseRecord));
  parts.runs = divider.take(rows + 1, sizeof(SparseRun));
  parts.run_line = divider.take(rows, sizeof(std::uint64_t));
  parts.run_sketch = divider.take(sub_m ? rows : 0, sizeof(SparseSketch));
  parts.distinct = divider.take(sub_m ? 2 * rows : 0, sizeof(std::int32_t));
  parts.links = divider.take(planes * rows, sizeof(SparseLink));
  parts.lines = divider.take(sub_m ? 0 : planes * rows, sizeof(SparseRecord));
  parts.lines_other = divider.take(sub_m ? 0 : planes * rows, sizeof(SparseRecord));
  parts.columns = divider.take(sub_m ? 0 : planes * width * rows, sizeof(std::int32_t));
  parts.slots = std::min(planes, kMostSlots);
  parts.matches_size = align(static_cast<std::size_t>(width * rows) * sizeof(std::int32_t)) +
                       align(static_cast<std::size_t>(width * words) * sizeof(std::uint64_t));
  parts.matches = divider.take(parts.slots, parts.matches_size);
  parts.total = divider.used() + kWorkspaceAlignment;
  return parts;
}

std::size_t workspace_get_indice_pairs(const SparseGeometry &geometry, std::int64_t rows) {
  return divide_workspace(geometry, rows).total;
}

}  // namespace mluops
