// Psamask on the CPU. Every line of the result is written once, values and zeros in memory order;
// results too large for the caches with non-temporal stores.
//
// Collect moves runs that stay contiguous. Distribute is its transpose between positions and
// targets: squares are transposed in registers, and write-combining buffers collect long pieces of
// the lines of the result.
#include "ops/psamask/cpu/collect.h"
#include "ops/psamask/cpu/distribute_backward.h"
#include "ops/psamask/cpu/distribute_forward.h"
#include "ops/psamask/cpu/double.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Tasks per piece, for about 16384 floats of output.
inline std::int64_t grain(std::int64_t floats_per_task) { return 16384 / (floats_per_task + 1) + 1; }

template <typename Distribute>
mluOpStatus_t run_distribute(const char *function, const Distribute &distribute, bool nontemporal) {
  const std::int64_t slots = useful_slots(distribute.tasks(), distribute.values());
  const std::int64_t slot_size = WriteCombiningBuffer::size(distribute.buffer_lines(), distribute.buffer_width());
  const Scratch<float> buffers(slots * slot_size);
  if (buffers.data() == nullptr) return out_of_memory(function);
  parallel_slots(distribute.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    const WriteCombiningBuffer buffer(buffers.data() + slot * slot_size, distribute.buffer_lines(),
                                      distribute.buffer_width(), nontemporal);
    distribute.run(buffer, task);
  });
  return MLUOP_STATUS_SUCCESS;
}

inline const double *doubles(const void *values) { return static_cast<const double *>(values); }
inline double *doubles(void *values) { return static_cast<double *>(values); }

}  // namespace

mluOpStatus_t psamask_forward(const PsamaskForwardProblem &problem) {
  const Map g(problem.geometry);
  if (g.is_double) {
    DoubleForward forward{g, doubles(problem.mask), doubles(problem.map)};
    parallel_for(g.batches * g.area, grain(g.area), forward);
    return MLUOP_STATUS_SUCCESS;
  }
  const bool nontemporal = takes(g.batches * g.area * g.area, streaming_bytes());
  if (g.type == PsaType::kDistribute) {
    return run_distribute(problem.function, DistributeForward(g, problem, nontemporal), nontemporal);
  }
  const CollectForward lines{g, problem};
  const bool prefetches = g.masks_in_memory();
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (nontemporal) {
      collect_nontemporal<true>(lines, begin, end);
    } else if (prefetches) {
      collect_cached<true>(lines, begin, end);
    } else {
      collect_cached<false>(lines, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.area), collect);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t psamask_backward(const PsamaskBackwardProblem &problem) {
  const Map g(problem.geometry);
  if (g.is_double) {
    DoubleBackward backward{g, doubles(problem.map), doubles(problem.mask)};
    parallel_for(g.batches * g.area, grain(g.cells), backward);
    return MLUOP_STATUS_SUCCESS;
  }
  const bool nontemporal = takes(g.batches * g.area * g.cells, streaming_bytes());
  if (g.type == PsaType::kDistribute) {
    return run_distribute(problem.function, DistributeBackward(g, problem, nontemporal), nontemporal);
  }
  const CollectBackward lines{g, problem};
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (nontemporal) {
      collect_nontemporal<false>(lines, begin, end);
    } else {
      collect_cached<false>(lines, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.cells), collect);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_psamask_forward, psamask_forward, PsamaskForwardProblem, problem.function);
MLUOPS_DEFINE_LAUNCH(launch_psamask_backward, psamask_backward, PsamaskBackwardProblem, problem.function);
