#include "core/tensor.h"

#include "core/check.h"
#include "core/exception_guard.h"

void mluOpTensorStruct::reset() {
  dtype = MLUOP_DTYPE_FLOAT;
  onchip_dtype = MLUOP_DTYPE_INVALID;
  layout = MLUOP_LAYOUT_ARRAY;
  pointer_mode = MLUOP_POINTER_MODE_DEVICE;
  rank = 0;
  position = 0;
  scale = 1.0f;
  offset = 0;
  count = 0;
  for (int i = 0; i < MLUOP_DIM_MAX; ++i) dims[i] = strides[i] = 0;
}

bool mluOpTensorStruct::packed() const {
  if (count == 0) return true;
  std::int64_t expected = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

namespace mluops {
namespace {

const mluops::Pool<mluOpTensorStruct>::AtLoad g_pool_at_load;

// Element count of `dims`; false if it, or the number of bytes, does not fit into 63 bits.
template <typename Int>
bool count_elements(int rank, const Int *dims, mluOpDataType_t dtype, std::int64_t *count) {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      *count = 0;
      return true;
    }
  }
  for (int i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(product, static_cast<std::int64_t>(dims[i]), &product)) return false;
  }
  std::int64_t bytes;
  *count = product;
  return !__builtin_mul_overflow(product, static_cast<std::int64_t>(size_of(dtype)), &bytes);
}

template <typename Int>
mluOpStatus_t check_dims(const char *function, mluOpDataType_t dtype, int rank, const Int *dims, std::int64_t *count) {
  MLUOPS_REQUIRE(rank >= 0 && rank <= MLUOP_DIM_MAX, MLUOP_STATUS_BAD_PARAM, function, "dimNb",
                 Text::format("0 to %d dims", MLUOP_DIM_MAX), Text::format("%d", rank));
  MLUOPS_TRY(need_pointer(function, "dimSize", dims));
  for (int i = 0; i < rank; ++i) {
    MLUOPS_REQUIRE(dims[i] >= 0, MLUOP_STATUS_BAD_PARAM, function, "dimSize", "no negative dim",
                   Text::format("%lld at position %d", static_cast<long long>(dims[i]), i));
  }
  MLUOPS_REQUIRE(count_elements(rank, dims, dtype, count), MLUOP_STATUS_BAD_PARAM, function, "dimSize",
                 "an element count and a byte count below 2^63", "dims whose product is larger");
  return MLUOP_STATUS_SUCCESS;
}

template <typename Int>
void store_dims(mluOpTensorDescriptor_t desc, int rank, const Int *dims, const Int *strides, std::int64_t count) {
  std::int64_t packed = 1;
  for (int i = rank - 1; i >= 0; --i) {
    desc->dims[i] = dims[i];
    // The packed stride of an outer dimension may not fit when an inner one is 0; the count says it
    // is 0 then.
    desc->strides[i] = strides != nullptr ? static_cast<std::int64_t>(strides[i]) : packed;
    if (__builtin_mul_overflow(packed, static_cast<std::int64_t>(dims[i]), &packed)) packed = 0;
  }
  desc->rank = rank;
  desc->count = count;
}

mluOpStatus_t check_scalar(const char *function, mluOpTensorDescriptor_t desc) {
  MLUOPS_REQUIRE(desc->pointer_mode == MLUOP_POINTER_MODE_HOST, MLUOP_STATUS_BAD_PARAM, function, "dimNb",
                 "at least 1 dim unless the pointer mode is HOST", "0 with pointer mode DEVICE");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_kind(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                         mluOpDataType_t dtype) {
  MLUOPS_TRY(need_descriptor(function, "desc", desc));
  MLUOPS_REQUIRE(static_cast<int>(layout) >= 0, MLUOP_STATUS_BAD_PARAM, function, "layout", "no negative number",
                 Text::format("%d", static_cast<int>(layout)));
  MLUOPS_REQUIRE(static_cast<int>(dtype) >= 0, MLUOP_STATUS_BAD_PARAM, function, "dtype", "no negative number",
                 Text::format("%d", static_cast<int>(dtype)));
  return MLUOP_STATUS_SUCCESS;
}

template <typename Int>
mluOpStatus_t set_dims(const char *function, mluOpTensorDescriptor_t desc, mluOpDataType_t dtype, int rank,
                       const Int *dims, const Int *strides) {
  if (rank == 0) {
    MLUOPS_TRY(check_scalar(function, desc));
    desc->rank = 0;
    desc->count = 1;
    return MLUOP_STATUS_SUCCESS;
  }
  std::int64_t count = 0;
  MLUOPS_TRY(check_dims(function, dtype, rank, dims, &count));
  store_dims(desc, rank, dims, strides, count);
  return MLUOP_STATUS_SUCCESS;
}

// With explicit strides the array of strides is part of the call even though set_tensor takes NULL
// for packed.
template <typename Int>
mluOpStatus_t set_strided(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                          mluOpDataType_t dtype, int rank, const Int *dims, const Int *strides) {
  MLUOPS_TRY(check_kind(function, desc, layout, dtype));
  if (rank != 0) {
    MLUOPS_TRY(need_pointer(function, "dimSize", dims));
    MLUOPS_TRY(need_pointer(function, "dimStride", strides));
  }
  return set_tensor(function, desc, layout, dtype, rank, dims, strides);
}

template <typename Int>
mluOpStatus_t replace_dims(const char *function, mluOpTensorDescriptor_t desc, int rank, const Int *dims) {
  MLUOPS_TRY(need_descriptor(function, "desc", desc));
  return set_dims(function, desc, desc->dtype, rank, dims, static_cast<const Int *>(nullptr));
}

}  // namespace

