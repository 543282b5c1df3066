/* The driver interface of the simulated MLU: the devices, memory, queues and notifiers. Modules,
 * kernels by handles and memory of several processes are not there. Each device has one context.
 * Unless a comment says that enumerators have the vendor's numbers, the numbers are our own;
 * compare with the names.
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
  CN_ERROR_NOT_READY = 1,
  CN_ERROR_INVALID_VALUE = 100006,
  CN_ERROR_INVALID_DEVICE = 100005,
  CN_CONTEXT_ERROR_INVALID = 100013,
  CN_ERROR_INVALID_HANDLE = 100014,
  CN_ERROR_SYSTEM_NO_MEM = 100010,
  CN_OPS_ERROR_NOT_SUPPORTED = 100050,
  CN_QUEUE_ERROR_INVALID = 100060,
  CN_MEMORY_ERROR_OUT_OF_MEMORY = 100100,
  CN_INVOKE_ERROR_TRAP = 100132,
  CN_ERROR_UNKNOWN = 999991
} CNresult;

typedef struct CNcontext_st *CNcontext;
typedef struct CNqueue_st *CNqueue;       /* a cnrtQueue_t */
typedef struct CNnotifier_st *CNnotifier; /* a cnrtNotifier_t */
typedef int CNdev;
typedef uint64_t cn_uint64_t;
typedef uint64_t CNaddr; /* a device pointer as a number */
typedef void (*CNhostFn)(void *arguments);

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

/* The one context of the device, which becomes the thread's; `flags` must be 0. */
CNresult cnCtxCreate(CNcontext *context, unsigned int flags, CNdev device);

/* Nothing ends: the device keeps its context. */
CNresult cnCtxDestroy(CNcontext context);

/* As cnrtSyncDevice. */
CNresult cnCtxSync(void);

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

/* ---- Memory ----
 *
 * These functions do what those of CNRT do: cnrtMalloc, cnrtFree, cnrtMemcpy and their like. */

CNresult cnMalloc(CNaddr *pointer, cn_uint64_t bytes);
CNresult cnMallocConstant(CNaddr *pointer, cn_uint64_t bytes);
CNresult cnFree(CNaddr pointer);
CNresult cnMallocHost(void **pointer, cn_uint64_t bytes);
CNresult cnFreeHost(void *pointer);

/* NULL pointers are skipped. */
CNresult cnMemGetInfo(cn_uint64_t *free, cn_uint64_t *total);

/* The pointers tell the direction. */
CNresult cnMemcpy(CNaddr dst, CNaddr src, cn_uint64_t bytes);
CNresult cnMemcpyHtoD(CNaddr dst, const void *src, cn_uint64_t bytes);
CNresult cnMemcpyDtoH(void *dst, CNaddr src, cn_uint64_t bytes);
CNresult cnMemcpyDtoD(CNaddr dst, CNaddr src, cn_uint64_t bytes);
CNresult cnMemcpyAsync(CNaddr dst, CNaddr src, cn_uint64_t bytes, CNqueue queue);
CNresult cnMemcpyHtoDAsync(CNaddr dst, const void *src, cn_uint64_t bytes, CNqueue queue);
CNresult cnMemcpyDtoHAsync(void *dst, CNaddr src, cn_uint64_t bytes, CNqueue queue);
CNresult cnMemcpyDtoDAsync(CNaddr dst, CNaddr src, cn_uint64_t bytes, CNqueue queue);

/* Sets `count` elements of 8, 16 or 32 bits; the pointer must be a multiple of their size. */
CNresult cnMemsetD8(CNaddr pointer, unsigned char value, cn_uint64_t count);
CNresult cnMemsetD16(CNaddr pointer, unsigned short value, cn_uint64_t count);
CNresult cnMemsetD32(CNaddr pointer, unsigned int value, cn_uint64_t count);
CNresult cnMemsetD8Async(CNaddr pointer, unsigned char value, cn_uint64_t count, CNqueue queue);
CNresult cnMemsetD16Async(CNaddr pointer, unsigned short value, cn_uint64_t count, CNqueue queue);
CNresult cnMemsetD32Async(CNaddr pointer, unsigned int value, cn_uint64_t count, CNqueue queue);

/* ---- Queues and notifiers ----
 *
 * As those of CNRT, which take the handles too. Flags of notifiers have CNRT's numbers, other
 * flags must be 0. */

CNresult cnCreateQueue(CNqueue *queue, unsigned int flags);
CNresult cnCreateQueueWithPriority(CNqueue *queue, unsigned int flags, int priority);
CNresult cnDestroyQueue(CNqueue queue);
CNresult cnQueueGetPriority(CNqueue queue, int *priority);

/* CN_ERROR_NOT_READY if work is left. */
CNresult cnQueryQueue(CNqueue queue);
CNresult cnQueueSync(CNqueue queue);
CNresult cnQueueWaitNotifier(CNnotifier notifier, CNqueue queue, unsigned int flags);
CNresult cnInvokeHostFunc(CNqueue queue, CNhostFn function, void *arguments);

CNresult cnCreateNotifier(CNnotifier *notifier, unsigned int flags);
CNresult cnDestroyNotifier(CNnotifier notifier);
CNresult cnPlaceNotifier(CNnotifier notifier, CNqueue queue);

/* CN_ERROR_NOT_READY if the queue has not reached it. */
CNresult cnQueryNotifier(CNnotifier notifier);
CNresult cnWaitNotifier(CNnotifier notifier);
CNresult cnNotifierElapsedTime(CNnotifier start, CNnotifier end, float *milliseconds);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* CN_API_H_ */
