// The driver interface: CNRT's knowledge of the device under other names.
#include "cn_api.h"

#include <cstdint>
#include <cstring>

#include "base/thread_state.h"
#include "machine/model.h"
#include "runtime/driver.h"
#include "runtime/error.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

constexpr int kDriverVersion = 60003;

struct ErrorText {
  CNresult error;
  const char *name;
  const char *text;
};

constexpr ErrorText kErrors[] = {
    {CN_SUCCESS, "CN_SUCCESS", "no error"},
    {CN_ERROR_INVALID_VALUE, "CN_ERROR_INVALID_VALUE", "an argument is not valid; mlusimGetLastError() tells which"},
    {CN_ERROR_INVALID_DEVICE, "CN_ERROR_INVALID_DEVICE", "there is no device of this number"},
    {CN_CONTEXT_ERROR_INVALID, "CN_CONTEXT_ERROR_INVALID", "there is no such context"},
    {CN_ERROR_INVALID_HANDLE, "CN_ERROR_INVALID_HANDLE", "the handle stands for no living object of its kind"},
    {CN_OPS_ERROR_NOT_SUPPORTED, "CN_OPS_ERROR_NOT_SUPPORTED", "the simulator does not have this"},
    {CN_ERROR_NOT_READY, "CN_ERROR_NOT_READY", "the work is not done yet"},
    {CN_ERROR_SYSTEM_NO_MEM, "CN_ERROR_SYSTEM_NO_MEM", "there is not enough memory of the host"},
    {CN_QUEUE_ERROR_INVALID, "CN_QUEUE_ERROR_INVALID", "the queue cannot do this, or gave up its work"},
    {CN_MEMORY_ERROR_OUT_OF_MEMORY, "CN_MEMORY_ERROR_OUT_OF_MEMORY", "there is not enough device memory"},
    {CN_INVOKE_ERROR_TRAP, "CN_INVOKE_ERROR_TRAP", "a kernel failed; mlusimGetReport() tells why"},
    {CN_ERROR_UNKNOWN, "CN_ERROR_UNKNOWN", "an unknown error"},
};

const ErrorText *find_text(CNresult error) {
  for (const ErrorText &entry : kErrors) {
    if (entry.error == error) return &entry;
  }
  return nullptr;
}

// ---- Device -------------------------------------------------------------------------------------

struct AttributePlace {
  CNdevice_attribute attribute;
  cnrtDeviceAttr_t of_runtime;
};

constexpr AttributePlace kAttributes[] = {
    {CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cnrtAttrComputeCapabilityMajor},
    {CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cnrtAttrComputeCapabilityMinor},
    {CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X, cnrtAttrMaxDimX},
    {CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y, cnrtAttrMaxDimY},
    {CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z, cnrtAttrMaxDimZ},
    {CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT_PER_UNION_TASK, cnrtAttrMaxClusterCountPerUnionTask},
    {CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT, cnrtAttrClusterCount},
    {CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER, cnrtAttrMcorePerCluster},
    {CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION, cnrtAttrISAVersion},
    {CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE, cnrtAttrNramSizePerMcore},
    {CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE, cnrtAttrWramSizePerMcore},
    {CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER, cnrtAttrSramSizePerMcore},
    {CN_DEVICE_ATTRIBUTE_MAX_L2_CACHE_SIZE, cnrtAttrMaxL2CacheSize},
    {CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_TOTAL_SIZE, cnrtAttrTotalMemSize},
    {CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE, cnrtAttrIpuClockRate},
    {CN_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, cnrtAttrMemClockRate},
    {CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, cnrtAttrGmemBusWidth},
    {CN_DEVICE_ATTRIBUTE_MAX_QUEUE_COUNT, cnrtAttrQueueSize},
    {CN_DEVICE_ATTRIBUTE_MAX_NOTIFIER_COUNT, cnrtAttrNotifierSize},
    {CN_DEVICE_ATTRIBUTE_ECC_ENABLED, cnrtAttrEccEnable},
};

cnrtRet_t attribute_of(const char *function, CNdevice_attribute attribute, int *value) {
  switch (attribute) {
    case CN_DEVICE_ATTRIBUTE_LOCAL_MEMORY_SIZE_PER_CORE:
      *value = device().stack_kib * 1024;
      return cnrtSuccess;
    case CN_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:  // no cache is modelled
    case CN_DEVICE_ATTRIBUTE_TOTAL_CONST_MEMORY_SIZE:
      *value = 0;
      return cnrtSuccess;
    default:
      break;
  }
  for (const AttributePlace &place : kAttributes) {
    if (place.attribute != attribute) continue;
    return quietly([&] { return cnrtDeviceGetAttribute(value, place.of_runtime, 0); });
  }
  return explain(cnrtErrorNotSupport, "%s: attribute: none has the number %d", function, static_cast<int>(attribute));
}

