// MsDeformAttn on the CPU: vectors of channels, samples in the order of levels and points.
#include "ops/ms_deform_attn/cpu_backward.h"
#include "ops/ms_deform_attn/cpu_forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr const char *kForward = "mluOpMsDeformAttnForward";
constexpr const char *kBackward = "mluOpMsDeformAttnBackward";

void clear_all(float *values, std::int64_t count) {
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
  clear_all(problem.grad_value, g.batches * g.keys * g.heads * g.channels);
  clear_all(problem.grad_locations, 2 * samples);
  clear_all(problem.grad_weights, samples);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t ms_deform_attn_forward(const MsDeformAttnForwardProblem &problem) {
  const MsDeformAttnGeometry &g = problem.geometry;
  if (g.nothing_sampled) {
    clear_all(problem.output, rows_of(g) * g.channels);
    return MLUOP_STATUS_SUCCESS;
  }
  const Scratch<MapLevel> levels(g.levels);
  if (levels.data() == nullptr) return out_of_memory(kForward);
  MLUOPS_TRY(read_levels(kForward, g, problem.levels, levels.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  MsDeformAttnForward forward(problem, levels.data());
  parallel_for(rows_of(g), grain_of(g), forward);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t ms_deform_attn_backward(const MsDeformAttnBackwardProblem &problem) {
  const MsDeformAttnGeometry &g = problem.geometry;
  if (g.nothing_sampled) return clear_gradients(problem);
  const Scratch<MapLevel> levels(g.levels);
  if (levels.data() == nullptr) return out_of_memory(kBackward);
  MLUOPS_TRY(read_levels(kBackward, g, problem.levels, levels.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  SampleGradients of_samples(problem, levels.data());
  parallel_for(rows_of(g), grain_of(g), of_samples);
  clear_all(problem.grad_value, g.batches * g.keys * g.heads * g.channels);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  ValueGradient of_value(problem, levels.data());
  parallel_for(of_value.tasks(), 1, of_value);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_ms_deform_attn_forward, ms_deform_attn_forward, MsDeformAttnForwardProblem,
                     "mluOpMsDeformAttnForward");
MLUOPS_DEFINE_LAUNCH(launch_ms_deform_attn_backward, ms_deform_attn_backward, MsDeformAttnBackwardProblem,
                     "mluOpMsDeformAttnBackward");
