#include "ops/indice_convolution/cpu/workspace.h"

#include <algorithm>

namespace mluops {
namespace {

constexpr std::size_t kLine = 64;

// Divides the workspace, which need not be aligned. Without memory it only computes the size.
class Divider {
 public:
  explicit Divider(void *memory) : start_(reinterpret_cast<std::uintptr_t>(memory)) {
    next_ = (start_ + kLine - 1) / kLine * kLine;
  }

  template <typename Value>
  Value *take(std::int64_t count, std::size_t size = sizeof(Value)) {
    const std::uintptr_t place = next_;
    next_ += (static_cast<std::size_t>(count) * size + kLine - 1) / kLine * kLine;
    return start_ == 0 ? nullptr : reinterpret_cast<Value *>(place);
  }

  // Enough for any alignment.
  std::size_t bytes() const { return next_ - start_ + kLine; }

 private:
  std::uintptr_t start_;
  std::uintptr_t next_;
};

std::int64_t segments_of(const Rulebook &rulebook, std::int64_t length) {
  std::int64_t segments = 0;
  for (std::int64_t k = 0; k < rulebook.cells; ++k) segments += (rulebook.counts[k] + length - 1) / length;
  return segments;
}

std::size_t value_size(RealType type) { return type == RealType::kDouble ? sizeof(double) : sizeof(float); }

// Sums of a block fit into half of a small L2 cache, and there are enough blocks to share out if
// there are enough rows.
std::int64_t block_shift(const IndiceProductProblem &problem) {
  constexpr std::int64_t kBlockBytes = 1 << 17, kLeastShift = 6, kMostShift = 12, kBlocksWanted = 16;
  const std::int64_t row = problem.target_channels * static_cast<std::int64_t>(value_size(problem.type));
  std::int64_t shift = kLeastShift;
  while (shift < kMostShift && (row << (shift + 1)) <= kBlockBytes &&
         (kBlocksWanted << (shift + 1)) <= problem.target_rows)
    ++shift;
  return shift;
}

}  // namespace

ProductPlan plan_product(const IndiceProductProblem &problem) {
  constexpr std::int64_t kSegment = 1 << 13;
  const Rulebook &rulebook = problem.rulebook;
  const std::size_t size = value_size(problem.type);
  ProductPlan plan;
  plan.block_shift = block_shift(problem);
  plan.blocks = ((problem.target_rows - 1) >> plan.block_shift) + 1;
  plan.segment_length = std::max(kSegment, 4 * plan.blocks);
  plan.segments = segments_of(rulebook, plan.segment_length);
  plan.pairs = 0;
  for (std::int64_t k = 0; k < rulebook.cells; ++k) plan.pairs += rulebook.counts[k];
  Divider divider(problem.workspace);
  plan.segment = divider.take<PairSegment>(plan.segments);
  plan.counts = divider.take<std::int32_t>(plan.segments * plan.blocks);
  plan.places = divider.take<std::int64_t>(plan.segments * plan.blocks);
  plan.starts = divider.take<std::int64_t>((plan.blocks + 1) * rulebook.cells);
  plan.sorted_sources = divider.take<std::int32_t>(plan.pairs);
  plan.sorted_targets = divider.take<std::int32_t>(plan.pairs);
  plan.panels =
      divider.take<char>(rulebook.cells * problem.source_channels * padded_channels(problem.target_channels), size);
  const bool widened = problem.type == RealType::kHalf;
  plan.source = divider.take<char>(widened ? problem.source_rows * problem.source_channels : 0, size);
  plan.bytes = divider.bytes();
  return plan;
}

GradientPlan plan_gradient(const FilterGradientProblem &problem) {
  // Sums of a segment are a small part of the memory of its pairs, or of the filters.
  constexpr std::int64_t kSegment = 1 << 12, kSumsPerPair = 16;
  const std::int64_t sums = problem.feature_channels * padded_channels(problem.output_channels);
  GradientPlan plan;
  plan.segment_length = std::max(kSegment, sums / kSumsPerPair);
  plan.segments = segments_of(problem.rulebook, plan.segment_length);
  Divider divider(problem.workspace);
  plan.segment = divider.take<PairSegment>(plan.segments);
  plan.sums = divider.take<char>(plan.segments * sums, value_size(problem.type));
  plan.bytes = divider.bytes();
  return plan;
}

void cut_segments(const Rulebook &rulebook, std::int64_t length, PairSegment *segments) {
  for (std::int64_t k = 0; k < rulebook.cells; ++k) {
    for (std::int64_t begin = 0; begin < rulebook.counts[k]; begin += length)
      *segments++ = PairSegment{k, begin, std::min(begin + length, rulebook.counts[k]), PairFault()};
  }
}

std::size_t workspace_indice_product(const IndiceProductProblem &problem) { return plan_product(problem).bytes; }

std::size_t workspace_filter_gradient(const FilterGradientProblem &problem) { return plan_gradient(problem).bytes; }

}  // namespace mluops
