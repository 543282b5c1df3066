// GetIndicePairs on the CPU: rows outside the space are refused; then the kernel is chosen by the
// layout of the workspace.
#include "ops/get_indice_pairs/cpu/grid_default.h"
#include "ops/get_indice_pairs/cpu/grid_sub_manifold.h"
#include "ops/get_indice_pairs/cpu/sorted.h"

MLUOPS_BEGIN_LEVEL

mluOpStatus_t get_indice_pairs(const GetIndicePairsProblem &problem) {
  GetIndicePairsOutcome &outcome = *problem.outcome;
  outcome.bad_row = first_bad_row(problem);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  if (outcome.bad_row >= 0) {
    std::memcpy(outcome.bad_place, problem.indices + outcome.bad_row * 4, sizeof outcome.bad_place);
    return MLUOP_STATUS_SUCCESS;
  }
  if (!grid_pays(problem.geometry, problem.rows)) return SortedPairs(problem).run();
  const GridWorkspace parts = divide_for_grid(problem.geometry, problem.rows);
  if (problem.geometry.sub_m != 0) return SubManifoldGrid(problem, parts).run();
  return DefaultGrid(problem, parts).run();
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_get_indice_pairs, get_indice_pairs, GetIndicePairsProblem, "mluOpGetIndicePairs");