template <typename Int>
mluOpStatus_t set_tensor(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                         mluOpDataType_t dtype, int rank, const Int *dims, const Int *strides) {
  MLUOPS_TRY(check_kind(function, desc, layout, dtype));
  MLUOPS_TRY(set_dims(function, desc, dtype, rank, dims, strides));
  desc->layout = layout;
  desc->dtype = dtype;
  return MLUOP_STATUS_SUCCESS;
}

template mluOpStatus_t set_tensor<int>(const char *, mluOpTensorDescriptor_t, mluOpTensorLayout_t, mluOpDataType_t, int,
                                       const int *, const int *);
template mluOpStatus_t set_tensor<std::int64_t>(const char *, mluOpTensorDescriptor_t, mluOpTensorLayout_t,
                                                mluOpDataType_t, int, const std::int64_t *, const std::int64_t *);

}  // namespace mluops

using mluops::need_descriptor;
using mluops::need_pointer;
using mluops::Text;

mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc) {
  return mluops::guarded(__func__, [&] {
    MLUOPS_TRY(need_pointer("mluOpCreateTensorDescriptor", "desc", desc));
    return mluops::Pool<mluOpTensorStruct>::create("mluOpCreateTensorDescriptor", desc);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_REQUIRE(!desc->in_set, MLUOP_STATUS_BAD_PARAM, __func__, "desc", "a descriptor of the caller's own",
                 "a member of a tensor set");
  MLUOPS_REQUIRE(mluops::Pool<mluOpTensorStruct>::destroy(desc), MLUOP_STATUS_BAD_PARAM, __func__, "desc",
                 "a living tensor descriptor", "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  desc->reset();
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                     mluOpDataType_t dtype, int dimNb, const int dimSize[]) {
  return mluops::set_tensor<int>(__func__, desc, layout, dtype, dimNb, dimSize, nullptr);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                        mluOpDataType_t dtype, int dimNb, const int64_t dimSize[]) {
  return mluops::set_tensor<std::int64_t>(__func__, desc, layout, dtype, dimNb, dimSize, nullptr);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                       mluOpDataType_t dtype, int dimNb, const int dimSize[],
                                                       const int dimStride[]) {
  return mluops::set_strided(__func__, desc, layout, dtype, dimNb, dimSize, dimStride);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                          mluOpDataType_t dtype, int dimNb, const int64_t dimSize[],
                                                          const int64_t dimStride[]) {
  return mluops::set_strided(__func__, desc, layout, dtype, dimNb, dimSize, dimStride);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb, const int *dimSize) {
  return mluops::replace_dims(__func__, desc, dimNb, dimSize);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim_v2(mluOpTensorDescriptor_t desc, int dimNb,
                                                           const int64_t *dimSize) {
  return mluops::replace_dims(__func__, desc, dimNb, dimSize);
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t pointer_mode) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_REQUIRE(static_cast<int>(pointer_mode) >= 0, MLUOP_STATUS_BAD_PARAM, __func__, "pointer_mode",
                 "no negative number", Text::format("%d", static_cast<int>(pointer_mode)));
  desc->pointer_mode = pointer_mode;
  return MLUOP_STATUS_SUCCESS;
}
