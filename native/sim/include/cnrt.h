/* The runtime of the simulated MLU, with the vendor's names and numbers (CNRT 6.14.1): devices,
 * memory, queues, notifiers, launches.
 *
 * Conventions
 *   - Any pointer may be NULL: the call then returns cnrtErrorArgsInvalid, unless its comment says
 *     otherwise. A value that is no live handle gives cnrtErrorInvalidResourceHandle;
 *     mlusimGetLastError() returns a sentence about an error.
 *   - An error other than cnrtErrorNotReady also becomes the calling thread's last error.
 *   - The queue argument NULL is the default queue, and so is 2 (legacy default); 1 is a queue of
 *     the calling thread.
 *   - Work in a queue is done in order; work in different queues in any order. After a failure, the
 *     queue drops its work until a call that waits for the queue has returned the error:
 *     cnrtQueueSync, cnrtSyncDevice, cnrtQueueQuery, or a synchronous copy on the default queue.
 *   - Functions that queue work (...Async) read and write the memory later; it must live until
 *     then. A call for 0 bytes does nothing.
 *   - A host function that a queue runs must not wait: such calls return cnrtErrorOpsNotPermitted
 *     there.
 *   - A fork waits for the end of the running kernel. The child keeps device memory, queues and
 *     notifiers, but loses queued work.
 */
#ifndef CNRT_H_
#define CNRT_H_

#include <stddef.h>
#include <stdint.h>

#define CNRT_MAJOR_VERSION 6
#define CNRT_MINOR_VERSION 14
#define CNRT_PATCH_VERSION 1
#define CNRT_VERSION (CNRT_MAJOR_VERSION * 10000 + CNRT_MINOR_VERSION * 100 + CNRT_PATCH_VERSION)

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Status of a call. */
typedef enum {
  cnrtSuccess = 0,
  cnrtErrorNotReady = 1,
  cnrtErrorInit = 100002,
  cnrtErrorNoDevice = 100004,
  cnrtErrorDeviceInvalid = 100005,
  cnrtErrorArgsInvalid = 100006,
  cnrtErrorSys = 100007,
  cnrtErrorSysNoMem = 100010,
  cnrtErrorInvalidResourceHandle = 100014,
  cnrtErrorIllegalState = 100015,
  cnrtErrorNotSupport = 100050,
  cnrtErrorOpsNotPermitted = 100051,
  cnrtErrorQueue = 100060,
  cnrtErrorNoMem = 100100,
  cnrtErrorAssert = 100128,
  cnrtErrorKernelTrap = 100132,
  cnrtErrorKernelUserTrap = 100133,
  cnrtErrorNotFound = 100301,
  cnrtErrorInvalidKernel = 100302,
  cnrtErrorUnsupportedKernelVersion = 100303,
  cnrtErrorQueueCaptureUnsupported = 100360,
  cnrtErrorQueueCaptureInvalidated = 100361,
  cnrtErrorQueueCaptureWrongThread = 100362,
  cnrtErrorQueueCaptureMerged = 100363,
  cnrtErrorQueueCaptureUnjoined = 100364,
  cnrtErrorQueueCaptureIsolation = 100365,
  cnrtErrorQueueCaptureUnmatched = 100366,
  cnrtErrorTaskTopoEntityUpdateFailure = 100400,
  cnrtErrorNoKernel = 101312,
  cnrtErrorNoModule = 101315,
  cnrtErrorSetOnActiveProcess = 632002,
  cnrtErrorDevice = 632006,
  cnrtErrorNoAttribute = 632009,
  cnrtErrorMemcpyDirectionInvalid = 632013,
  cnrtErrorBusy = 632014,
  cnrtErrorCndrvFuncCall = 632015,
  cnrtErrorCndevFuncCall = 632017,
  cnrtErrorNoCnrtContext = 632019,
  cnrtErrorCndrvFuncNotFound = 632020,
  cnrtErrorInvalidSymbol = 632100,
  cnrtErrorUnknown = 999991,
  cnrtErrorMax = 999992
} cnrtRet_t;

