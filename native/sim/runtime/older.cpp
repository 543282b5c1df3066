// Names and launch forms of older releases.
#include <cstring>
#include <memory>
#include <vector>

#include "machine/model.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/kernels.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

// ---- Arguments of a launch ----------------------------------------------------------------------

struct Argument {
  std::size_t bytes;
  // A vector of this type is aligned for any argument.
  std::vector<std::max_align_t> value;
};

struct ParamsBuffer {
  ForkMutex mutex;
  std::vector<Argument> arguments;
};

struct InitParam {};

using BufferRef = std::shared_ptr<ParamsBuffer>;

Handles<ParamsBuffer, cnrtKernelParamsBuffer_t> &g_buffers = *new Handles<ParamsBuffer, cnrtKernelParamsBuffer_t>('b');
Handles<InitParam, cnrtKernelInitParam_t> &g_inits = *new Handles<InitParam, cnrtKernelInitParam_t>('i');

BufferRef buffer_of(const char *function, cnrtKernelParamsBuffer_t handle) {
  BufferRef buffer = g_buffers.find(handle);
  if (buffer == nullptr) explain(cnrtErrorInvalidResourceHandle, "%s: buffer: no living buffer", function);
  return buffer;
}

cnrtRet_t check_init(const char *function, cnrtKernelInitParam_t init) {
  if (g_inits.find(init) != nullptr) return cnrtSuccess;
  return explain(cnrtErrorInvalidResourceHandle, "%s: init: no living object", function);
}

cnrtRet_t add_argument(const char *function, cnrtKernelParamsBuffer_t handle, const void *value, std::size_t bytes) {
  const BufferRef buffer = buffer_of(function, handle);
  if (buffer == nullptr) return cnrtErrorInvalidResourceHandle;
  if (value == nullptr) return refuse_null(function, "value");
  constexpr std::size_t kMost = 64 << 10;
  if (bytes == 0 || bytes > kMost) {
    return explain(cnrtErrorArgsInvalid, "%s: bytes: expected 1 to %zu, got %zu", function, kMost, bytes);
  }
  constexpr std::size_t kWord = sizeof(std::max_align_t);
  Argument argument = {bytes, std::vector<std::max_align_t>((bytes + kWord - 1) / kWord)};
  std::memcpy(argument.value.data(), value, bytes);
  const std::lock_guard<ForkMutex> lock(buffer->mutex);
  buffer->arguments.push_back(std::move(argument));
  return cnrtSuccess;
}

cnrtRet_t find(const char *function, const void *address, const Kernel **kernel) {
  if (address == nullptr) return refuse_null(function, "function");
  *kernel = find_kernel(address, device().arch);
  if (*kernel != nullptr) return cnrtSuccess;
  return explain(cnrtErrorInvalidKernel,
                 "%s: function: expected the address of a kernel that bangcc compiled, got another address; "
                 "cnrtInvokeKernel launches other functions",
                 function);
}

// Checks the arguments against the kernel's parameters.
cnrtRet_t check_arguments(const char *function, const Kernel &kernel, const std::vector<Argument> &arguments) {
  const std::size_t count = static_cast<std::size_t>(kernel.calls.count);
  if (arguments.size() != count) {
    return explain(cnrtErrorArgsInvalid, "%s: buffer: expected the %zu arguments of %s, got %zu", function, count,
                   kernel.name, arguments.size());
  }
  for (std::size_t i = 0; i < count && kernel.calls.sizes != nullptr; ++i) {
    if (arguments[i].bytes == kernel.calls.sizes[i]) continue;
    return explain(cnrtErrorArgsInvalid, "%s: buffer: expected %zu bytes for argument %zu of %s, got %zu", function,
                   kernel.calls.sizes[i], i + 1, kernel.name, arguments[i].bytes);
  }
  return cnrtSuccess;
}

cnrtRet_t invoke_by_address(const char *function, const void *address, cnrtDim3_t dim, cnrtKernelParamsBuffer_t handle,
                            cnrtFunctionType_t type, cnrtQueue_t queue) {
  const Kernel *kernel = nullptr;
  cnrtRet_t error = find(function, address, &kernel);
  if (error != cnrtSuccess) return error;
  const BufferRef buffer = buffer_of(function, handle);
  if (buffer == nullptr) return cnrtErrorInvalidResourceHandle;
  std::vector<Argument> arguments;
  {
    const std::lock_guard<ForkMutex> lock(buffer->mutex);
    arguments = buffer->arguments;
  }
  error = check_arguments(function, *kernel, arguments);
  if (error != cnrtSuccess) return error;
  std::vector<void *> addresses;
  for (Argument &argument : arguments) addresses.push_back(argument.value.data());
  addresses.push_back(nullptr);
  return cnrtInvokeKernel(kernel->address, dim, type, addresses.data(), 0, queue);
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

// ---- Names --------------------------------------------------------------------------------------

cnrtRet_t cnrtInit(unsigned int flags) {
  return guarded(__func__, [&](const char *function) {
    return flags == 0 ? cnrtSuccess : explain(cnrtErrorArgsInvalid, "%s: flags: expected 0, got %u", function, flags);
  });
}

void cnrtDestroy(void) { cnrtSyncDevice(); }

cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t *device, int ordinal) {
  return guarded(__func__, [&](const char *function) {
    if (device == nullptr) return refuse_null(function, "device");
    const cnrtRet_t error = check_device(function, "ordinal", ordinal);
    if (error == cnrtSuccess) *device = ordinal;
    return error;
  });
}

cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device) { return cnrtSetDevice(device); }

cnrtRet_t cnrtGetCurrentDevice(cnrtDev_t *device) { return cnrtGetDevice(device); }

cnrtRet_t cnrtCreateQueue(cnrtQueue_t *queue) { return cnrtQueueCreate(queue); }

cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue) { return cnrtQueueDestroy(queue); }

cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue) { return cnrtQueueSync(queue); }

cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t *notifier) { return cnrtNotifierCreate(notifier); }

cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t *notifier) {
  if (notifier == nullptr) {
    return guarded(__func__, [](const char *function) { return refuse_null(function, "notifier"); });
  }
  const cnrtRet_t error = cnrtNotifierDestroy(*notifier);
  if (error == cnrtSuccess) *notifier = nullptr;
  return error;
}

// ---- Launches -----------------------------------------------------------------------------------

cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t *buffer) {
  return guarded(__func__, [&](const char *function) {
    if (buffer == nullptr) return refuse_null(function, "buffer");
    *buffer = g_buffers.add(std::make_shared<ParamsBuffer>());
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t buffer, void *value, size_t bytes) {
  return guarded(__func__, [&](const char *function) { return add_argument(function, buffer, value, bytes); });
}

cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t buffer) {
  return guarded(__func__, [&](const char *function) {
    if (g_buffers.remove(buffer) != nullptr) return cnrtSuccess;
    return explain(cnrtErrorInvalidResourceHandle, "%s: buffer: no living buffer", function);
  });
}

cnrtRet_t cnrtInvokeKernel_V2(const void *function, cnrtDim3_t dim, cnrtKernelParamsBuffer_t buffer,
                              cnrtFunctionType_t type, cnrtQueue_t queue) {
  return guarded(__func__,
                 [&](const char *name) { return invoke_by_address(name, function, dim, buffer, type, queue); });
}

cnrtRet_t cnrtCreateKernelInitParam(cnrtKernelInitParam_t *init) {
  return guarded(__func__, [&](const char *function) {
    if (init == nullptr) return refuse_null(function, "init");
    *init = g_inits.add(std::make_shared<InitParam>());
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtInitKernelMemory(const void *function, cnrtKernelInitParam_t init) {
  return guarded(__func__, [&](const char *name) {
    const Kernel *kernel = nullptr;
    const cnrtRet_t error = find(name, function, &kernel);
    return error == cnrtSuccess ? check_init(name, init) : error;
  });
}

cnrtRet_t cnrtDestroyKernelInitParamAndMemory(cnrtKernelInitParam_t init) {
  return guarded(__func__, [&](const char *function) {
    return g_inits.remove(init) != nullptr ? cnrtSuccess : check_init(function, init);
  });
}

cnrtRet_t cnrtInvokeKernel_V3(const void *function, cnrtKernelInitParam_t init, cnrtDim3_t dim,
                              cnrtKernelParamsBuffer_t buffer, cnrtFunctionType_t type, cnrtQueue_t queue,
                              void *extra) {
  return guarded(__func__, [&](const char *name) {
    const cnrtRet_t error = check_init(name, init);
    if (error != cnrtSuccess) return error;
    if (extra != nullptr) return explain(cnrtErrorArgsInvalid, "%s: extra: expected NULL, got a pointer", name);
    return invoke_by_address(name, function, dim, buffer, type, queue);
  });
}

// ---- Captures -----------------------------------------------------------------------------------

cnrtRet_t cnrtQueueGetCaptureInfo(cnrtQueue_t queue, cnrtQueueCaptureStatus_t *status, uint64_t *id,
                                  cnrtTaskTopo_t *topo, const cnrtTaskTopoNode_t **dependencies, size_t *count) {
  return guarded(__func__, [&](const char *function) {
    if (queue_of(function, queue) == nullptr) return cnrtErrorInvalidResourceHandle;
    if (status == nullptr) return refuse_null(function, "status");
    *status = cnrtQueueCaptureStatusNone;
    if (id != nullptr) *id = 0;
    if (topo != nullptr) *topo = nullptr;
    if (dependencies != nullptr) *dependencies = nullptr;
    if (count != nullptr) *count = 0;
    return cnrtSuccess;
  });
}