// ---- Context ------------------------------------------------------------------------------------

// Each device has one context. Its handle is a number that is no address, plus the device's number.
constexpr std::uintptr_t kFirstContext = std::uintptr_t{0x4d63} << 48;

cnrtRet_t check_context(const char *function, CNcontext context) {
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(context);
  if (number >= kFirstContext && number - kFirstContext < static_cast<std::uintptr_t>(device_count())) {
    return cnrtSuccess;
  }
  return explain(static_cast<cnrtRet_t>(CN_CONTEXT_ERROR_INVALID),
                 "%s: context: expected a context from cnCtxGetCurrent, got %s", function,
                 context == nullptr ? "NULL" : "another pointer");
}

cnrtRet_t give_context(const char *function, CNcontext *context, int device) {
  if (context == nullptr) return refuse_null(function, "context");
  *context = reinterpret_cast<CNcontext>(kFirstContext + static_cast<std::uintptr_t>(device));
  return cnrtSuccess;
}

// Returns the clusters of the device's largest union.
int largest_union() {
  int clusters = 1;
  while (clusters * 2 <= device().clusters && clusters < 16) clusters *= 2;
  return clusters;
}

cnrtRet_t config_of(const char *function, CNctxConfigParamType type, CNctxConfigParam *parameter) {
  switch (type) {
    case CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM:
      parameter->visibleClusterNumber = static_cast<unsigned int>(device().clusters);
      return cnrtSuccess;
    case CN_CTX_CONFIG_UNION_LIMIT:
      parameter->unionLimit = static_cast<KernelClass>(largest_union() * CN_KERNEL_CLASS_UNION1);
      return cnrtSuccess;
    default:
      return explain(cnrtErrorArgsInvalid, "%s: type: expected 1 or 2, got %d", function, static_cast<int>(type));
  }
}

cnrtRet_t get_config(const char *function, CNcontext context, CNctxConfigParamType type, CNctxConfigParam *parameter) {
  const cnrtRet_t error = check_context(function, context);
  if (error != cnrtSuccess) return error;
  return parameter == nullptr ? refuse_null(function, "parameter") : config_of(function, type, parameter);
}

cnrtRet_t set_config(const char *function, CNcontext context, CNctxConfigParamType type,
                     const CNctxConfigParam *parameter) {
  CNctxConfigParam now = {};
  const cnrtRet_t error = get_config(function, context, type, &now);
  if (error != cnrtSuccess) return error;
  if (parameter == nullptr) return refuse_null(function, "parameter");
  if (parameter->visibleClusterNumber == now.visibleClusterNumber) return cnrtSuccess;
  return explain(cnrtErrorNotSupport, "%s: parameter: expected %u, which cannot be changed, got %u", function,
                 now.visibleClusterNumber, parameter->visibleClusterNumber);
}

cnrtRet_t parallel_tasks(const char *function, KernelClass kernel_class, int *count) {
  const int number = static_cast<int>(kernel_class);
  if (number == CN_KERNEL_CLASS_BLOCK) {
    *count = device().clusters * device().cores_per_cluster;
    return cnrtSuccess;
  }
  if (number < CN_KERNEL_CLASS_UNION1 || number > CN_KERNEL_CLASS_UNION16 || (number & (number - 1)) != 0) {
    return explain(cnrtErrorArgsInvalid, "%s: kernel_class: expected 1, 4, 8, 16, 32 or 64, got %d", function, number);
  }
  *count = device().clusters / (number / CN_KERNEL_CLASS_UNION1);
  return cnrtSuccess;
}

}  // namespace

CNresult result_of(cnrtRet_t error) {
  const auto number = static_cast<CNresult>(error);
  return find_text(number) != nullptr ? number : CN_ERROR_UNKNOWN;
}

}  // namespace mlusim

using namespace mlusim;

CNresult cnGetErrorName(CNresult error, const char **name) {
  const ErrorText *const text = find_text(error);
  if (name == nullptr || text == nullptr) return CN_ERROR_INVALID_VALUE;
  *name = text->name;
  return CN_SUCCESS;
}

CNresult cnGetErrorString(CNresult error, const char **text) {
  const ErrorText *const found = find_text(error);
  if (text == nullptr || found == nullptr) return CN_ERROR_INVALID_VALUE;
  *text = found->text;
  return CN_SUCCESS;
}

CNresult cnInit(unsigned int flags) {
  return answered(__func__, [&](const char *function) {
    return flags == 0 ? cnrtSuccess : explain(cnrtErrorArgsInvalid, "%s: flags: expected 0, got %u", function, flags);
  });
}

CNresult cnGetLibVersion(int *major, int *minor, int *patch) {
  if (major != nullptr) *major = CN_MAJOR_VERSION;
  if (minor != nullptr) *minor = CN_MINOR_VERSION;
  if (patch != nullptr) *patch = CN_PATCH_VERSION;
  return CN_SUCCESS;
}

