// Queues and the device's thread, which does their work: in order within a queue, by priority and then in turn between queues.
//
// There is one such thread in the process. It starts with the first work, is never joined, and holds device memory open only
// while it works. Everything here is guarded by one mutex; work is done without it.
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
  bool on_device = true;      // work on device memory; else a function of the host, which may take its time
  bool after_errors = false;  // also done if the queue holds an error
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
  bool idle() const { return tasks_.empty() && !running_; }

  const int priority_;
  const std::uint64_t number_;  // never used again
  std::deque<Task> tasks_;
  bool running_ = false;  // the task that came first is being done, and no longer in the list
  std::uint64_t queued_ = 0;
  std::atomic<std::uint64_t> done_{0};

  // The first failure since the error was taken, its sentence, and its number among all failures.
  cnrtRet_t error_ = cnrtSuccess;
  std::string error_text_;
  std::uint64_t failure_ = 0;

  // The scheduler knows a queue while it has work or an error.
  bool known_ = false;
  bool abandoned_ = false;  // nobody will ask for errors
  std::list<std::shared_ptr<Queue>>::iterator place_;
  Queue *next_ = nullptr;  // in the list of those that are ready, or of those that wait for a mark
};

using QueueRef = std::shared_ptr<Queue>;

// Puts work into the queue, and its number there into `*ticket`.
cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket = nullptr);

// Waits until the queue has done the work of that number. Not for the device's thread.
cnrtRet_t wait_for_ticket(const QueueRef &queue, std::uint64_t ticket);

// Waits for all the work that is in the queue now.
cnrtRet_t wait_for_queue(const QueueRef &queue);

// Waits for all the work that is in any queue now.
cnrtRet_t wait_for_all();

cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark);

bool is_done(const QueueRef &queue);

// The error that the queue holds, which then goes on with new work. Its sentence becomes the calling thread's.
cnrtRet_t take_error(const QueueRef &queue);

// Of the errors that queues hold, the oldest; all queues forget theirs.
cnrtRet_t take_all_errors();

// The queue's errors are of no interest any more; it lives until it has done its work.
void abandon(const QueueRef &queue);

// Whether no queue has work or holds an error.
bool all_idle();

bool on_device_thread();

// Nanoseconds of the clock of all stamps.
std::int64_t now();

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_SCHEDULER_H_
