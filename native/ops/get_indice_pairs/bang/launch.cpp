#include "bang/dispatch.h"
#include "ops/get_indice_pairs/get_indice_pairs.h"

namespace mluops {

MLUOPS_BANG_LAUNCH(launch_get_indice_pairs, GetIndicePairsProblem)

MLUOPS_BANG_DECLARE(std::size_t workspace_get_indice_pairs(const SparseGeometry &, std::int64_t))
std::size_t workspace_get_indice_pairs(const SparseGeometry &geometry, std::int64_t rows) {
  MLUOPS_BANG_CHOOSE(workspace_get_indice_pairs(geometry, rows))
}

}  // namespace mluops
