// The scheduler behind the interface of scheduler.h. scheduler.cpp does the work, waits.cpp waits
// for it, host_threads.cpp runs host functions, process.cpp handles forks and the end of the
// process.
#ifndef MLUSIM_RUNTIME_SCHEDULER_INTERNAL_H_
#define MLUSIM_RUNTIME_SCHEDULER_INTERNAL_H_

#include <sched.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/thread_state.h"
#include "machine/model.h"
#include "runtime/scheduler.h"

namespace mlusim {

// A list of queues; each queue is in one list at most.
struct QueueList {
  Queue *first = nullptr;
  Queue *last = nullptr;

  void add(Queue *queue) {
    (first == nullptr ? first : last->next_) = queue;
    last = queue;
    queue->next_ = nullptr;
  }
  Queue *take() {
    Queue *queue = first;
    if (queue != nullptr) first = queue->next_;
    return queue;
  }
};

// The work of a queue up to a number.
struct Ticket {
  QueueRef queue;
  std::uint64_t number = 0;
  bool done() const { return queue->done_.load(std::memory_order_acquire) >= number; }
};

using Tickets = std::vector<Ticket>;

// A thread spins for this time before it sleeps. That covers the gap between a launch and the call
// that waits for it, and between the launches of a loop: waking a thread costs more than a small
// launch.
constexpr std::int64_t kSpinNanoseconds = 30000;

// Spins until `condition` is true; false if it is not within the time.
template <typename Condition>
bool spin_until(const Condition &condition) {
  const std::int64_t end = now() + kSpinNanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    sched_yield();  // the other thread may need this CPU
  } while (now() < end);
  return condition();
}

class Scheduler {
 public:
  // ---- scheduler.cpp ----
  cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket);
  cnrtRet_t take_error(const QueueRef &queue);
  cnrtRet_t take_all_errors(int device);
  void abandon(const QueueRef &queue);

  // ---- waits.cpp ----
  cnrtRet_t wait_for(const QueueRef &queue, std::uint64_t number);
  cnrtRet_t wait_for_device(int device);
  cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark);
  Freed free_after_work(void *pointer);
  const char *while_idle(const std::function<const char *()> &change);
  void wake_waiters();
  std::uint64_t queued(const QueueRef &queue);
  void know_done(const QueueRef &queue, std::uint64_t number);
  void know_mark(const Mark &mark);

  // ---- process.cpp ----
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();
  void end();

 private:
  enum class Waited {
    kDone,
    kInterrupted,  // by the host
    kEnded,        // the process is ending
    kForbidden     // to this thread
  };

  // Memory that was freed while queued work may still use it.
  struct Condemned {
    void *pointer = nullptr;
    Tickets users;
  };

  using Lock = std::unique_lock<std::mutex>;

  // Callers of the functions below hold the mutex, except of wait(), give_up() and the thread
  // functions.

  // ---- scheduler.cpp: queues ----
  bool start_device_thread();
  void know(const QueueRef &queue);
  void forget_if_idle(Queue *queue);
  void clear_error(Queue *queue);
  QueueClock &latest_of(const Queue &queue) { return latest_[static_cast<std::size_t>(queue.device())]; }
  bool is_alive(std::uint64_t queue) const;
  static bool is_dropped(const Queue &queue, const Task &task);
  static bool is_stalled(const Queue &queue);
  void schedule(Queue *queue);
  void wake_device();
  Queue *take_ready();
  void notify_hosts();
  void set_done(Mark *mark, cnrtRet_t error);
  void keep_error(Queue *queue, cnrtRet_t error);
  void finish(Queue *queue, Task *task, cnrtRet_t result, bool dropped);
  void release_condemned(const Queue &queue);
  void order(Queue *queue, Task *task);
  void know(const QueueClock &over) noexcept;
  void know(std::uint64_t queue, std::uint64_t number) noexcept;

  // ---- scheduler.cpp: the device's thread ----
  static void *run_device_thread(void *scheduler);
  void serve_device();
  void rest(Lock &lock);
  void set_heap(bool open, Lock &lock);
  void end_working();
  void do_first(Queue *queue, Lock &lock);
  static cnrtRet_t run(const std::function<cnrtRet_t()> &work) noexcept;

  // ---- host_threads.cpp ----
  bool provide_host_thread();
  static void *run_host_thread(void *scheduler);
  void serve_functions();
  bool rest_between_functions(Lock &lock, bool stays);
  void know_before(const Queue &queue, const Task &function);
  void call_first(Queue *queue, Lock &lock);

  // ---- waits.cpp ----
  template <typename Condition>
  Waited wait(const Condition &condition);
  template <typename Condition>
  Waited sleep_until(const Condition &condition, Lock &lock);
  cnrtRet_t give_up(const Tickets &tickets);
  void give_up_queue(Queue *queue);
  bool runs(const Ticket &ticket) const;
  bool runs_any(const Tickets &tickets) const;
  cnrtRet_t take_first_error(const Tickets &tickets);
  Tickets all_tickets() const;

  // ---- process.cpp ----
  static void lose_work(Queue *queue);

  std::mutex mutex_;
  std::condition_variable work_;         // wakes the device's thread
  std::condition_variable functions_;    // wakes threads that run host functions
  std::condition_variable changed_;      // wakes all other threads
  std::list<QueueRef> known_;            // queues with work or an error
  QueueList ready_[kLeastPriority + 1];  // by priority: queues whose next task is for the device
  QueueList ready_functions_;
  std::vector<Condemned> condemned_;
  int ready_count_ = 0;
  std::atomic<bool> pending_{false};  // whether a search for ready queues is worth while
  int waiters_ = 0;
  int host_threads_ = 0;
  int function_queues_ = 0;  // queues with host functions; at least as many threads exist
  bool started_ = false;
  // end() is registered with atexit: at the first work, so that it runs before older static objects
  // are destroyed.
  bool ends_with_process_ = false;
  bool sleeping_ = false;
  bool working_ = false;           // the device's thread uses the machine
  Queue *device_queue_ = nullptr;  // the queue that it works for
  // Its task; not on the stack, where a leak checker does not look while a kernel runs on another.
  Task device_task_;
  bool heap_open_ = false;
  bool ended_ = false;
  std::uint64_t orders_ = 0;                    // tasks so far
  std::array<QueueClock, kMaxDevices> latest_;  // by device: the last task of each queue
  QueueClock host_clock_;                       // what the host has waited for
  std::uint64_t failures_ = 0;
  std::uint64_t forks_ = 0;
};

Scheduler &scheduler();

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_SCHEDULER_INTERNAL_H_
