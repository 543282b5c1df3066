// The kernels of GetIndicePairs for cards without gathers and filters: never launched, because
// entry code refuses.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_BANG_NONE_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_BANG_NONE_H_

#include <bang.h>

#include "ops/get_indice_pairs/bang/policy.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

__mlu_global__ void read_rows(SparsePlan) {}
__mlu_global__ void sort_blocks(SparsePlan, int, int, int, int) {}
__mlu_global__ void spread_blocks(SparsePlan, int) {}
__mlu_global__ void describe_rows(SparsePlan, int) {}
__mlu_global__ void mark_outputs(SparsePlan, int) {}
__mlu_global__ void map_outputs(SparsePlan, int) {}
__mlu_global__ void count_pairs(SparsePlan) {}
__mlu_global__ void list_pairs(SparsePlan) {}
__mlu_global__ void write_outputs(SparsePlan) {}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_BANG_NONE_H_
