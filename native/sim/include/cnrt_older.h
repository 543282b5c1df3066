/* Part of cnrt.h: names and launch forms of older CNRT releases that programs still use, and
 * conversions of numbers on the host. The conventions of cnrt.h apply. */
#ifndef CNRT_OLDER_H_
#define CNRT_OLDER_H_

#ifndef CNRT_H_
#error "include cnrt.h"
#endif

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Tells on stderr what was found in the launch that failed last, if `error` is what a failed launch
 * returns and nobody told it yet. */
extern void mlusimTellFailure(cnrtRet_t error);

/* Ends the program if a CNRT call fails, after a line on stderr with the place and the reason, and
 * the findings if it was a kernel that failed. */
#define CNRT_CHECK(...)                                                                                            \
  do {                                                                                                             \
    const cnrtRet_t cnrt_check_status_ = (__VA_ARGS__);                                                            \
    if (cnrt_check_status_ != cnrtSuccess) {                                                                       \
      fprintf(stderr, "%s:%d: %s: %s (%d): %s\n", __FILE__, __LINE__, #__VA_ARGS__,                                \
              cnrtGetErrorName(cnrt_check_status_), (int)cnrt_check_status_, cnrtGetErrorStr(cnrt_check_status_)); \
      mlusimTellFailure(cnrt_check_status_);                                                                       \
      exit(EXIT_FAILURE);                                                                                          \
    }                                                                                                              \
  } while (0)

/* ---- Old names of numbers -------------------------------------------------------------------- */

#define CNRT_FUNC_TYPE_MUTABLE cnrtFuncTypeMutable
#define CNRT_FUNC_TYPE_BLOCK cnrtFuncTypeBlock
#define CNRT_FUNC_TYPE_BLOCK0 cnrtFuncTypeBlock0
#define CNRT_FUNC_TYPE_BLOCK1 cnrtFuncTypeBlock1
#define CNRT_FUNC_TYPE_UNION1 cnrtFuncTypeUnion1
#define CNRT_FUNC_TYPE_UNION2 cnrtFuncTypeUnion2
#define CNRT_FUNC_TYPE_UNION4 cnrtFuncTypeUnion4
#define CNRT_FUNC_TYPE_UNION8 cnrtFuncTypeUnion8
#define CNRT_FUNC_TYPE_UNION16 cnrtFuncTypeUnion16

#define CNRT_MEM_TRANS_DIR_HOST2DEV cnrtMemcpyHostToDev
#define CNRT_MEM_TRANS_DIR_DEV2DEV cnrtMemcpyDevToDev
#define CNRT_MEM_TRANS_DIR_DEV2HOST cnrtMemcpyDevToHost
#define CNRT_MEM_TRANS_DIR_HOST2HOST cnrtMemcpyHostToHost
#define CNRT_MEM_TRANS_DIR_PEER2PEER cnrtMemcpyPeerToPeer
#define CNRT_MEM_TRANS_DIR_NODIR cnrtMemcpyNoDirection

/* Element types, which programs pass to their kernels. The vendor's numbers are not certain;
 * compare with the names. */
typedef enum {
  CNRT_INVALID = 0,
  CNRT_FLOAT16 = 18,
  CNRT_FLOAT32 = 19,
  CNRT_FLOAT64 = 20,
  CNRT_INT8 = 33,
  CNRT_INT16 = 34,
  CNRT_INT32 = 35,
  CNRT_INT64 = 36,
  CNRT_UINT8 = 49,
  CNRT_UINT16 = 50,
  CNRT_UINT32 = 51,
  CNRT_UINT64 = 52,
  CNRT_BOOL = 64
} cnrtDataType_t;

/* ---- Conversions on the host ----------------------------------------------------------------- */

typedef enum {
  cnrtUnknown = 0,
  cnrtDouble = 1,
  cnrtFloat = 2,
  cnrtHalf = 3,
  cnrtBfloat = 4,
  cnrtUlonglong = 17,
  cnrtUint = 18,
  cnrtUshort = 19,
  cnrtUchar = 20,
  cnrtLonglong = 33,
  cnrtInt = 34,
  cnrtShort = 35,
  cnrtChar = 36,
  cnrtBoolean = 49
} cnrtDataType_V2_t;

/* The rounding of a number between two possible results. */
typedef enum {
  cnrtRounding_rn = 0, /* to nearest, ties to even */
  cnrtRounding_rz = 1, /* toward zero */
  cnrtRounding_rd = 2, /* down */
  cnrtRounding_ru = 3, /* up */
  cnrtRounding_ro = 4, /* away from zero */
  cnrtRounding_rm = 5  /* to nearest, ties upwards */
} cnrtRoundingMode_t;

typedef struct cnrtQuantizedParam_st *cnrtQuantizedParam_t;

