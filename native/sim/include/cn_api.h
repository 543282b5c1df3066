/* The driver interface of the simulated MLU: the part through which operator libraries ask about
 * the devices. Each device has one context. Unless a comment says that enumerators have the
 * vendor's numbers, the numbers are our own; compare with the names.
 *
 * Any pointer may be NULL: the call then returns CN_ERROR_INVALID_VALUE, unless its comment says
 * otherwise. */
#ifndef CN_API_H_
#define CN_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define CN_MAJOR_VERSION 3
#define CN_MINOR_VERSION 0
#define CN_PATCH_VERSION 0

typedef enum {
  CN_SUCCESS = 0,
  CN_ERROR_INVALID_VALUE = 100006,
  CN_ERROR_INVALID_DEVICE = 100005,
  CN_CONTEXT_ERROR_INVALID = 100013,
  CN_ERROR_INVALID_HANDLE = 100014,
  CN_OPS_ERROR_NOT_SUPPORTED = 100050,
  CN_ERROR_UNKNOWN = 999991
} CNresult;

typedef struct CNcontext_st *CNcontext;
typedef struct CNqueue_st *CNqueue; /* a cnrtQueue_t */
typedef int CNdev;

/* The number of clusters of a job, in the vendor's numbers. */
typedef enum {
  CN_KERNEL_CLASS_BLOCK = 1,
  CN_KERNEL_CLASS_UNION = 4,
  CN_KERNEL_CLASS_UNION1 = 4,
  CN_KERNEL_CLASS_UNION2 = 8,
  CN_KERNEL_CLASS_UNION4 = 16,
  CN_KERNEL_CLASS_UNION8 = 32,
  CN_KERNEL_CLASS_UNION16 = 64
} KernelClass;

/* Sizes are in bytes, clock rates in kHz. */
typedef enum {
  CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 1,
  CN_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 2,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X = 10,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y = 11,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z = 12,
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT_PER_UNION_TASK = 13,
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT = 14,
  CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER = 15,
  CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION = 16,
  CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE = 20,
  CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE = 21,
  CN_DEVICE_ATTRIBUTE_LOCAL_MEMORY_SIZE_PER_CORE = 22,
  CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER = 23,
  CN_DEVICE_ATTRIBUTE_MAX_L2_CACHE_SIZE = 24,
  CN_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 25,
  CN_DEVICE_ATTRIBUTE_TOTAL_CONST_MEMORY_SIZE = 26,
  CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_TOTAL_SIZE = 27, /* MiB */
  CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE = 30,
  CN_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 31,
  CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 32, /* bits, transferred twice in a cycle of the memory's clock */
  CN_DEVICE_ATTRIBUTE_MAX_QUEUE_COUNT = 40,
  CN_DEVICE_ATTRIBUTE_MAX_NOTIFIER_COUNT = 41,
  CN_DEVICE_ATTRIBUTE_ECC_ENABLED = 42
} CNdevice_attribute;

typedef enum {
  CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM = 1,
  CN_CTX_CONFIG_UNION_LIMIT = 2
} CNctxConfigParamType;

typedef union {
  unsigned int visibleClusterNumber;
  KernelClass unionLimit;
} CNctxConfigParam;

/* ---- Errors and versions ---- */

/* The name of the enumerator, and a phrase about it; other numbers give CN_ERROR_INVALID_VALUE. */
CNresult cnGetErrorName(CNresult error, const char **name);
CNresult cnGetErrorString(CNresult error, const char **text);

/* No preparation is necessary; `flags` must be 0. */
CNresult cnInit(unsigned int flags);

/* The version of this interface. NULL pointers are skipped. */
CNresult cnGetLibVersion(int *major, int *minor, int *patch);

/* The version of the corresponding driver as one number: major * 10000 + minor * 100 + patch. */
CNresult cnGetDriverVersion(int *version);

/* ---- Device ---- */

CNresult cnDeviceGetCount(int *count);
CNresult cnDeviceGet(CNdev *device, int ordinal);
CNresult cnDeviceGetAttribute(int *value, CNdevice_attribute attribute, CNdev device);

/* The name of the card. It must fit into `length` bytes with its final zero. */
CNresult cnDeviceGetName(char *name, int length, CNdev device);

/* Bytes of device memory. */
CNresult cnDeviceTotalMem(size_t *bytes, CNdev device);

/* ---- Context ---- */

CNresult cnCtxGetCurrent(CNcontext *context);
CNresult cnCtxSetCurrent(CNcontext context);
CNresult cnCtxGetDevice(CNdev *device);
CNresult cnSharedContextAcquire(CNcontext *context, CNdev device);
CNresult cnSharedContextRelease(CNdev device);

/* The context of a queue, which may be NULL: the default queue. */
CNresult cnQueueGetContext(CNqueue queue, CNcontext *context);

/* The clusters that jobs of the context may use, or the largest union. */
CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *parameter);

/* Accepts only the values that are already set. */
CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam *parameter);

/* The number of jobs of a class that run at once: the unions, or cores, of the device. 0 if the
 * class needs more clusters than the device has. */
CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass kernel_class, int *count);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* CN_API_H_ */
