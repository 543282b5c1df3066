// The text of a dumped case: a message of the vendor's proto in text format.
#ifndef MLUOPS_CASES_TEXT_H_
#define MLUOPS_CASES_TEXT_H_

#include <string>

#include "cases/switches.h"
#include "cases/table.h"
#include "core/tensor.h"

namespace mluops {

// A tensor of a case: a descriptor, or the place of one, and its data.
struct CaseTensorView {
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  mluOpDataType_t onchip_dtype = MLUOP_DTYPE_INVALID;
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpPointerMode_t pointer_mode = MLUOP_POINTER_MODE_DEVICE;
  int rank = 1;
  int position = 0;
  float scale = 1.0f;
  int offset = 0;
  std::int64_t dims[MLUOP_DIM_MAX] = {1};
  std::int64_t strides[MLUOP_DIM_MAX] = {1};
  const void *data = nullptr;
  bool on_host = false;

  std::int64_t count() const;
  bool packed() const;
  // Elements from the first to the last in memory.
  std::int64_t span() const;
  std::int64_t bytes() const { return span() * static_cast<std::int64_t>(size_of(dtype)); }
};

// The tensor that a row of the table means in a call.
CaseTensorView case_tensor(const CaseTensor &tensor, const CaseValue *values);

// Whether the tensor of a row is part of the case.
bool case_has(const CaseTensor &tensor, const CaseValue *values);

// What stands in a block in place of data.
struct CaseData {
  const void *values = nullptr;  // in host memory, written as text if not NULL
  std::string path;              // else the file with the data, if not empty
  bool random = false;           // else random data
};

// The block `input { ... }` or `output { ... }` of one tensor.
std::string case_tensor_text(const char *label, const CaseTensor &tensor, const CaseTensorView &view,
                             const CaseData &data, const CaseValue *values);

// Everything behind the tensors.
std::string case_end_text(const CaseOperator &the_operator, const CaseValue *values);

}  // namespace mluops

#endif  // MLUOPS_CASES_TEXT_H_
