#include "runtime/queue.h"

#include <pthread.h>

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "base/thread_state.h"
#include "machine/model.h"
#include "mlusim/launch.h"
#include "runtime/error.h"
#include "runtime/handles.h"

namespace mlusim {
namespace {

constexpr std::uintptr_t kQueueOfThread = 1;
constexpr std::uintptr_t kLegacyDefault = 2;

// Never destroyed, like the device's thread.
Handles<Queue, cnrtQueue_t> &g_queues = *new Handles<Queue, cnrtQueue_t>('q');

// The queues of one priority that are there without a call: one for each device.
using DeviceQueues = std::array<QueueRef, kMaxDevices>;

std::unique_ptr<DeviceQueues> make_device_queues() {
  auto queues = std::make_unique<DeviceQueues>();
  for (int device = 0; device < device_count(); ++device) {
    (*queues)[static_cast<std::size_t>(device)] = std::make_shared<Queue>(kLeastPriority, device);
  }
  return queues;
}

const QueueRef &of_current_device(const DeviceQueues &queues) {
  return queues[static_cast<std::size_t>(thread_state().device)];
}

const QueueRef &default_queue() {
  static const DeviceQueues *const queues = make_device_queues().release();
  return of_current_device(*queues);
}

// The key of the threads' own queues. A thread-local variable would take memory from every thread,
// and end the process if memory is short.
pthread_key_t thread_queue_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    // A queue ends with its thread: its work is still done, its errors are dropped.
    const int error = pthread_key_create(&made, [](void *queues) {
      const std::unique_ptr<DeviceQueues> own(static_cast<DeviceQueues *>(queues));
      for (const QueueRef &queue : *own) {
        if (queue != nullptr) abandon(queue);
      }
    });
    if (error != 0) throw std::bad_alloc();
    return made;
  }();
  return key;
}

const QueueRef &queue_of_thread() {
  const pthread_key_t key = thread_queue_key();
  auto *own = static_cast<DeviceQueues *>(pthread_getspecific(key));
  if (own != nullptr) return of_current_device(*own);
  std::unique_ptr<DeviceQueues> made = make_device_queues();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  return of_current_device(*made.release());
}

cnrtRet_t create(const char *function, cnrtQueue_t *queue, unsigned int flags, int priority) {
  if (queue == nullptr) return refuse_null(function, "queue");
  if (flags != 0) return explain(cnrtErrorArgsInvalid, "%s: flags: expected 0, got %u", function, flags);
  if (priority < kGreatestPriority || priority > kLeastPriority) {
    return explain(cnrtErrorArgsInvalid, "%s: priority: expected 0 to 7, got %d", function, priority);
  }
  *queue = g_queues.add(std::make_shared<Queue>(priority, thread_state().device));
  return cnrtSuccess;
}

cnrtRet_t destroy(const char *function, cnrtQueue_t handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= kLegacyDefault) {
    return explain(cnrtErrorInvalidResourceHandle, "%s: queue: default queues cannot be destroyed", function);
  }
  if (serves_queues()) {
    return explain(cnrtErrorOpsNotPermitted, "%s: a function that a queue runs must not wait", function);
  }
  const QueueRef queue = g_queues.remove(handle);
  if (queue == nullptr) return explain(cnrtErrorInvalidResourceHandle, "%s: queue: no living queue", function);
  const cnrtRet_t error = wait_for_queue(queue);
  abandon(queue);
  return error == cnrtErrorIllegalState ? cnrtSuccess : error;  // nothing runs at the end of the process
}

}  // namespace

QueueRef queue_of(const char *function, cnrtQueue_t handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 0 || number == kLegacyDefault) return default_queue();
  if (number == kQueueOfThread) return queue_of_thread();
  QueueRef queue = g_queues.find(handle);
  if (queue == nullptr) explain(cnrtErrorInvalidResourceHandle, "%s: queue: no living queue", function);
  return queue;
}

cnrtRet_t do_in_queue(const QueueRef &queue, Task &&task) {
  if (serves_queues()) return explain(cnrtErrorOpsNotPermitted, "a function that a queue runs must not wait");
  std::uint64_t ticket = 0;
  cnrtRet_t error = enqueue(queue, std::move(task), &ticket);
  if (error == cnrtSuccess) error = wait_for_ticket(queue, ticket);
  return error == cnrtSuccess ? take_error(queue) : error;
}

std::uint64_t queue_count() { return g_queues.count(); }

void destroy_queues(int device) {
  for (const QueueRef &queue : g_queues.remove_all(device)) abandon(queue);
}

}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtQueueCreate(cnrtQueue_t *queue) {
  return guarded(__func__, [&](const char *function) { return create(function, queue, 0, kLeastPriority); });
}

cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *queue, unsigned int flags, int priority) {
  return guarded(__func__, [&](const char *function) { return create(function, queue, flags, priority); });
}

cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) { return destroy(function, queue); });
}

cnrtRet_t cnrtQueueGetPriority(cnrtQueue_t queue, int *priority) {
  return guarded(__func__, [&](const char *function) {
    const QueueRef found = queue_of(function, queue);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    if (priority == nullptr) return refuse_null(function, "priority");
    *priority = found->priority();
    return cnrtSuccess;
  });
}

// Two errors stand for unfinished work. The vendor's documents name cnrtErrorBusy, which is
// deprecated; programs compare with cnrtErrorNotReady, so the function returns that.
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    const QueueRef found = queue_of(function, queue);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    return is_done(found) ? take_error(found) : cnrtErrorNotReady;
  });
}

cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    const QueueRef found = queue_of(function, queue);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    const cnrtRet_t error = wait_for_queue(found);
    return error == cnrtSuccess ? take_error(found) : error;
  });
}

cnrtRet_t mlusim_invoke_host_function(HostCaller call, cnrtQueue_t queue, cnrtHostFn_t called, void *arguments) {
  return guarded("cnrtInvokeHostFunc", [&](const char *function) {
    const QueueRef found = queue_of(function, queue);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    if (called == nullptr) return refuse_null(function, "function");
    Task task;
    task.on_device = false;
    task.work = [call, called, arguments] {
      char text[400];
      if (call(called, arguments, text, sizeof text) == 0) return cnrtSuccess;
      return explain(cnrtErrorUnknown, "cnrtInvokeHostFunc: an exception left the function: %s", text);
    };
    return enqueue(found, std::move(task));
  });
}

cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t called, void *arguments) {
  return mlusim_invoke_host_function(call_host_function, queue, called, arguments);
}
