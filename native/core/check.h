// Checks of arguments. Each returns SUCCESS or refuses with a reason; callers chain them with
// MLUOPS_TRY in the order in which several faults of a call are reported.
#ifndef MLUOPS_CORE_CHECK_H_
#define MLUOPS_CORE_CHECK_H_

#include <cstdint>
#include <initializer_list>

#include "core/checked_names.h"
#include "core/entry.h"
#include "core/handle.h"
#include "core/reason.h"
#include "core/tensor.h"

namespace mluops {

mluOpStatus_t need_pointer(const char *function, const char *argument, const void *pointer);
mluOpStatus_t need_at_least(const char *function, const char *argument, int value, int least);
mluOpStatus_t need_between(const char *function, const char *argument, int value, int least, int most);
mluOpStatus_t need_handle(const char *function, mluOpHandle_t handle);
mluOpStatus_t need_descriptor(const char *function, const char *argument, mluOpTensorDescriptor_t desc);
mluOpStatus_t need_descriptors(const char *function, std::initializer_list<TensorArgument> tensors);
// Each descriptor is NULL, or lives.
mluOpStatus_t need_descriptors_or_null(const char *function, std::initializer_list<TensorArgument> tensors);

// `meaning` describes the dimensions, for example "[N, T, C, HW]".
mluOpStatus_t need_rank(const char *function, const TensorArgument &tensor, int rank, const char *meaning);
// Dimension `dim`, which means `symbol`, equals `expected`.
mluOpStatus_t need_dim(const char *function, const TensorArgument &tensor, int dim, const char *symbol,
                       std::int64_t expected);
// Dimension `dim` equals dimension `other_dim` of `other`.
mluOpStatus_t need_same_dim(const char *function, const TensorArgument &tensor, int dim, const TensorArgument &other,
                            int other_dim);
mluOpStatus_t need_same_shape(const char *function, const TensorArgument &tensor, const TensorArgument &other);
mluOpStatus_t need_nonzero_dim(const char *function, const TensorArgument &tensor, int dim, const char *symbol);
mluOpStatus_t need_elements(const char *function, const TensorArgument &tensor);

mluOpStatus_t need_dtype(const char *function, const TensorArgument &tensor, mluOpDataType_t dtype);
// An entry point in double takes double instead.
mluOpStatus_t need_float(const Entry &entry, const TensorArgument &tensor);
mluOpStatus_t need_float_or_half(const Entry &entry, const TensorArgument &tensor);
// Half, float or double, for functions of mluops_ext.h.
mluOpStatus_t need_real(const char *function, const TensorArgument &tensor);
mluOpStatus_t need_same_dtype(const char *function, const TensorArgument &tensor, const TensorArgument &other);
mluOpStatus_t need_layout(const char *function, const TensorArgument &tensor, mluOpTensorLayout_t layout);

// NOT_SUPPORTED unless packed.
mluOpStatus_t need_packed(const char *function, std::initializer_list<TensorArgument> tensors);
// NOT_SUPPORTED from 2^31 elements on.
mluOpStatus_t need_indexable(const char *function, std::initializer_list<TensorArgument> tensors);

// Data is not NULL and aligned to its element type.
mluOpStatus_t need_data(const char *function, std::initializer_list<TensorArgument> tensors);
// Outputs overlap neither inputs nor other outputs.
mluOpStatus_t require_no_overlap(const char *function, std::initializer_list<TensorArgument> outputs,
                                 std::initializer_list<TensorArgument> inputs);
// The same for one pair of byte ranges.
mluOpStatus_t require_no_overlap(const char *function, const char *argument, const void *data, std::int64_t bytes,
                                 const char *other_argument, const void *other, std::int64_t other_bytes);

// "[2, 3, 4] float" for messages.
Text describe(mluOpTensorDescriptor_t desc);

}  // namespace mluops

#endif  // MLUOPS_CORE_CHECK_H_
