// The division of the work and of the workspace on the CPU. It depends on sizes and counts alone,
// so the size from the query fits the call, and results do not depend on threads or instruction
// levels.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_WORKSPACE_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_WORKSPACE_H_

#include "ops/indice_convolution/indice_convolution.h"

namespace mluops {

// Lanes of the widest vector: channels are padded to a multiple.
constexpr std::int64_t kMostLanes = 16;

inline std::int64_t padded_channels(std::int64_t channels);

// Some consecutive pairs of a cell.
struct PairSegment {
  std::int64_t cell;
  std::int64_t begin;
  std::int64_t end;
  PairFault fault;
};

struct ProductPlan {
  std::int64_t block_shift;  // 2^block_shift rows of the target make a block, which one task owns
  std::int64_t blocks;
  std::int64_t segment_length;
  std::int64_t segments;
  std::int64_t pairs;
  // Parts of the workspace, aligned to cache lines.
  PairSegment *segment;
  std::int32_t *counts;  // [segments, blocks]: pairs of a segment whose target is in a block
  std::int64_t *places;  // [segments, blocks]: the targets of these pairs
  std::int64_t *starts;  // [blocks + 1, cells]: first pair of a block and cell, in the cell or among the sorted ones
  std::int32_t *sorted_sources;  // by block, cell and number; -1: none
  std::int32_t *sorted_targets;
  char *panels;  // filters as floats or doubles: [cells, tiles of target channels, source channels, lanes of the tile]
  char *source;  // as floats, if it is of halves
  std::size_t bytes;
};

struct GradientPlan {
  std::int64_t segment_length;
  std::int64_t segments;
  PairSegment *segment;
  char *sums;  // floats or doubles [segments, feature channels, padded output channels]
  std::size_t bytes;
};

ProductPlan plan_product(const IndiceProductProblem &problem);
GradientPlan plan_gradient(const FilterGradientProblem &problem);

// Fills the segments.
void cut_segments(const Rulebook &rulebook, std::int64_t length, PairSegment *segments);

inline std::int64_t padded_channels(std::int64_t channels) {
  return (channels + kMostLanes - 1) / kMostLanes * kMostLanes;
}

}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_WORKSPACE_H_
