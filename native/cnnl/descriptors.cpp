// The handle, tensor descriptors, and the texts of refusals.
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <string>

#include "objects.h"
#include "tensor.h"

namespace cnnl {
namespace {

thread_local char reason[512];

struct Context {
  cnrtQueue_t queue = nullptr;
};

// Never destroyed: programs destroy their objects at any time.
auto &g_handles = *new Objects<Context, cnnlHandle_t>("handle");
auto &g_tensors = *new Objects<Tensor, cnnlTensorDescriptor_t>("desc");

std::string text_of(const Dims &dims) {
  std::string text = "(";
  for (const std::int64_t dim : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + ")";
}

// Fills in the fields that follow from dims and strides.
cnnlStatus_t finish(const char *function, Tensor *tensor) {
  std::int64_t count = 1, bytes = 0, reach = static_cast<std::int64_t>(tensor->size);
  for (std::size_t d = 0; d < tensor->dims.size(); ++d) {
    if (tensor->dims[d] < 0 || tensor->strides[d] < 0) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected no negative number, got %s", function,
                    tensor->dims[d] < 0 ? "dims" : "strides",
                    text_of(tensor->dims[d] < 0 ? tensor->dims : tensor->strides).c_str());
    }
    std::int64_t last = 0;
    if (__builtin_mul_overflow(count, tensor->dims[d], &count) ||
        __builtin_mul_overflow(count, static_cast<std::int64_t>(tensor->size), &bytes) ||
        __builtin_mul_overflow(tensor->dims[d], tensor->strides[d], &last) ||
        __builtin_mul_overflow(last, static_cast<std::int64_t>(tensor->size), &last) ||
        __builtin_add_overflow(reach, last, &reach)) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: dims: expected a tensor of less than 2^63 bytes", function);
    }
  }
  tensor->count = count;
  std::int64_t stride = 1;
  tensor->dense = true;
  for (std::size_t d = tensor->dims.size(); d-- > 0;) {
    if (tensor->dims[d] > 1 && tensor->strides[d] != stride) tensor->dense = false;
    stride *= tensor->dims[d];
  }
  return CNNL_STATUS_SUCCESS;
}

template <typename Size>
cnnlStatus_t set(const char *function, cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                 int dim_count, const Size *dims, const Size *strides, bool with_strides) {
  Tensor tensor;
  tensor.layout = layout;
  tensor.dtype = dtype;
  tensor.size = size_of(dtype);
  if (layout < CNNL_LAYOUT_NCHW || layout > CNNL_LAYOUT_NCL) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: layout: expected 0 to 10, got %d", function, static_cast<int>(layout));
  }
  if (tensor.size == 0) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: dtype: no type has the number %d", function, static_cast<int>(dtype));
  }
  if (dim_count < 0 || dim_count > CNNL_DIM_MAX) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: dim_count: expected 0 to %d, got %d", function, CNNL_DIM_MAX, dim_count);
  }
  if (dim_count > 0 && dims == nullptr) return refuse_null(function, "dims");
  if (dim_count > 0 && with_strides && strides == nullptr) return refuse_null(function, "strides");
  tensor.dims.assign(dims, dims + dim_count);
  if (with_strides) {
    tensor.strides.assign(strides, strides + dim_count);
  } else {
    for (int d = 0; d < dim_count; ++d) {
      std::int64_t stride = 1;
      for (int inner = d + 1; inner < dim_count; ++inner) {
        if (__builtin_mul_overflow(stride, tensor.dims[static_cast<std::size_t>(inner)], &stride)) stride = 0;
      }
      tensor.strides.push_back(stride < 0 ? 0 : stride);
    }
  }
  CNNL_TRY(finish(function, &tensor));
  return g_tensors.with(function, "desc", desc, [&tensor](Tensor &found) {
    found = std::move(tensor);
    return CNNL_STATUS_SUCCESS;
  });
}

}  // namespace

cnnlStatus_t refuse(cnnlStatus_t status, const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(reason, sizeof reason, pattern, arguments);
  va_end(arguments);
  return status;
}

// ---- Arguments ----------------------------------------------------------------------------------

cnnlStatus_t get_queue(const char *function, cnnlHandle_t handle, cnrtQueue_t *queue) {
  return g_handles.with(function, "handle", handle, [queue](const Context &context) {
    *queue = context.queue;
    return CNNL_STATUS_SUCCESS;
  });
}

