// Queues, and the threads that do their work: in order within a queue; between queues by priority,
// then in turn.
//
// One thread is the device: it runs the kernels and copies of all queues, one at a time. It starts
// with the first work, is never joined, and holds device memory open only while it works. Host
// functions run on other threads, one for each queue that has some, so that they do not delay other
// queues. One mutex guards everything here; work runs without it.
#ifndef MLUSIM_RUNTIME_SCHEDULER_H_
#define MLUSIM_RUNTIME_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "check/queues.h"
#include "cnrt.h"
#include "machine/heap.h"

namespace mlusim {

constexpr int kGreatestPriority = 0;
constexpr int kLeastPriority = 7;

class Queue;

// One placement of a notifier in a queue.
struct Mark {
  std::atomic<bool> done{false};             // set after all fields below
  cnrtRet_t error = cnrtSuccess;             // of the queue's work before the mark
  std::uint64_t queue = 0;                   // the number of the queue
  std::uint64_t number = 0;                  // of the mark in its queue
  std::shared_ptr<const QueueClock> before;  // what is ordered before it; see check/queues.h
  std::int64_t device_time = 0;              // nanoseconds: when the device reached the mark
  std::int64_t host_time = 0;                // when the host could see that
  Queue *waiting = nullptr;                  // queues that go on when the mark is done
};

// One task of a queue. Without `work` it is only a place for a wait or a mark.
struct Task {
  std::function<cnrtRet_t()> work;
  bool on_device = true;      // false: a host function, which may take long
  bool after_errors = false;  // runs even if the queue holds an error
  std::uint64_t order = 0;    // its number among the tasks of all queues
  std::shared_ptr<Mark> after;
  std::shared_ptr<Mark> mark;
  std::shared_ptr<const QueueClock> before;  // the work that is ordered before it; null: nobody asks
};

class Queue {
 public:
  Queue(int priority, int device);
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  int priority() const { return priority_; }
  int device() const { return device_; }
  std::uint64_t number() const { return number_; }

 private:
  friend class Scheduler;
  friend struct QueueList;
  friend struct Ticket;
  bool idle() const { return tasks_.empty() && !running_; }
  std::uint64_t first_number() const { return done_ + 1; }  // of the running or next task

  const int priority_;
  const int device_;
  const std::uint64_t number_;  // unique
  std::deque<Task> tasks_;
  bool running_ = false;  // the first task runs, and is no longer in the list
  std::uint64_t queued_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::uint64_t given_up_ = 0;               // tasks up to this number never begin, except those with `after_errors`
  std::uint64_t functions_ = 0;              // host functions among the tasks
  std::atomic<bool> stalled_{false};         // the next task waits for a mark, or is a host function
  std::shared_ptr<const QueueClock> clock_;  // what is ordered before the last task
  Mark *waits_for_ = nullptr;                // the mark that lists this queue as waiting

  // The first failure since the error was last taken: its error, its text, and its number among all
  // failures.
  cnrtRet_t error_ = cnrtSuccess;
  std::string error_text_;
  std::uint64_t failure_ = 0;

  // Whether the scheduler lists the queue: it has work or an error.
  bool known_ = false;
  bool abandoned_ = false;  // nobody will take its errors
  std::list<std::shared_ptr<Queue>>::iterator place_;
  Queue *next_ = nullptr;  // in the list of ready queues, or of those that wait for a mark
};

using QueueRef = std::shared_ptr<Queue>;

// Puts work into the queue. `*ticket` becomes its number in the queue.
cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket = nullptr);

// ---- Waits --------------------------------------------------------------------------------------
//
//
// Threads that serve queues must not wait. While a thread waits, the host is asked whether to go on
// (see mlusimSetInterruptCheck). If not, the queues that it waits for give up their work: a running
// kernel is ended, tasks that did not begin never will, and the wait returns once none of the work
// runs on the device. The wait then takes and returns the queue's error, or cnrtErrorQueue if there
// is none. It returns success if all work was done in the meantime.

// Waits until the queue has done the task of that number.
cnrtRet_t wait_for_ticket(const QueueRef &queue, std::uint64_t ticket);

// Waits for all work that is in the queue now.
cnrtRet_t wait_for_queue(const QueueRef &queue);

// Waits for all work that is in any queue of the device now.
cnrtRet_t wait_for_device(int device);

cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark);

// Frees an allocation once no work that is queued now can use it. Waits for work that the device
// can do, but not for work behind a host function or a notifier: in that case, and if the host
// interrupts the wait, the memory is condemned (see heap.h) and released later.
Freed free_after_work(void *pointer);

// Whether all work of the queue is done; the host then knows that.
bool is_done(const QueueRef &queue);

// The host has seen that the mark is done.
void know_mark(const Mark &mark);

// Takes the error that the queue holds; the queue then accepts new work. The calling thread gets
// its text.
cnrtRet_t take_error(const QueueRef &queue);

// Takes the errors of all queues of the device, and returns the oldest.
cnrtRet_t take_all_errors(int device);

// Nobody will ask for the queue's errors any more; the queue lives until its work is done.
void abandon(const QueueRef &queue);

// Calls `change` while no queue has work or an error, the device's thread has released device
// memory, and no other thread holds a DeviceUse. Returns its result, or the reason why the device
// is in use.
const char *while_idle(const std::function<const char *()> &change);

// Whether this thread is the device's thread or runs a host function.
bool serves_queues();

// Makes all waits use the new interrupt check.
void interrupt_check_changed();

// The clock of all time stamps, in nanoseconds.
std::int64_t now();

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_SCHEDULER_H_
