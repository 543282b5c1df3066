// A program that launches by address, as older host code does; each line says what was expected.
#include <cnrt.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

static int failures = 0;
#define EXPECT(condition) ((condition) ? (void)0 : (void)(++failures, printf("line %d: " #condition "\n", __LINE__)))

int main() {
  cnrtDev_t device;
  cnrtQueue_t queue;
  cnrtNotifier_t notifier = NULL;
  CNRT_CHECK(cnrtInit(0));
  CNRT_CHECK(cnrtGetDeviceHandle(&device, 0));
  CNRT_CHECK(cnrtSetCurrentDevice(device));
  CNRT_CHECK(cnrtCreateQueue(&queue));
  CNRT_CHECK(cnrtCreateNotifier(&notifier));

  float *out, host[16];
  CNRT_CHECK(cnrtMalloc((void **)&out, sizeof host));
  CNRT_CHECK(cnrtMemset(out, 0, sizeof host));
  cnrtKernelParamsBuffer_t params;
  CNRT_CHECK(cnrtGetKernelParamsBuffer(&params));
  Range range = {2, 7};
  float value = 1.5f;
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &out, sizeof out));
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &range, sizeof range));
  const void *kernel = (const void *)&fill_range;
  const cnrtDim3_t dim = {4, 1, 1};
  EXPECT(cnrtInvokeKernel_V2(kernel, dim, params, CNRT_FUNC_TYPE_BLOCK, queue) == cnrtErrorArgsInvalid);
  CNRT_CHECK(cnrtKernelParamsBufferAddParam(params, &value, sizeof value));
  memset(&range, 0, sizeof range);  // values were copied
  CNRT_CHECK(cnrtInvokeKernel_V2(kernel, dim, params, CNRT_FUNC_TYPE_UNION1, queue));
  CNRT_CHECK(cnrtSyncQueue(queue));
  CNRT_CHECK(cnrtMemcpy(host, out, sizeof host, CNRT_MEM_TRANS_DIR_DEV2HOST));
  for (int i = 0; i < 16; ++i) EXPECT(host[i] == (i >= 2 && i < 7 ? 1.5f : 0.f));

  cnrtKernelInitParam_t init;
  CNRT_CHECK(cnrtCreateKernelInitParam(&init));
  CNRT_CHECK(cnrtInitKernelMemory(kernel, init));
  EXPECT(cnrtInitKernelMemory((const void *)&main, init) == cnrtErrorInvalidKernel);
  EXPECT(cnrtInvokeKernel_V3(kernel, NULL, dim, params, CNRT_FUNC_TYPE_BLOCK, queue, NULL) ==
         cnrtErrorInvalidResourceHandle);
  EXPECT(cnrtInvokeKernel_V3(kernel, init, dim, params, CNRT_FUNC_TYPE_BLOCK, queue, &init) == cnrtErrorArgsInvalid);
  CNRT_CHECK(cnrtInvokeKernel_V3(kernel, init, dim, params, CNRT_FUNC_TYPE_BLOCK, queue, NULL));
  CNRT_CHECK(cnrtDestroyKernelInitParamAndMemory(init));
  EXPECT(cnrtDestroyKernelInitParamAndMemory(init) == cnrtErrorInvalidResourceHandle);
  CNRT_CHECK(cnrtDestroyKernelParamsBuffer(params));
  EXPECT(cnrtInvokeKernel_V2(kernel, dim, params, CNRT_FUNC_TYPE_BLOCK, queue) == cnrtErrorInvalidResourceHandle);
  EXPECT(cnrtKernelParamsBufferAddParam(params, &value, sizeof value) == cnrtErrorInvalidResourceHandle);
  EXPECT(cnrtGetKernelParamsBuffer(NULL) == cnrtErrorArgsInvalid);
  EXPECT(cnrtInvokeKernel_V2(NULL, dim, params, CNRT_FUNC_TYPE_BLOCK, queue) == cnrtErrorArgsInvalid);

  void *arguments[] = {&out};  // does not wait, as the arguments can be copied
  CNRT_CHECK(cnrtInvokeKernel((const void *)&count_tasks, dim, cnrtFuncTypeBlock, arguments, 0, queue));
  out = NULL;
  CNRT_CHECK(cnrtPlaceNotifier(notifier, queue));
  CNRT_CHECK(cnrtWaitNotifier(notifier));
  CNRT_CHECK(cnrtDestroyNotifier(&notifier));
  EXPECT(notifier == NULL && cnrtDestroyNotifier(NULL) == cnrtErrorArgsInvalid);

  cnrtQueueCaptureStatus_t status = cnrtQueueCaptureStatusActive;
  uint64_t id = 1;
  EXPECT(cnrtQueueGetCaptureInfo(queue, &status, &id, NULL, NULL, NULL) == cnrtSuccess);
  EXPECT(status == cnrtQueueCaptureStatusNone && id == 0);
  EXPECT(cnrtQueueGetCaptureInfo(queue, NULL, NULL, NULL, NULL, NULL) == cnrtErrorArgsInvalid);
  CNRT_CHECK(cnrtDestroyQueue(queue));
  EXPECT(cnrtSyncQueue(queue) == cnrtErrorInvalidResourceHandle);
  cnrtDestroy();
  printf("%d failures\n", failures);
  CNRT_CHECK(cnrtInit(1));
}
