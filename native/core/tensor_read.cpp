// Reading tensor descriptors, and the values that operators here do not use (quantisation, on-chip
// type).
#include "core/check.h"
#include "core/tensor.h"

using mluops::need_descriptor;
using mluops::need_pointer;

namespace {

template <typename T, typename V>
void store(T *target, V value) {
  if (target != nullptr) *target = static_cast<T>(value);
}

template <typename Int>
mluOpStatus_t read(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout,
                   mluOpDataType_t *dtype, int *rank, Int *dims, Int *strides) {
  MLUOPS_TRY(need_descriptor(function, "desc", desc));
  store(layout, desc->layout);
  store(dtype, desc->dtype);
  store(rank, desc->rank);
  for (int i = 0; i < desc->rank; ++i) {
    if (dims != nullptr) dims[i] = static_cast<Int>(desc->dims[i]);
    if (strides != nullptr) strides[i] = static_cast<Int>(desc->strides[i]);
  }
  return MLUOP_STATUS_SUCCESS;
}

template <typename Int>
mluOpStatus_t read_all(const char *function, mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout,
                       mluOpDataType_t *dtype, int *rank, Int *dims, Int *strides) {
  MLUOPS_TRY(need_descriptor(function, "desc", desc));
  MLUOPS_TRY(need_pointer(function, "layout", layout));
  MLUOPS_TRY(need_pointer(function, "dtype", dtype));
  MLUOPS_TRY(need_pointer(function, "dimNb", rank));
  MLUOPS_TRY(need_pointer(function, "dimSize", dims));
  MLUOPS_TRY(need_pointer(function, "dimStride", strides));
  return read(function, desc, layout, dtype, rank, dims, strides);
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout,
                                                     mluOpDataType_t *dtype, int *dimNb, int dimSize[]) {
  return read<int>(__func__, desc, layout, dtype, dimNb, dimSize, nullptr);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor_v2(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout,
                                                        mluOpDataType_t *dtype, int *dimNb, int64_t dimSize[]) {
  return read<std::int64_t>(__func__, desc, layout, dtype, dimNb, dimSize, nullptr);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout,
                                                       mluOpDataType_t *dtype, int *dimNb, int dimSize[],
                                                       int dimStride[]) {
  return read_all(__func__, desc, layout, dtype, dimNb, dimSize, dimStride);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx_v2(const mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t *layout, mluOpDataType_t *dtype,
                                                          int *dimNb, int64_t dimSize[], int64_t dimStride[]) {
  return read_all(__func__, desc, layout, dtype, dimNb, dimSize, dimStride);
}

size_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc) {
  if (need_descriptor(__func__, "desc", desc) != MLUOP_STATUS_SUCCESS) return 0;
  return static_cast<size_t>(desc->count);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t *pointer_mode) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_TRY(need_pointer(__func__, "pointer_mode", pointer_mode));
  *pointer_mode = desc->pointer_mode;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t onchip_dtype) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  desc->onchip_dtype = onchip_dtype;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorOnchipDataType(const mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t *onchip_dtype) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_TRY(need_pointer(__func__, "onchip_dtype", onchip_dtype));
  *onchip_dtype = desc->onchip_dtype;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc, int position) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  desc->position = position;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionAndScale(mluOpTensorDescriptor_t desc, int position,
                                                                     float scale) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  desc->position = position;
  desc->scale = scale;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionScaleAndOffset(mluOpTensorDescriptor_t desc, int position,
                                                                           float scale, int offset) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  desc->position = position;
  desc->scale = scale;
  desc->offset = offset;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc, int *position) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_TRY(need_pointer(__func__, "position", position));
  *position = desc->position;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionAndScale(const mluOpTensorDescriptor_t desc, int *position,
                                                                     float *scale) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_TRY(need_pointer(__func__, "position", position));
  MLUOPS_TRY(need_pointer(__func__, "scale", scale));
  *position = desc->position;
  *scale = desc->scale;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionScaleAndOffset(const mluOpTensorDescriptor_t desc,
                                                                           int *position, float *scale, int *offset) {
  MLUOPS_TRY(need_descriptor(__func__, "desc", desc));
  MLUOPS_TRY(need_pointer(__func__, "position", position));
  MLUOPS_TRY(need_pointer(__func__, "scale", scale));
  MLUOPS_TRY(need_pointer(__func__, "offset", offset));
  *position = desc->position;
  *scale = desc->scale;
  *offset = desc->offset;
  return MLUOP_STATUS_SUCCESS;
}
