// MsDeformAttn on the CPU: vectors of channels, samples in the order of levels and points.
#include "ops/ms_deform_attn/cpu/backward.h"
#include "ops/ms_deform_attn/cpu/double.h"
#include "ops/ms_deform_attn/cpu/forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

void clear_all(const MsDeformAttnGeometry &g, float *values, std::int64_t count) {
  if (g.is_double) count *= sizeof(double) / sizeof(float);
  constexpr std::int64_t kPiece = 1 << 16;
  auto clear = [&](std::int64_t begin, std::int64_t end) { clear_floats_interruptible(values + begin, end - begin); };
  parallel_for(count, kPiece, clear);
}

// Rows are queries and heads of all batches.
std::int64_t rows_of(const MsDeformAttnGeometry &g) { return g.batches * g.queries * g.heads; }

std::int64_t grain_of(const MsDeformAttnGeometry &g) {
  constexpr std::int64_t kValuesPerPiece = 1 << 15;
  return kValuesPerPiece / values_of_row(g) + 1;
}

mluOpStatus_t clear_gradients(const MsDeformAttnBackwardProblem &problem) {
  const MsDeformAttnGeometry &g = problem.geometry;
  const std::int64_t samples = rows_of(g) * g.levels * g.points;
  clear_all(g, problem.grad_value, g.batches * g.keys * g.heads * g.channels);
  clear_all(g, problem.grad_locations, 2 * samples);
  clear_all(g, problem.grad_weights, samples);
  return MLUOP_STATUS_SUCCESS;
}

void run_double_backward(const MsDeformAttnBackwardProblem &problem, const MapLevel *levels) {
  const MsDeformAttnGeometry &g = problem.geometry;
  DoubleSampleGradients of_samples{problem, levels};
  parallel_for(rows_of(g), grain_of(g), of_samples);
  DoubleValueGradient of_value{problem, levels};
  if (!interrupted()) parallel_for(g.batches * g.heads, 1, of_value);
}

}  // namespace

mluOpStatus_t ms_deform_attn_forward(const MsDeformAttnForwardProblem &problem) {
  const MsDeformAttnGeometry &g = problem.geometry;
  if (g.nothing_sampled) {
    clear_all(g, problem.output, rows_of(g) * g.channels);
    return MLUOP_STATUS_SUCCESS;
  }
  const Scratch<MapLevel> levels(g.levels);
  if (levels.data() == nullptr) return out_of_memory(problem.function);
  MLUOPS_TRY(read_levels(problem.function, g, problem.levels, levels.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  if (g.is_double) {
    DoubleForward forward{problem, levels.data()};
    parallel_for(rows_of(g), grain_of(g), forward);
    return MLUOP_STATUS_SUCCESS;
  }
  const Scratch<LaneLevels> lanes(vectors_of_samples(g));
  if (lanes.data() == nullptr) return out_of_memory(problem.function);
  spread_levels(g, levels.data(), lanes.data());
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  MsDeformAttnForward(problem, lanes.data()).run(grain_of(g));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t ms_deform_attn_backward(const MsDeformAttnBackwardProblem &problem) {
  const MsDeformAttnGeometry &g = problem.geometry;
  if (g.nothing_sampled) return clear_gradients(problem);
  const Scratch<MapLevel> levels(g.levels);
  if (levels.data() == nullptr) return out_of_memory(problem.function);
  MLUOPS_TRY(read_levels(problem.function, g, problem.levels, levels.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  const Scratch<LaneLevels> lanes(g.is_double ? 0 : vectors_of_samples(g));
  if (lanes.data() == nullptr) return out_of_memory(problem.function);
  clear_all(g, problem.grad_value, g.batches * g.keys * g.heads * g.channels);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  if (g.is_double) {
    run_double_backward(problem, levels.data());
  } else {
    spread_levels(g, levels.data(), lanes.data());
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    MsDeformAttnBackward(problem, lanes.data()).run(grain_of(g));
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_ms_deform_attn_forward, ms_deform_attn_forward, MsDeformAttnForwardProblem,
                     problem.function);
MLUOPS_DEFINE_LAUNCH(launch_ms_deform_attn_backward, ms_deform_attn_backward, MsDeformAttnBackwardProblem,
                     problem.function);
