// The driver interface: memory, queues and notifiers, which are those of CNRT.
#include "cn_api.h"

#include <cstdint>

#include "runtime/driver.h"
#include "runtime/memory.h"

namespace mlusim {
namespace {

void *pointer_of(CNaddr address) { return reinterpret_cast<void *>(static_cast<std::uintptr_t>(address)); }

// Copies in the direction of a driver function, whose sources are constant.
cnrtRet_t copy(void *dst, const void *src, cn_uint64_t bytes, cnrtMemTransDir_t dir) {
  return cnrtMemcpy(dst, const_cast<void *>(src), bytes, dir);
}
cnrtRet_t copy(void *dst, const void *src, cn_uint64_t bytes, CNqueue queue, cnrtMemTransDir_t dir) {
  return cnrtMemcpyAsync(dst, const_cast<void *>(src), bytes, queue, dir);
}

// Calls an allocating function with a pointer for its result.
template <typename Allocate>
CNresult give_address(const char *function, CNaddr *pointer, const Allocate &allocate) {
  return answered_by_runtime(function, [&] {
    void *given = nullptr;
    const cnrtRet_t error = allocate(pointer == nullptr ? nullptr : &given);
    if (error == cnrtSuccess) *pointer = reinterpret_cast<std::uintptr_t>(given);
    return error;
  });
}

// Sets elements at once, or in a queue.
template <typename Value>
CNresult set(const char *function, CNaddr pointer, Value value, cn_uint64_t count, CNqueue queue, bool later) {
  return answered(function, [&](const char *called) {
    return set_elements(called, pointer_of(pointer), value, sizeof value, count, queue, later);
  });
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

// ---- Memory -------------------------------------------------------------------------------------

CNresult cnMalloc(CNaddr *pointer, cn_uint64_t bytes) {
  return give_address(__func__, pointer, [&](void **given) { return cnrtMalloc(given, bytes); });
}

CNresult cnMallocConstant(CNaddr *pointer, cn_uint64_t bytes) {
  return give_address(__func__, pointer, [&](void **given) { return cnrtMallocConstant(given, bytes); });
}

CNresult cnFree(CNaddr pointer) {
  return answered_by_runtime(__func__, [&] { return cnrtFree(pointer_of(pointer)); });
}

CNresult cnMallocHost(void **pointer, cn_uint64_t bytes) {
  return answered_by_runtime(__func__, [&] { return cnrtHostMalloc(pointer, bytes); });
}

CNresult cnFreeHost(void *pointer) {
  return answered_by_runtime(__func__, [&] { return cnrtFreeHost(pointer); });
}

CNresult cnMemGetInfo(cn_uint64_t *free, cn_uint64_t *total) {
  return answered_by_runtime(__func__, [&] {
    size_t bytes[2] = {};
    const cnrtRet_t error = cnrtMemGetInfo(&bytes[0], &bytes[1]);
    if (free != nullptr) *free = bytes[0];
    if (total != nullptr) *total = bytes[1];
    return error;
  });
}

CNresult cnMemcpy(CNaddr dst, CNaddr src, cn_uint64_t bytes) {
  return answered_by_runtime(__func__,
                             [&] { return copy(pointer_of(dst), pointer_of(src), bytes, cnrtMemcpyNoDirection); });
}

CNresult cnMemcpyHtoD(CNaddr dst, const void *src, cn_uint64_t bytes) {
  return answered_by_runtime(__func__, [&] { return copy(pointer_of(dst), src, bytes, cnrtMemcpyHostToDev); });
}

CNresult cnMemcpyDtoH(void *dst, CNaddr src, cn_uint64_t bytes) {
  return answered_by_runtime(__func__, [&] { return copy(dst, pointer_of(src), bytes, cnrtMemcpyDevToHost); });
}

CNresult cnMemcpyDtoD(CNaddr dst, CNaddr src, cn_uint64_t bytes) {
  return answered_by_runtime(__func__,
                             [&] { return copy(pointer_of(dst), pointer_of(src), bytes, cnrtMemcpyDevToDev); });
}

CNresult cnMemcpyAsync(CNaddr dst, CNaddr src, cn_uint64_t bytes, CNqueue queue) {
  return answered_by_runtime(
      __func__, [&] { return copy(pointer_of(dst), pointer_of(src), bytes, queue, cnrtMemcpyNoDirection); });
}

CNresult cnMemcpyHtoDAsync(CNaddr dst, const void *src, cn_uint64_t bytes, CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return copy(pointer_of(dst), src, bytes, queue, cnrtMemcpyHostToDev); });
}

CNresult cnMemcpyDtoHAsync(void *dst, CNaddr src, cn_uint64_t bytes, CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return copy(dst, pointer_of(src), bytes, queue, cnrtMemcpyDevToHost); });
}