#define CNRT_RET_SUCCESS cnrtSuccess

/* How a launch uses the device: single cores, or unions of 1, 2, 4, 8 or 16 clusters. */
typedef enum {
  cnrtFuncTypeMutable = -1,
  cnrtFuncTypeBlock = 1,
  cnrtFuncTypeBlock0 = 1,
  cnrtFuncTypeBlock1 = 2,
  cnrtFuncTypeUnion1 = 4,
  cnrtFuncTypeUnion2 = 8,
  cnrtFuncTypeUnion4 = 16,
  cnrtFuncTypeUnion8 = 32,
  cnrtFuncTypeUnion16 = 64
} cnrtFunctionType_t;

typedef cnrtFunctionType_t cnrtJobType_t;

/* The memories of a copy. */
typedef enum {
  cnrtMemcpyHostToDev = 0,
  cnrtMemcpyDevToDev = 1,
  cnrtMemcpyDevToHost = 2,
  cnrtMemcpyHostToHost = 3,
  cnrtMemcpyPeerToPeer = 4,
  cnrtMemcpyNoDirection = 5
} cnrtMemTransDir_t;

/* The memory that a pointer belongs to. */
typedef enum {
  cnrtMemTypeUnregistered = 0,
  cnrtMemTypeHost = 1,
  cnrtMemTypeDevice = 2
} cnrtMemType_t;

/* The attributes of cnrtDeviceGetAttribute. Sizes are in bytes, except for the two of the global
 * memory, in MiB. Clock rates are in kHz. */
typedef enum {
  cnrtAttrComputeCapabilityMajor = 1,
  cnrtAttrComputeCapabilityMinor = 2,
  cnrtAttrFP16ComputingSupported = 4,
  cnrtAttrBF16ComputingSupported = 7,
  cnrtAttrQueueSize = 257,
  cnrtAttrNotifierSize = 258,
  cnrtAttrMaxDimX = 513,
  cnrtAttrMaxDimY = 514,
  cnrtAttrMaxDimZ = 515,
  cnrtAttrMaxClusterCountPerUnionTask = 516,
  cnrtAttrClusterCount = 517,
  cnrtAttrMcorePerCluster = 518,
  cnrtAttrISAVersion = 522,
  cnrtAttrMaxL2CacheSize = 769,
  cnrtAttrNramSizePerMcore = 770,
  cnrtAttrWramSizePerMcore = 771,
  cnrtAttrSramSizePerMcore = 774,
  cnrtAttrAvailableGlobalMemorySize = 786,
  cnrtAttrEccEnable = 1025,
  cnrtAttrIpuClockRate = 1026,
  cnrtAttrMemClockRate = 1027,
  cnrtAttrGmemBusWidth = 1028,
  cnrtAttrTotalMemSize = 1029,
  cnrtAttrPciBusID = 1030,
  cnrtAttrPciDeviceID = 1031,
  cnrtAttrPciDomainID = 1032
} cnrtDeviceAttr_t;

/* The way in which a host thread waits for the device; kept, and without effect here. */
typedef enum {
  cnrtDeviceScheduleSpin = 0,
  cnrtDeviceScheduleBlock = 1,
  cnrtDeviceScheduleYield = 2,
  cnrtDeviceScheduleAuto = 3
} cnrtDeviceFlags_t;

/* The use of a notifier. Without the software stamp, cnrtNotifierElapsedTime refuses it; without
 * any stamp, cnrtNotifierDuration does so too. */
typedef enum {
  CNRT_NOTIFIER_DEFAULT = 0,
  CNRT_NOTIFIER_DISABLE_TIMING_SW = 2,
  CNRT_NOTIFIER_DISABLE_TIMING_ALL = 4,
  CNRT_NOTIFIER_INTERPROCESS = 8
} cnrtNotifierFlags_t;

/* Opaque handles. mluops.h declares the queue likewise. */
#define cnrtQueue CNqueue_st /* `struct cnrtQueue *` of older sources */
typedef struct CNqueue_st *cnrtQueue_t;
typedef struct CNnotifier_st *cnrtNotifier_t;