CNresult cnGetDriverVersion(int *version) {
  return answered(__func__, [&](const char *function) {
    if (version == nullptr) return refuse_null(function, "version");
    *version = kDriverVersion;
    return cnrtSuccess;
  });
}

CNresult cnDeviceGetCount(int *count) {
  return answered(__func__, [&](const char *function) {
    if (count == nullptr) return refuse_null(function, "count");
    *count = device_count();
    return cnrtSuccess;
  });
}

CNresult cnDeviceGet(CNdev *device, int ordinal) {
  return answered(__func__, [&](const char *function) {
    if (device == nullptr) return refuse_null(function, "device");
    const cnrtRet_t error = check_device(function, "ordinal", ordinal);
    if (error == cnrtSuccess) *device = ordinal;
    return error;
  });
}

CNresult cnDeviceGetAttribute(int *value, CNdevice_attribute attribute, CNdev device) {
  return answered(__func__, [&](const char *function) {
    if (value == nullptr) return refuse_null(function, "value");
    const cnrtRet_t error = check_device(function, "device", device);
    return error == cnrtSuccess ? attribute_of(function, attribute, value) : error;
  });
}

CNresult cnDeviceGetName(char *name, int length, CNdev device) {
  return answered(__func__, [&](const char *function) {
    if (name == nullptr) return refuse_null(function, "name");
    const cnrtRet_t error = check_device(function, "device", device);
    if (error != cnrtSuccess) return error;
    const char *text = mlusim::device().name;
    const std::size_t bytes = std::strlen(text) + 1;
    if (length < 0 || static_cast<std::size_t>(length) < bytes) {
      return explain(cnrtErrorArgsInvalid, "%s: length: expected at least %zu, got %d", function, bytes, length);
    }
    std::memcpy(name, text, bytes);
    return cnrtSuccess;
  });
}

CNresult cnDeviceTotalMem(size_t *bytes, CNdev device) {
  return answered(__func__, [&](const char *function) {
    if (bytes == nullptr) return refuse_null(function, "bytes");
    const cnrtRet_t error = check_device(function, "device", device);
    if (error == cnrtSuccess) *bytes = static_cast<std::size_t>(mlusim::device().memory_mib) << 20;
    return error;
  });
}

CNresult cnCtxGetCurrent(CNcontext *context) {
  return answered(__func__,
                  [&](const char *function) { return give_context(function, context, thread_state().device); });
}

CNresult cnCtxSetCurrent(CNcontext context) {
  return answered(__func__, [&](const char *function) {
    const cnrtRet_t error = check_context(function, context);
    if (error != cnrtSuccess) return error;
    thread_state().device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context) - kFirstContext);
    return cnrtSuccess;
  });
}

CNresult cnCtxGetDevice(CNdev *device) {
  return answered(__func__, [&](const char *function) {
    if (device == nullptr) return refuse_null(function, "device");
    *device = thread_state().device;
    return cnrtSuccess;
  });
}

CNresult cnCtxCreate(CNcontext *context, unsigned int flags, CNdev device) {
  return answered(__func__, [&](const char *function) {
    const cnrtRet_t error = check_device(function, "device", device);
    if (error != cnrtSuccess) return error;
    if (flags != 0) return explain(cnrtErrorArgsInvalid, "%s: flags: expected 0, got %u", function, flags);
    const cnrtRet_t given = give_context(function, context, device);
    if (given == cnrtSuccess) thread_state().device = device;
    return given;
  });
}

CNresult cnCtxDestroy(CNcontext context) {
  return answered(__func__, [&](const char *function) { return check_context(function, context); });
}

CNresult cnSharedContextAcquire(CNcontext *context, CNdev device) {
  return answered(__func__, [&](const char *function) {
    const cnrtRet_t error = check_device(function, "device", device);
    return error == cnrtSuccess ? give_context(function, context, device) : error;
  });
}

CNresult cnSharedContextRelease(CNdev device) {
  return answered(__func__, [&](const char *function) { return check_device(function, "device", device); });
}

CNresult cnQueueGetContext(CNqueue queue, CNcontext *context) {
  return answered(__func__, [&](const char *function) {
    const QueueRef found = queue_of(function, queue);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    return give_context(function, context, found->device());
  });
}

CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *parameter) {
  return answered(__func__, [&](const char *function) { return get_config(function, context, type, parameter); });
}

CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *parameter) {
  return answered(__func__, [&](const char *function) { return set_config(function, context, type, parameter); });
}

CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass kernel_class, int *count) {
  return answered(__func__, [&](const char *function) {
    const cnrtRet_t error = check_context(function, context);
    if (error != cnrtSuccess) return error;
    return count == nullptr ? refuse_null(function, "count") : parallel_tasks(function, kernel_class, count);
  });
}
