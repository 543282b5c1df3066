// Where the elements of tensors with strides lie.
#ifndef MLUOPS_OPS_POINTWISE_PLACES_H_
#define MLUOPS_OPS_POINTWISE_PLACES_H_

#include <initializer_list>

#include "core/check.h"
#include "ops/pointwise/pointwise.h"

namespace mluops {
namespace pointwise {

// NOT_SUPPORTED unless all tensors are packed, or have the same dims and strides without gaps;
// those of one element count for nothing.
mluOpStatus_t need_same_dense(const char *function, std::initializer_list<TensorArgument> tensors);

// NOT_SUPPORTED for strides that go backwards, and for elements of the last tensor, the result,
// that may share memory.
mluOpStatus_t need_places(const char *function, std::initializer_list<TensorArgument> tensors);

// The result shares memory with no input, or is one: same address, type, dims and strides.
mluOpStatus_t need_own_memory(const char *function, std::initializer_list<TensorArgument> tensors);

// Fills in the dims, strides and data of a problem; inputs are stretched to the dims of the result.
void set_places(std::initializer_list<TensorArgument> tensors, PointwiseProblem *problem);

}  // namespace pointwise
}  // namespace mluops

#endif  // MLUOPS_OPS_POINTWISE_PLACES_H_