/* The function type for cnrtInvokeHostFunc. */
typedef void (*cnrtHostFn_t)(void *arguments);

/* The grid of tasks of a launch. */
typedef struct {
  unsigned int x;
  unsigned int y;
  unsigned int z;
} cnrtDim3_t;

/* The properties of a pointer. `size` and `deviceBasePointer` belong to the allocation that holds
 * it. */
typedef struct {
  cnrtMemType_t type;
  int device;
  size_t size;
  void *devicePointer;
  void *hostPointer;
  int cacheMode;
  void *deviceBasePointer;
} cnrtPointerAttributes_t;

/* The three structures of cnrtMemcpy3D have the layout of CUDA's; the vendor's layout is unknown.
 * Positions along x and widths are in bytes. */
typedef struct {
  size_t x;
  size_t y;
  size_t z;
} cnrtPos_t;

typedef struct {
  size_t width;
  size_t height;
  size_t depth;
} cnrtExtent_t;

/* Memory whose rows start every `pitch` bytes and whose planes start every `ysize` rows. */
typedef struct {
  void *ptr;
  size_t pitch;
  size_t xsize;
  size_t ysize;
} cnrtPitchedPtr_t;

typedef struct {
  cnrtPos_t srcPos;
  cnrtPitchedPtr_t srcPtr;
  cnrtPos_t dstPos;
  cnrtPitchedPtr_t dstPtr;
  cnrtExtent_t extent;
  cnrtMemTransDir_t dir;
} cnrtMemcpy3dParam_t;

/* Sixteen bytes that identify a device. */
typedef struct {
  char uuid[16];
} cnrtUUID_t;

/* The figures of a device; in the units of cnrtDeviceAttr_t. */
typedef struct cnrtDeviceProp_V3 {
  char name[256];
  int totalMem;
  int maxDim[3];
  int ipuClockRate;
  int memClockRate;
  int totalConstMem;
  int major;
  int minor;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int maxL2CacheSize;
  int persistingL2CacheMaxSize;
  int queuePrioritiesSupported;
  int sparseComputingSupported;
  int FP16ComputingSupported;
  int INT4ComputingSupported;
  int INT8ComputingSupported;
  int BF16ComputingSupported;
  int TF32ComputingSupported;
  int maxQueueSize;
  int maxNotifierSize;
  int tinyCoreSupported;
  int codecJPEGSupported;
  int codecH264Supported;
  int codecH265Supported;
  int maxClusterCountPerUnionTask;
  int clusterCount;
  int McorePerCluster;
  int maxQuadrantCount;
  int maxUnionTypePerQuadrant;
  int maxClusterPerUnionLimitTask;
  int ISAVersion;
  int isMultipleTensorProcessor;
  int NramSizePerMcore;
  int WramSizePerMcore;
  int LmemSizePerMcore;
  int SramSizePerMcore;
  int globalMemoryNodeCount;
  int cacheSize;
  int GmemBusWidth;
  int computeMode;
  int MDRMemorySize;
  int availableGlobalMemorySize;
  cnrtUUID_t uuid;
  uint64_t totalGlobalMemSize;
  int reserved[30];
} cnrtDeviceProp_t;

/* ---- Errors and versions --------------------------------------------------------------------- */

/* The name of the enumerator; "cnrtErrorUnknown" for other numbers. Never NULL, and always
 * valid. */
const char *cnrtGetErrorName(cnrtRet_t error);

/* A sentence about the error; never NULL, and always valid. */
const char *cnrtGetErrorStr(cnrtRet_t error);

/* Returns and clears the calling thread's last error. */
cnrtRet_t cnrtGetLastError(void);

/* Returns the calling thread's last error, and keeps it. */
cnrtRet_t cnrtPeekAtLastError(void);

/* The version of this interface. NULL pointers are skipped. */
cnrtRet_t cnrtGetLibVersion(int *major, int *minor, int *patch);

/* The version of the corresponding driver. NULL pointers are skipped. */
cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch);

/* ---- Device ---------------------------------------------------------------------------------- */

