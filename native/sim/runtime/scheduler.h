// Queues and the threads that do their work: in order within a queue, by priority and then in turn between queues.
//
// One thread is the device: it runs kernels and copies of all queues, one at a time. It starts with the first work, is never
// joined, and holds device memory open only while it works. Functions of the host run on threads of their own, one for each
// queue that holds any, so that none is in the way of another queue. Everything here is guarded by one mutex; work is done
// without it.
#ifndef MLUSIM_RUNTIME_SCHEDULER_H_
#define MLUSIM_RUNTIME_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "cnrt.h"
#include "machine/heap.h"

namespace mlusim {

constexpr int kGreatestPriority = 0;
constexpr int kLeastPriority = 7;

class Queue;

// One place of a notifier in a queue.
struct Mark {
  std::atomic<bool> done{false};  // what follows is set before
  cnrtRet_t error = cnrtSuccess;  // of the queue's work before
  std::uint64_t queue = 0;        // its number
  std::int64_t device_time = 0;   // nanoseconds: when the device came to it,
  std::int64_t host_time = 0;     // and when the host could know
  Queue *waiting = nullptr;       // queues that go on when it is done
};

// What a queue does next. Without `work` it is only a place to wait or to mark.
struct Task {
  std::function<cnrtRet_t()> work;
  bool on_device = true;      // else a function of the host, which may take its time
  bool after_errors = false;  // also done if the queue holds an error
  std::uint64_t order = 0;    // its number among the tasks of all queues
  std::shared_ptr<Mark> after;
  std::shared_ptr<Mark> mark;
};

class Queue {
 public:
  explicit Queue(int priority);
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  int priority() const { return priority_; }
  std::uint64_t number() const { return number_; }

 private:
  friend class Scheduler;
  friend struct QueueList;
  friend struct Ticket;
  bool idle() const { return tasks_.empty() && !running_; }
  std::uint64_t first_number() const { return done_ + 1; }  // of the task that is being done, or is next

  const int priority_;
  const std::uint64_t number_;  // never used again
  std::deque<Task> tasks_;
  bool running_ = false;  // the task that came first is being done, and no longer in the list
  std::uint64_t queued_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::uint64_t given_up_ = 0;       // tasks up to this number are not begun any more, but for those done after errors
  std::uint64_t functions_ = 0;      // of the host, among the tasks
  std::atomic<bool> stands_{false};  // the next task waits for a mark, or is a function of the host
  Mark *waits_for_ = nullptr;        // the queue is in the list of this mark

  // The first failure since the error was taken, its sentence, and its number among all failures.
  cnrtRet_t error_ = cnrtSuccess;
  std::string error_text_;
  std::uint64_t failure_ = 0;

  // The scheduler knows a queue while it has work or an error.
  bool known_ = false;
  bool abandoned_ = false;  // its errors will not be fetched
  std::list<std::shared_ptr<Queue>>::iterator place_;
  Queue *next_ = nullptr;  // in the list of those that are ready, or of those that wait for a mark
};

using QueueRef = std::shared_ptr<Queue>;

// Puts work into the queue, and its number there into `*ticket`.
cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket = nullptr);

// ---- Waits --------------------------------------------------------------------------------------------------------------
//
// They are not for threads that serve queues. While a thread waits, the host is asked whether to go on (see
// mlusimSetInterruptCheck). If not, the queues that it waits for give up what they hold: the kernel that one of them runs is
// ended, what was not begun never will be, and the wait returns when nothing of it runs on the device any more. It has then the
// error that the queue held, which is taken; cnrtErrorQueue if there is none; success if all was done all the same.

// Waits until the queue has done the work of that number.
cnrtRet_t wait_for_ticket(const QueueRef &queue, std::uint64_t ticket);

// Waits for all the work that is in the queue now.
cnrtRet_t wait_for_queue(const QueueRef &queue);

// Waits for all the work that is in any queue now.
cnrtRet_t wait_for_all();

cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark);

// Frees an allocation when no work that is queued now may use it any more. Waits for what the device can do; not for work
// behind a function of the host or a notifier: while there is such, the memory is condemned (see heap.h) and released later. The
// same if the host wants the wait to end.
Freed free_after_work(void *pointer);

bool is_done(const QueueRef &queue);

// The error that the queue holds, which then goes on with new work. Its sentence becomes the calling thread's.
cnrtRet_t take_error(const QueueRef &queue);

// Of the errors that queues hold, the oldest; all queues forget theirs.
cnrtRet_t take_all_errors();

// The queue's errors are of no interest any more; it lives until it has done its work.
void abandon(const QueueRef &queue);

// Calls `change` while no queue has work or holds an error, the device's thread has let go of device memory, and no other thread
// has a DeviceUse; returns what it returns, or why that is not so.
const char *while_idle(const std::function<const char *()> &change);

// Whether this thread is the device's or runs a function of the host.
bool serves_queues();

// Lets all waits look anew at whom to ask.
void interrupt_check_changed();

// Nanoseconds of the clock of all stamps.
std::int64_t now();

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_SCHEDULER_H_
