// The tensor descriptor.
#ifndef MLUOPS_CORE_TENSOR_H_
#define MLUOPS_CORE_TENSOR_H_

#include "core/data_type.h"
#include "core/object.h"
#include "mlu_op.h"

struct mluOpTensorStruct {
  static constexpr std::uint32_t kMagic = 0x4d4c5554u;  // "MLUT"

  mluops::ObjectHeader header;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  mluOpDataType_t onchip_dtype = MLUOP_DTYPE_INVALID;
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpPointerMode_t pointer_mode = MLUOP_POINTER_MODE_DEVICE;
  bool in_set = false;   // a member of a tensor set, destroyed only with the set
  bool leaving = false;  // during the destruction of a group: already named once
  int rank = 0;
  int position = 0;
  float scale = 1.0f;
  int offset = 0;
  std::int64_t count = 0;  // elements
  std::int64_t dims[MLUOP_DIM_MAX] = {};
  std::int64_t strides[MLUOP_DIM_MAX] = {};  // in elements

  void release() {}
  void reset();
  std::int64_t bytes() const { return count * static_cast<std::int64_t>(mluops::size_of(dtype)); }

  // Whether the elements are contiguous. Empty tensors are, and the stride of a dimension of size 1
  // is ignored.
  bool packed() const;
};

namespace mluops {

// Sets everything or, if anything is refused, nothing. `strides` NULL means packed. Int is int or
// int64_t.
template <typename Int>
mluOpStatus_t set_tensor(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                         mluOpDataType_t dtype, int rank, const Int *dims, const Int *strides);

}  // namespace mluops

#endif  // MLUOPS_CORE_TENSOR_H_