/* The number of devices: PYMLUOPS_SIM_DEVICES, or 8. All have the same figures; each has a memory
 * and queues of its own. */
cnrtRet_t cnrtGetDeviceCount(unsigned int *count);

/* The device of the calling thread; 0 until it sets another. */
cnrtRet_t cnrtGetDevice(int *device);

/* Sets the device of the calling thread: memory, queues and notifiers that it creates belong to
 * that device, and the default queues are that device's. */
cnrtRet_t cnrtSetDevice(int device);

/* Waits for all queues of the thread's device. Takes the errors of all, and returns the oldest. */
cnrtRet_t cnrtSyncDevice(void);

/* Waits for all queues of the thread's device, destroys them and its notifiers, and frees its
 * memory. Memory from cnrtHostMalloc stays. */
cnrtRet_t cnrtDeviceReset(void);

/* The flag that was set last; at first cnrtDeviceScheduleSpin. */
cnrtRet_t cnrtGetDeviceFlag(unsigned int *flags);

/* Keeps one of cnrtDeviceFlags_t. */
cnrtRet_t cnrtSetDeviceFlag(unsigned int flags);

/* One figure of a device; cnrtErrorNoAttribute if the number is no attribute. */
cnrtRet_t cnrtDeviceGetAttribute(int *value, cnrtDeviceAttr_t attribute, int device);

/* All figures of a device. */
cnrtRet_t cnrtGetDeviceProperties_V3(cnrtDeviceProp_t *properties, int device);

/* The vendor's headers hide the version in the same way. */
#define cnrtGetDeviceProperties cnrtGetDeviceProperties_V3

/* Writes an address like 0000:01:00.0 with its final zero, if it fits into `length` bytes. */
cnrtRet_t cnrtDeviceGetPCIBusId(char *id, int length, int device);

/* The range of queue priorities: 7 (least) to 0. NULL pointers are skipped. */
cnrtRet_t cnrtDeviceGetQueuePriorityRange(int *least, int *greatest);

/* Whether cnrtMemcpyPeer can copy between two devices: 1, and 0 for a device and itself. */
cnrtRet_t cnrtGetPeerAccessibility(unsigned int *can, int device, int peer);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Allocates memory of the thread's device, aligned to 256 bytes. 0 bytes are refused, too many give
 * cnrtErrorNoMem. */
cnrtRet_t cnrtMalloc(void **pointer, size_t bytes);

/* The same; constant memory is not separate here. */
cnrtRet_t cnrtMallocConstant(void **pointer, size_t bytes);

/* Frees device memory, after the queued work that the device can do now. NULL is harmless.
 * Queued work behind a host function or a notifier does not delay the call and still finds the
 * memory unchanged; for the host, and for work that is queued later, the memory is free when
 * this returns. */
cnrtRet_t cnrtFree(void *pointer);

/* Allocates host memory. On a card, copies from and to such memory are fast. */
cnrtRet_t cnrtHostMalloc(void **pointer, size_t bytes);

/* Frees memory from cnrtHostMalloc. NULL is harmless. */
cnrtRet_t cnrtFreeHost(void *pointer);

/* Allocates device memory for later work in a queue; it is available at once. */
cnrtRet_t cnrtMemAllocAsync(void **pointer, size_t bytes, cnrtQueue_t queue);

/* Frees device memory when the queue reaches this call. NULL is harmless. */
cnrtRet_t cnrtMemFreeAsync(void *pointer, cnrtQueue_t queue);

/* Free and total bytes of the memory of the thread's device. NULL pointers are skipped. */
cnrtRet_t cnrtMemGetInfo(size_t *free, size_t *total);

/* Copies when the default queue has done its work. Each pointer must lie in the memory that the
 * direction names; cnrtMemcpyNoDirection derives the direction from the pointers.
 * cnrtMemcpyDevToDev copies within a device, cnrtMemcpyPeerToPeer also from one to another. */
cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes, cnrtMemTransDir_t dir);

/* Queues a copy. The memory is checked at the call and again when the copy happens. */
cnrtRet_t cnrtMemcpyAsync(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir);

