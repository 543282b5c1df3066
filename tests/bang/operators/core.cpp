#include "core.h"

#include <cn_api.h>

#include <new>

namespace {

template <typename Size>
mluOpStatus_t set(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dim_count,
                  const Size *dims, const Size *strides) {
  PARAM_CHECK(desc != nullptr && dim_count >= 0);
  desc->layout = layout;
  desc->dtype = dtype;
  desc->dims.assign(dims, dims + dim_count);
  desc->strides.clear();
  if (strides != nullptr) desc->strides.assign(strides, strides + dim_count);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

mluOpStatus_t mluOpCreate(mluOpHandle_t *handle) {
  PARAM_CHECK(handle != nullptr);
  int major = 0, minor = 0, patch = 0;
  cnGetLibVersion(&major, &minor, &patch);
  if (major * 100 + minor < 207) return MLUOP_STATUS_NOT_INITIALIZED;
  CNcontext context;
  CNctxConfigParam clusters;
  CNdev device;
  mluOpContext made = {};
  if (cnCtxGetCurrent(&context) != CN_SUCCESS || cnCtxGetDevice(&device) != CN_SUCCESS ||
      cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, &clusters) != CN_SUCCESS ||
      cnDeviceGetAttribute(&made.cores_per_cluster, CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER, device) !=
          CN_SUCCESS ||
      cnDeviceGetAttribute(&made.nram_bytes, CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE, device) != CN_SUCCESS) {
    return MLUOP_STATUS_INTERNAL_ERROR;
  }
  made.clusters = static_cast<int>(clusters.visibleClusterNumber);
  *handle = new (std::nothrow) mluOpContext(made);
  return *handle != nullptr ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_ALLOC_FAILED;
}

mluOpStatus_t mluOpDestroy(mluOpHandle_t handle) {
  delete handle;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue) {
  PARAM_CHECK(handle != nullptr);
  handle->queue = queue;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t *queue) {
  PARAM_CHECK(handle != nullptr && queue != nullptr);
  *queue = handle->queue;
  return MLUOP_STATUS_SUCCESS;
}

void mluOpGetLibVersion(int *major, int *minor, int *patch) {
  *major = 1;
  *minor = 4;
  *patch = 2;
}

const char *mluOpGetErrorString(mluOpStatus_t status) { return status == MLUOP_STATUS_SUCCESS ? "fine" : "not fine"; }

mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc) {
  PARAM_CHECK(desc != nullptr);
  *desc = new mluOpTensorStruct();
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  delete desc;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                                       int dim_count, const int dims[]) {
  return set<int>(desc, layout, dtype, dim_count, dims, nullptr);
}

mluOpStatus_t mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                          mluOpDataType_t dtype, int dim_count, const int64_t dims[]) {
  return set<int64_t>(desc, layout, dtype, dim_count, dims, nullptr);
}

mluOpStatus_t mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                         mluOpDataType_t dtype, int dim_count, const int dims[], const int strides[]) {
  return set<int>(desc, layout, dtype, dim_count, dims, strides);
}

mluOpStatus_t mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                            mluOpDataType_t dtype, int dim_count, const int64_t dims[],
                                            const int64_t strides[]) {
  return set<int64_t>(desc, layout, dtype, dim_count, dims, strides);
}

}  // extern "C"