/* Converts `count` elements in host memory. The arrays must not overlap, unless they are the same
 * and their elements have the same size. Each element is rounded once. Integers saturate and NaN
 * becomes 0; floating-point numbers overflow as IEEE 754 defines for the rounding. Everything but 0
 * is true. `param` must be NULL: quantisation is not supported. */
cnrtRet_t cnrtCastDataType_V2(void *src, cnrtDataType_V2_t src_type, void *dst, cnrtDataType_V2_t dst_type, int count,
                              cnrtQuantizedParam_t param, cnrtRoundingMode_t mode);

/* Converts 16 bits, a half, to float. BANG C has an overload for half. */
cnrtRet_t cnrtConvertHalfToFloat(float *result, uint16_t value);

/* Converts to the nearest half, ties to even. */
cnrtRet_t cnrtConvertFloatToHalf(uint16_t *result, float value);

/* ---- Old names of calls ---------------------------------------------------------------------- */

typedef int cnrtDev_t;

/* No preparation is necessary; `flags` must be 0. */
cnrtRet_t cnrtInit(unsigned int flags);

/* Waits for all queues of the thread's device. */
void cnrtDestroy(void);

/* Device number `ordinal`. */
cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t *device, int ordinal);

/* As cnrtSetDevice and cnrtGetDevice. */
cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device);
cnrtRet_t cnrtGetCurrentDevice(cnrtDev_t *device);

/* As cnrtQueueCreate, cnrtQueueDestroy and cnrtQueueSync. */
cnrtRet_t cnrtCreateQueue(cnrtQueue_t *queue);
cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue);
cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue);

/* As cnrtNotifierCreate and cnrtNotifierDestroy; cnrtDestroyNotifier also sets the handle to
 * NULL. */
cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t *notifier);
cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t *notifier);

/* Sets `count` elements of 8 or 32 bits, as cnrtMemset. The pointer must be a multiple of their
 * size. */
cnrtRet_t cnrtMemsetD8(void *pointer, unsigned char value, size_t count);
cnrtRet_t cnrtMemsetD8Async(void *pointer, unsigned char value, size_t count, cnrtQueue_t queue);
cnrtRet_t cnrtMemsetD32(void *pointer, unsigned int value, size_t count);
cnrtRet_t cnrtMemsetD32Async(void *pointer, unsigned int value, size_t count, cnrtQueue_t queue);

/* ---- Launches by the address of a kernel ----------------------------------------------------- */

typedef struct cnrtKernelParamsBuffer_st *cnrtKernelParamsBuffer_t;
typedef struct cnrtKernelInitParam_st *cnrtKernelInitParam_t;

/* A list of arguments, initially empty. */
cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t *buffer);

/* Appends an argument, a copy of `bytes` bytes. */
cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t buffer, void *value, size_t bytes);

/* Destroys the list; launches that used it keep their arguments. */
cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t buffer);

/* Launches the kernel whose function is at `function`, from any source that the BANG C compiler
 * compiled into this process. Number and sizes of the arguments must match the parameters. */
cnrtRet_t cnrtInvokeKernel_V2(const void *function, cnrtDim3_t dim, cnrtKernelParamsBuffer_t buffer,
                              cnrtFunctionType_t type, cnrtQueue_t queue);

/* No preparation is necessary; cnrtInitKernelMemory refuses an address that is no kernel. */
cnrtRet_t cnrtCreateKernelInitParam(cnrtKernelInitParam_t *init);
cnrtRet_t cnrtInitKernelMemory(const void *function, cnrtKernelInitParam_t init);
cnrtRet_t cnrtDestroyKernelInitParamAndMemory(cnrtKernelInitParam_t init);

/* The same as cnrtInvokeKernel_V2; `extra` must be NULL. */
cnrtRet_t cnrtInvokeKernel_V3(const void *function, cnrtKernelInitParam_t init, cnrtDim3_t dim,
                              cnrtKernelParamsBuffer_t buffer, cnrtFunctionType_t type, cnrtQueue_t queue, void *extra);

/* ---- Captures -------------------------------------------------------------------------------- */

typedef enum {
  cnrtQueueCaptureStatusNone = 0,
  cnrtQueueCaptureStatusActive = 1,
  cnrtQueueCaptureStatusInvalidated = 2
} cnrtQueueCaptureStatus_t;

typedef struct cnrtTaskTopo_st *cnrtTaskTopo_t;
typedef struct cnrtTaskTopoNode_st *cnrtTaskTopoNode_t;

/* Whether the queue is being captured: never. All pointers except `status` may be NULL; their
 * targets become 0. */
cnrtRet_t cnrtQueueGetCaptureInfo(cnrtQueue_t queue, cnrtQueueCaptureStatus_t *status, uint64_t *id,
                                  cnrtTaskTopo_t *topo, const cnrtTaskTopoNode_t **dependencies, size_t *count);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* CNRT_OLDER_H_ */