cnnlStatus_t get_tensor(const char *function, const char *argument, cnnlTensorDescriptor_t desc, Tensor *tensor) {
  CNNL_TRY(g_tensors.get(function, argument, desc, tensor));
  if (tensor->size != 0) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected a descriptor that was set", function, argument);
}

cnnlStatus_t get_operand(const char *function, const char *argument, cnnlTensorDescriptor_t desc, const void *data,
                         Tensor *tensor) {
  CNNL_TRY(get_tensor(function, argument, desc, tensor));
  return tensor->count == 0 || data != nullptr ? CNNL_STATUS_SUCCESS : refuse_null(function, argument);
}

cnnlStatus_t check_same_type(const char *function, const char *argument, const Tensor &tensor, const Tensor &other) {
  if (tensor.dtype == other.dtype) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected the data type %d, got %d", function, argument,
                static_cast<int>(other.dtype), static_cast<int>(tensor.dtype));
}

cnnlStatus_t check_dims(const char *function, const char *argument, const Tensor &tensor, const Dims &dims) {
  if (tensor.dims == dims) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected dims %s, got %s", function, argument, text_of(dims).c_str(),
                text_of(tensor.dims).c_str());
}

cnnlStatus_t check_index_type(const char *function, const char *argument, const Tensor &tensor) {
  if (tensor.dtype == CNNL_DTYPE_INT32 || tensor.dtype == CNNL_DTYPE_INT64) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected int32 or int64, got the data type %d", function, argument,
                static_cast<int>(tensor.dtype));
}

cnnlStatus_t check_axis(const char *function, const char *argument, int rank, int *axis) {
  if (*axis < -rank || *axis >= rank) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected %d to %d, got %d", function, argument, -rank, rank - 1,
                  *axis);
  }
  if (*axis < 0) *axis += rank;
  return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t no_workspace(const char *function, cnnlHandle_t handle, std::size_t *size) {
  cnrtQueue_t queue = nullptr;
  CNNL_TRY(get_queue(function, handle, &queue));
  if (size == nullptr) return refuse_null(function, "size");
  *size = 0;
  return CNNL_STATUS_SUCCESS;
}

}  // namespace cnnl

using namespace cnnl;

// ---- Versions and errors ------------------------------------------------------------------------

const char *cnnlStandInVersion(void) {
  return "stand-in for CNNL 2.2.6 on the simulated MLU, not the vendor's library; pymluops " CNNL_STAND_IN_VERSION;
}

const char *cnnlStandInGetLastReason(void) { return reason; }

void cnnlGetLibVersion(int *major, int *minor, int *patch) {
  if (major != nullptr) *major = CNNL_MAJOR;
  if (minor != nullptr) *minor = CNNL_MINOR;
  if (patch != nullptr) *patch = CNNL_PATCHLEVEL;
}

const char *cnnlGetErrorString(cnnlStatus_t status) {
  static constexpr const char *kNames[] = {
      "CNNL_STATUS_SUCCESS",          "CNNL_STATUS_NOT_INITIALIZED", "CNNL_STATUS_ALLOC_FAILED",
      "CNNL_STATUS_BAD_PARAM",        "CNNL_STATUS_INTERNAL_ERROR",  "CNNL_STATUS_ARCH_MISMATCH",
      "CNNL_STATUS_EXECUTION_FAILED", "CNNL_STATUS_NOT_SUPPORTED",   "CNNL_STATUS_NUMERICAL_OVERFLOW"};
  const int number = static_cast<int>(status);
  return number >= 0 && number <= CNNL_STATUS_NUMERICAL_OVERFLOW ? kNames[number] : "CNNL_STATUS_UNKNOWN";
}

// ---- Handle -------------------------------------------------------------------------------------

cnnlStatus_t cnnlCreate(cnnlHandle_t *handle) {
  return guarded(__func__, [&](const char *function) { return g_handles.create(function, handle); });
}

cnnlStatus_t cnnlDestroy(cnnlHandle_t handle) {
  return guarded(__func__, [&](const char *function) { return g_handles.destroy(function, handle); });
}

cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    return g_handles.with(function, "handle", handle, [queue](Context &context) {
      context.queue = queue;
      return CNNL_STATUS_SUCCESS;
    });
  });
}

cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t *queue) {
  return guarded(__func__, [&](const char *function) {
    return queue == nullptr ? refuse_null(function, "queue") : get_queue(function, handle, queue);
  });
}

cnnlStatus_t cnnlGetDevice(cnnlHandle_t handle, CNdev *device) {
  return guarded(__func__, [&](const char *function) {
    cnrtQueue_t queue = nullptr;
    CNNL_TRY(get_queue(function, handle, &queue));
    if (device == nullptr) return refuse_null(function, "device");
    *device = 0;
    return CNNL_STATUS_SUCCESS;
  });
}

// ---- Tensor descriptors -------------------------------------------------------------------------

cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_tensors.create(function, desc); });
}

cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_tensors.destroy(function, desc); });
}

cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                     int dim_count, const int dims[]) {
  return guarded(__func__, [&](const char *function) {
    return set<int>(function, desc, layout, dtype, dim_count, dims, nullptr, false);
  });
}

cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                        int dim_count, const int64_t dims[]) {
  return guarded(__func__, [&](const char *function) {
    return set<std::int64_t>(function, desc, layout, dtype, dim_count, dims, nullptr, false);
  });
}

cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                       int dim_count, const int dims[], const int strides[]) {
  return guarded(__func__, [&](const char *function) {
    return set<int>(function, desc, layout, dtype, dim_count, dims, strides, true);
  });
}

cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                          int dim_count, const int64_t dims[], const int64_t strides[]) {
  return guarded(__func__, [&](const char *function) {
    return set<std::int64_t>(function, desc, layout, dtype, dim_count, dims, strides, true);
  });
}

cnnlStatus_t cnnlSetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc, cnnlDataType_t dtype) {
  return guarded(__func__, [&](const char *function) {
    Tensor tensor;
    CNNL_TRY(get_tensor(function, "desc", desc, &tensor));
    if (dtype == tensor.dtype || dtype == CNNL_DTYPE_INVALID) return CNNL_STATUS_SUCCESS;
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: dtype: expected that of the tensor, %d: nothing is quantised, got %d",
                  function, static_cast<int>(tensor.dtype), static_cast<int>(dtype));
  });
}

cnnlStatus_t cnnlSetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc, cnnlPointerMode_t mode) {
  return guarded(__func__, [&](const char *function) {
    Tensor tensor;
    CNNL_TRY(get_tensor(function, "desc", desc, &tensor));
    if (mode == CNNL_POINTER_MODE_DEVICE) return CNNL_STATUS_SUCCESS;
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: mode: expected 1, tensors lie on the device, got %d", function,
                  static_cast<int>(mode));
  });
}

cnnlStatus_t cnnlGetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t *layout, cnnlDataType_t *dtype,
                                     int *dim_count, int dims[]) {
  return guarded(__func__, [&](const char *function) {
    Tensor tensor;
    CNNL_TRY(get_tensor(function, "desc", desc, &tensor));
    if (layout != nullptr) *layout = tensor.layout;
    if (dtype != nullptr) *dtype = tensor.dtype;
    if (dim_count != nullptr) *dim_count = tensor.rank();
    for (std::size_t d = 0; dims != nullptr && d < tensor.dims.size(); ++d) {
      if (tensor.dims[d] > std::numeric_limits<int>::max()) {
        return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: dims: dim %zu does not fit an int", function, d);
      }
      dims[d] = static_cast<int>(tensor.dims[d]);
    }
    return CNNL_STATUS_SUCCESS;
  });
}

size_t cnnlGetTensorElementNum(cnnlTensorDescriptor_t desc) {
  Tensor tensor;
  const cnnlStatus_t status =
      guarded(__func__, [&](const char *function) { return get_tensor(function, "desc", desc, &tensor); });
  return status == CNNL_STATUS_SUCCESS ? static_cast<std::size_t>(tensor.count) : 0;
}

cnnlStatus_t cnnlGetSizeOfDataType(cnnlDataType_t dtype, size_t *size) {
  return guarded(__func__, [&](const char *function) {
    if (size == nullptr) return refuse_null(function, "size");
    *size = size_of(dtype);
    if (*size != 0) return CNNL_STATUS_SUCCESS;
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: dtype: no type has the number %d", function, static_cast<int>(dtype));
  });
}