/* The same; all versions are. */
cnrtRet_t cnrtMemcpyAsync_V2(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir);

/* The same; the vendor recommends this one. */
cnrtRet_t cnrtMemcpyAsync_V3(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir);

/* Copies between devices, or within one. Each pointer must lie in the memory of its device. */
cnrtRet_t cnrtMemcpyPeer(void *dst, int dst_device, void *src, int src_device, size_t bytes);

/* Queues such a copy. */
cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dst_device, void *src, int src_device, size_t bytes, cnrtQueue_t queue);

/* Copies `height` rows of `width` bytes that start every dst_pitch or src_pitch bytes, as
 * cnrtMemcpy does. */
cnrtRet_t cnrtMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                       cnrtMemTransDir_t dir);

/* Copies a box of bytes, as cnrtMemcpy does. */
cnrtRet_t cnrtMemcpy3D(const cnrtMemcpy3dParam_t *parameters);

/* Sets device bytes, when the default queue has done its work. */
cnrtRet_t cnrtMemset(void *pointer, int value, size_t bytes);

/* Queues the same. */
cnrtRet_t cnrtMemsetAsync(void *pointer, int value, size_t bytes, cnrtQueue_t queue);

/* The properties of a pointer; a pointer to other memory is no error. */
cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *attributes, const void *pointer);

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Creates a queue of the lowest priority. */
cnrtRet_t cnrtQueueCreate(cnrtQueue_t *queue);

/* Priorities decide which of two queues with work comes first. Flags must be 0. */
cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *queue, unsigned int flags, int priority);

/* Waits for the queue's work and destroys it. An error that nobody took is lost. Default queues
 * cannot be destroyed. */
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue);

/* The queue's priority. */
cnrtRet_t cnrtQueueGetPriority(cnrtQueue_t queue, int *priority);

/* cnrtSuccess if all work is done, cnrtErrorNotReady if not, or the error of the failed work. */
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue);

/* Waits for the queue's work; returns the error of the failed work. */
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue);

/* Makes later work in the queue wait for the work before the notifier's latest placement. `flag`
 * must be 0 or 1. */
cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flag);

/* ---- Notifiers ------------------------------------------------------------------------------- */

/* Creates a notifier with both stamps. */
cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *notifier);

/* `flags` are bits of cnrtNotifierFlags_t; notifiers cannot be shared between processes. */
cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *notifier, unsigned int flags);

/* Destroys the notifier; queues that wait for it continue to wait. */
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier);

/* Places the notifier behind the queue's work; its earlier placement is forgotten. */
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue);

/* The same; `flags` must be 0 or 1. */
cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags);

/* cnrtSuccess if the queue has reached the notifier or it was never placed, cnrtErrorNotReady if
 * not, or the error of the work before it, which the queue keeps. */
cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier);

/* Waits until the queue has reached the notifier; returns the same as cnrtQueryNotifier. */
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier);

/* The milliseconds between two notifiers, by the stamps of the host. Both must have been placed;
 * cnrtErrorNotReady if a queue has not reached one. */
cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float *milliseconds);

/* The microseconds between two notifiers of the same queue, by the stamps of the device. */
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float *microseconds);

/* ---- Launches -------------------------------------------------------------------------------- */

/* Launches a kernel. `kernel` is the key under which __bangRegisterFunction registered it, as in
 * compiled launches, or the address of a kernel at file scope; the values at `arguments` are then
 * copied. Otherwise `kernel` is a host function `void (*)(void **arguments)` that calls the kernel.
 * The number and sizes of its arguments are unknown, so they cannot be copied, and the call waits
 * for the end of the launch. An error of the launch stays in the queue as usual. `reserved` must be
 * 0. */
cnrtRet_t cnrtInvokeKernel(const void *kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void **arguments,
                           size_t reserved, cnrtQueue_t queue);

/* Calls a host function on another thread when the queue reaches it. */
cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t function, void *arguments);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#include "cnrt_older.h"

#endif /* CNRT_H_ */