CNresult cnMemcpyDtoDAsync(CNaddr dst, CNaddr src, cn_uint64_t bytes, CNqueue queue) {
  return answered_by_runtime(__func__,
                             [&] { return copy(pointer_of(dst), pointer_of(src), bytes, queue, cnrtMemcpyDevToDev); });
}

CNresult cnMemsetD8(CNaddr pointer, unsigned char value, cn_uint64_t count) {
  return set(__func__, pointer, value, count, nullptr, false);
}

CNresult cnMemsetD16(CNaddr pointer, unsigned short value, cn_uint64_t count) {
  return set(__func__, pointer, value, count, nullptr, false);
}

CNresult cnMemsetD32(CNaddr pointer, unsigned int value, cn_uint64_t count) {
  return set(__func__, pointer, value, count, nullptr, false);
}

CNresult cnMemsetD8Async(CNaddr pointer, unsigned char value, cn_uint64_t count, CNqueue queue) {
  return set(__func__, pointer, value, count, queue, true);
}

CNresult cnMemsetD16Async(CNaddr pointer, unsigned short value, cn_uint64_t count, CNqueue queue) {
  return set(__func__, pointer, value, count, queue, true);
}

CNresult cnMemsetD32Async(CNaddr pointer, unsigned int value, cn_uint64_t count, CNqueue queue) {
  return set(__func__, pointer, value, count, queue, true);
}

// ---- Queues -------------------------------------------------------------------------------------

CNresult cnCreateQueue(CNqueue *queue, unsigned int flags) {
  return answered_by_runtime(__func__, [&] {
    // The lowest priority, as of cnrtQueueCreate.
    int least = 0;
    cnrtDeviceGetQueuePriorityRange(&least, nullptr);
    return cnrtQueueCreateWithPriority(queue, flags, least);
  });
}

CNresult cnCreateQueueWithPriority(CNqueue *queue, unsigned int flags, int priority) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueCreateWithPriority(queue, flags, priority); });
}

CNresult cnDestroyQueue(CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueDestroy(queue); });
}

CNresult cnQueueGetPriority(CNqueue queue, int *priority) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueGetPriority(queue, priority); });
}

CNresult cnQueryQueue(CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueQuery(queue); });
}

CNresult cnQueueSync(CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueSync(queue); });
}

CNresult cnQueueWaitNotifier(CNnotifier notifier, CNqueue queue, unsigned int flags) {
  return answered_by_runtime(__func__, [&] { return cnrtQueueWaitNotifier(notifier, queue, flags); });
}

CNresult cnInvokeHostFunc(CNqueue queue, CNhostFn function, void *arguments) {
  return answered_by_runtime(__func__, [&] { return cnrtInvokeHostFunc(queue, function, arguments); });
}

CNresult cnCtxSync(void) {
  return answered_by_runtime(__func__, [&] { return cnrtSyncDevice(); });
}

// ---- Notifiers ----------------------------------------------------------------------------------

CNresult cnCreateNotifier(CNnotifier *notifier, unsigned int flags) {
  return answered_by_runtime(__func__, [&] { return cnrtNotifierCreateWithFlags(notifier, flags); });
}

CNresult cnDestroyNotifier(CNnotifier notifier) {
  return answered_by_runtime(__func__, [&] { return cnrtNotifierDestroy(notifier); });
}

CNresult cnPlaceNotifier(CNnotifier notifier, CNqueue queue) {
  return answered_by_runtime(__func__, [&] { return cnrtPlaceNotifier(notifier, queue); });
}

CNresult cnQueryNotifier(CNnotifier notifier) {
  return answered_by_runtime(__func__, [&] { return cnrtQueryNotifier(notifier); });
}

CNresult cnWaitNotifier(CNnotifier notifier) {
  return answered_by_runtime(__func__, [&] { return cnrtWaitNotifier(notifier); });
}

CNresult cnNotifierElapsedTime(CNnotifier start, CNnotifier end, float *milliseconds) {
  return answered_by_runtime(__func__, [&] { return cnrtNotifierElapsedTime(start, end, milliseconds); });
}
