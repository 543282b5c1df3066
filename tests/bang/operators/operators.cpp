// The functions of the library.
#include <cnnl.h>

#include "core.h"

extern "C" void MLUKernelDiv(const float *x, const float *y, float *z, size_t count);

namespace {

void policy(mluOpHandle_t handle, cnrtDim3_t *dim, cnrtFunctionType_t *type) {
  dim->x = handle->cores_per_cluster;
  dim->y = handle->clusters;
  dim->z = 1;
  *type = CNRT_FUNC_TYPE_UNION1;
}

// Puts ones where there is nothing to divide: with the tensor library, in the same queue.
mluOpStatus_t fill(mluOpHandle_t handle, mluOpTensorDescriptor_t desc, float value, void *data) {
  cnnlHandle_t other;
  cnnlTensorDescriptor_t tensor;
  bool done = cnnlCreate(&other) == CNNL_STATUS_SUCCESS;
  done = done && cnnlSetQueue(other, handle->queue) == CNNL_STATUS_SUCCESS;
  done = done && cnnlCreateTensorDescriptor(&tensor) == CNNL_STATUS_SUCCESS;
  done = done && cnnlSetTensorDescriptor_v2(tensor, CNNL_LAYOUT_ARRAY, (cnnlDataType_t)desc->dtype,
                                            (int)desc->dims.size(), desc->dims.data()) == CNNL_STATUS_SUCCESS;
  done = done && cnnlFill_v3(other, CNNL_POINTER_MODE_HOST, &value, tensor, data) == CNNL_STATUS_SUCCESS;
  done = done && cnnlDestroyTensorDescriptor(tensor) == CNNL_STATUS_SUCCESS;
  done = done && cnnlDestroy(other) == CNNL_STATUS_SUCCESS;
  return done ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_INTERNAL_ERROR;
}

}  // namespace

extern "C" {

mluOpStatus_t mluOpAbs(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
                       const mluOpTensorDescriptor_t y_desc, void *y) {
  PARAM_CHECK(handle != nullptr && x_desc != nullptr && y_desc != nullptr);
  PARAM_CHECK(x_desc->dtype == y_desc->dtype && x_desc->dims == y_desc->dims);
  if (x_desc->count() == 0) return MLUOP_STATUS_SUCCESS;
  PARAM_CHECK(x != nullptr && y != nullptr);
  cnrtDim3_t dim;
  cnrtFunctionType_t type;
  policy(handle, &dim, &type);
  return KernelAbs(dim, type, handle->queue, x_desc->dtype, x, y, x_desc->count());
}

mluOpStatus_t mluOpDiv(mluOpHandle_t handle, const mluOpComputationPreference_t, const mluOpTensorDescriptor_t x_desc,
                       const void *x, const mluOpTensorDescriptor_t y_desc, const void *y,
                       const mluOpTensorDescriptor_t z_desc, void *z) {
  PARAM_CHECK(handle != nullptr && x_desc->dtype == MLUOP_DTYPE_FLOAT && x_desc->dims == y_desc->dims);
  mluOpStatus_t status = fill(handle, z_desc, 1.f, z);
  if (status != MLUOP_STATUS_SUCCESS) return status;
  cnrtDim3_t dim;
  cnrtFunctionType_t type;
  policy(handle, &dim, &type);
  size_t count = x_desc->count();
  cnrtKernelParamsBuffer_t params;
  CNRT_CHECK(cnrtGetKernelParamsBuffer(&params));
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &x, sizeof x));
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &y, sizeof y));
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &z, sizeof z));
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &count, sizeof count));
  const cnrtRet_t launched = cnrtInvokeKernel_V2((const void *)&MLUKernelDiv, dim, params, type, handle->queue);
  CNRT_CHECK(cnrtDestroyKernelParamsBuffer(params));
  return launched == cnrtSuccess ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
