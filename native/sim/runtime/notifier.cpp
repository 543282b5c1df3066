#include "runtime/notifier.h"

#include <mutex>
#include <utility>

#include "base/thread_state.h"
#include "runtime/error.h"
#include "runtime/handles.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

constexpr unsigned int kAllFlags =
    CNRT_NOTIFIER_DISABLE_TIMING_SW | CNRT_NOTIFIER_DISABLE_TIMING_ALL | CNRT_NOTIFIER_INTERPROCESS;
constexpr unsigned int kExternal = 1;  // a flag of placing and waiting; it has an effect for captured queues only

ForkMutex g_mutex;  // guards the marks of all notifiers

struct Notifier {
  unsigned int flags = 0;
  const int of_device = thread_state().device;  // the one that it was created for
  std::shared_ptr<Mark> mark;                   // its latest placement; null: none

  int device() const { return of_device; }
  std::shared_ptr<Mark> get_mark() const {
    const std::lock_guard<ForkMutex> lock(g_mutex);
    return mark;
  }
};

using NotifierRef = std::shared_ptr<Notifier>;

Handles<Notifier, cnrtNotifier_t> &g_notifiers = *new Handles<Notifier, cnrtNotifier_t>('n');

NotifierRef notifier_of(const char *function, cnrtNotifier_t handle) {
  NotifierRef notifier = g_notifiers.find(handle);
  if (notifier == nullptr) explain(cnrtErrorInvalidResourceHandle, "%s: notifier: no living notifier", function);
  return notifier;
}

cnrtRet_t create(const char *function, cnrtNotifier_t *notifier, unsigned int flags) {
  if (notifier == nullptr) return refuse_null(function, "notifier");
  if ((flags & ~kAllFlags) != 0) {
    return explain(cnrtErrorArgsInvalid, "%s: flags: expected bits of %u, got %u", function, kAllFlags, flags);
  }
  if ((flags & CNRT_NOTIFIER_INTERPROCESS) != 0) {
    return explain(cnrtErrorNotSupport, "%s: flags: notifiers of one process are of no use to another", function);
  }
  auto made = std::make_shared<Notifier>();
  made->flags = flags;
  *notifier = g_notifiers.add(std::move(made));
  return cnrtSuccess;
}

cnrtRet_t place(const char *function, cnrtNotifier_t handle, cnrtQueue_t queue_handle, unsigned int flags) {
  const NotifierRef notifier = notifier_of(function, handle);
  if (notifier == nullptr) return cnrtErrorInvalidResourceHandle;
  const QueueRef queue = queue_of(function, queue_handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  if (flags > kExternal) return explain(cnrtErrorArgsInvalid, "%s: flags: expected 0 or 1, got %u", function, flags);
  Task task;
  task.mark = std::make_shared<Mark>();
  const std::shared_ptr<Mark> mark = task.mark;
  const cnrtRet_t error = enqueue(queue, std::move(task));
  if (error != cnrtSuccess) return error;
  const std::lock_guard<ForkMutex> lock(g_mutex);
  notifier->mark = mark;
  return cnrtSuccess;
}

cnrtRet_t wait_in_queue(const char *function, cnrtNotifier_t handle, cnrtQueue_t queue_handle, unsigned int flag) {
  const NotifierRef notifier = notifier_of(function, handle);
  if (notifier == nullptr) return cnrtErrorInvalidResourceHandle;
  const QueueRef queue = queue_of(function, queue_handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  if (flag > kExternal) return explain(cnrtErrorArgsInvalid, "%s: flag: expected 0 or 1, got %u", function, flag);
  Task task;
  task.after = notifier->get_mark();
  if (task.after == nullptr) return cnrtSuccess;
  return enqueue(queue, std::move(task));
}

// Finds the marks of two notifiers for a comparison of their times; `refused` are the flags that
// forbid it.
cnrtRet_t marks_of(const char *function, cnrtNotifier_t start, cnrtNotifier_t end, unsigned int refused,
                   std::shared_ptr<Mark> (&marks)[2]) {
  const cnrtNotifier_t handles[] = {start, end};
  const char *const names[] = {"start", "end"};
  for (int i = 0; i < 2; ++i) {
    const NotifierRef notifier = notifier_of(function, handles[i]);
    if (notifier == nullptr) return cnrtErrorInvalidResourceHandle;
    if ((notifier->flags & refused) != 0) {
      return explain(cnrtErrorOpsNotPermitted, "%s: %s: was created without this time", function, names[i]);
    }
    marks[i] = notifier->get_mark();
    if (marks[i] == nullptr) return explain(cnrtErrorIllegalState, "%s: %s: was never placed", function, names[i]);
  }
  return marks[0]->done && marks[1]->done ? cnrtSuccess : cnrtErrorNotReady;
}

// Returns the error of the queue's work before the mark. The queue keeps its error.
cnrtRet_t result_of(const char *function, const Mark &mark) {
  if (mark.error == cnrtSuccess) return cnrtSuccess;
  return explain(mark.error, "%s: work before the notifier failed: %s", function, cnrtGetErrorStr(mark.error));
}

}  // namespace

std::uint64_t notifier_count() { return g_notifiers.count(); }

void destroy_notifiers(int device) { g_notifiers.remove_all(device); }

}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *notifier) {
  return guarded(__func__, [&](const char *function) { return create(function, notifier, CNRT_NOTIFIER_DEFAULT); });
}

cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *notifier, unsigned int flags) {
  return guarded(__func__, [&](const char *function) { return create(function, notifier, flags); });
}

cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
  return guarded(__func__, [&](const char *function) {
    if (g_notifiers.remove(notifier) != nullptr) return cnrtSuccess;
    return explain(cnrtErrorInvalidResourceHandle, "%s: notifier: no living notifier", function);
  });
}

cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) { return place(function, notifier, queue, 0); });
}

cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags) {
  return guarded(__func__, [&](const char *function) { return place(function, notifier, queue, flags); });
}

cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flag) {
  return guarded(__func__, [&](const char *function) { return wait_in_queue(function, notifier, queue, flag); });
}

cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier) {
  return guarded(__func__, [&](const char *function) {
    const NotifierRef found = notifier_of(function, notifier);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    const std::shared_ptr<Mark> mark = found->get_mark();
    if (mark == nullptr) return cnrtSuccess;
    if (!mark->done) return cnrtErrorNotReady;
    know_mark(*mark);
    return result_of(function, *mark);
  });
}

cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
  return guarded(__func__, [&](const char *function) {
    const NotifierRef found = notifier_of(function, notifier);
    if (found == nullptr) return cnrtErrorInvalidResourceHandle;
    const std::shared_ptr<Mark> mark = found->get_mark();
    if (mark == nullptr) return cnrtSuccess;
    const cnrtRet_t error = wait_for_mark(mark);
    return error == cnrtSuccess ? result_of(function, *mark) : error;
  });
}

cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float *milliseconds) {
  return guarded(__func__, [&](const char *function) {
    std::shared_ptr<Mark> marks[2];
    constexpr unsigned int kRefused = CNRT_NOTIFIER_DISABLE_TIMING_SW | CNRT_NOTIFIER_DISABLE_TIMING_ALL;
    const cnrtRet_t error = marks_of(function, start, end, kRefused, marks);
    if (error != cnrtSuccess) return error;
    if (milliseconds == nullptr) return refuse_null(function, "milliseconds");
    *milliseconds = static_cast<float>(static_cast<double>(marks[1]->host_time - marks[0]->host_time) * 1e-6);
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float *microseconds) {
  return guarded(__func__, [&](const char *function) {
    std::shared_ptr<Mark> marks[2];
    const cnrtRet_t error = marks_of(function, start, end, CNRT_NOTIFIER_DISABLE_TIMING_ALL, marks);
    if (error != cnrtSuccess) return error;
    if (microseconds == nullptr) return refuse_null(function, "microseconds");
    if (marks[0]->queue != marks[1]->queue) {
      return explain(cnrtErrorArgsInvalid, "%s: end: expected the queue of start, got another one", function);
    }
    *microseconds = static_cast<float>(static_cast<double>(marks[1]->device_time - marks[0]->device_time) * 1e-3);
    return cnrtSuccess;
  });
}
