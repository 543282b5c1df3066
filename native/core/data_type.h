#ifndef MLUOPS_CORE_DATA_TYPE_H_
#define MLUOPS_CORE_DATA_TYPE_H_

#include <cstddef>

#include "mlu_op.h"

namespace mluops {

// Bytes of one element; 0 for INVALID and for unknown numbers.
std::size_t size_of(mluOpDataType_t dtype);

// Short name for messages: "float", "half", "int32"; "dtype <unknown>" for an unknown number.
const char *name_of(mluOpDataType_t dtype);

const char *name_of(mluOpTensorLayout_t layout);

}  // namespace mluops

#endif  // MLUOPS_CORE_DATA_TYPE_H_
