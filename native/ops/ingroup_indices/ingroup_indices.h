// IngroupIndices: the place of each value among the equal ones before it.
#ifndef MLUOPS_OPS_INGROUP_INDICES_INGROUP_INDICES_H_
#define MLUOPS_OPS_INGROUP_INDICES_INGROUP_INDICES_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct IngroupIndicesProblem {
  const char *function;        // of the entry point, for messages
  std::int64_t count;          // at least 1
  const std::int32_t *groups;  // [count]
  std::int32_t *ranks;         // [count]
};

mluOpStatus_t launch_ingroup_indices(mluOpHandle_t handle, const IngroupIndicesProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_INGROUP_INDICES_INGROUP_INDICES_H_
