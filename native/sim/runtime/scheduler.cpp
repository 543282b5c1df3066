#include "runtime/scheduler.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "machine/memory.h"
#include "runtime/error.h"
#include "runtime/fork.h"

namespace mlusim {
namespace {

// Looking for a while before going to sleep covers the gap between a launch and the call that waits for it, and between the
// launches of a loop: waking a thread up costs more than a small launch.
constexpr std::int64_t kSpinNanoseconds = 30000;
constexpr auto kPatienceAtExit = std::chrono::seconds(2);

thread_local bool t_on_device_thread = false;

std::atomic<std::uint64_t> g_queues{0};

// True as soon as `condition` is; false if it is not in time.
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

}  // namespace

class Scheduler {
 public:
  cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (ended_) return explain(cnrtErrorIllegalState, "the process is ending: no more work can be queued");
    if (!start_thread()) return explain(cnrtErrorSys, "the device's thread could not be started");
    know(queue);
    const bool was_idle = queue->idle();
    if (task.mark != nullptr) task.mark->queue = queue->number();
    queue->tasks_.push_back(std::move(task));
    const std::uint64_t number = ++queue->queued_;
    if (was_idle) schedule(queue.get());
    const bool wake = sleeping_ && ready_count_ != 0;
    lock.unlock();
    if (wake) work_.notify_one();
    if (ticket != nullptr) *ticket = number;
    return cnrtSuccess;
  }

  template <typename Condition>
  cnrtRet_t wait(const Condition &condition) {
    if (condition()) return cnrtSuccess;
    if (t_on_device_thread) return explain(cnrtErrorOpsNotPermitted, "a function that a queue runs must not wait");
    if (spin_until(condition)) return cnrtSuccess;
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiters_;
    changed_.wait(lock, [&] { return condition() || ended_; });
    --waiters_;
    if (condition()) return cnrtSuccess;
    return explain(cnrtErrorIllegalState, "the process is ending: queues do no more work");
  }

  std::uint64_t queued(const QueueRef &queue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return queue->queued_;
  }

  static bool has_done(const Queue &queue, std::uint64_t ticket) {
    return queue.done_.load(std::memory_order_acquire) >= ticket;
  }

  std::vector<std::pair<QueueRef, std::uint64_t>> all_tickets() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<QueueRef, std::uint64_t>> tickets;
    for (const QueueRef &queue : known_) tickets.emplace_back(queue, queue->queued_);
    return tickets;
  }

  cnrtRet_t take_error(const QueueRef &queue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (queue->error_ == cnrtSuccess) return cnrtSuccess;
    const cnrtRet_t error = explain(queue->error_, "%s", queue->error_text_.c_str());
    clear_error(queue.get());
    return error;
  }

  cnrtRet_t take_all_errors() {
    const std::lock_guard<std::mutex> lock(mutex_);
    cnrtRet_t error = cnrtSuccess;
    std::uint64_t first = UINT64_MAX;
    for (auto place = known_.begin(); place != known_.end();) {
      Queue *queue = (place++)->get();  // it may leave the list
      if (queue->error_ == cnrtSuccess) continue;
      if (queue->failure_ < first) {
        first = queue->failure_;
        error = explain(queue->error_, "%s", queue->error_text_.c_str());
      }
      clear_error(queue);
    }
    return error;
  }

  void abandon(const QueueRef &queue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue->abandoned_ = true;
    if (queue->idle()) clear_error(queue.get());
  }

  bool all_idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return known_.empty();
  }

  // ---- Fork and exit ----

  // A fork in the middle of a kernel would leave half a machine to the child, so it waits until the kernel is over. Not for
  // functions of the host: one may be waiting for a lock that the forking thread holds.
  void before_fork() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiters_;
    changed_.wait(lock, [this] { return !working_; });
    --waiters_;
    lock.release();
  }

  void after_fork_in_parent() { mutex_.unlock(); }

  // The child has no other thread: nobody waits, and nobody does what was queued.
  void after_fork_in_child() {
    new (&mutex_) std::mutex;
    new (&work_) std::condition_variable;
    new (&changed_) std::condition_variable;
    started_ = t_on_device_thread;  // which a function of the host may have forked from
    sleeping_ = false;
    waiters_ = 0;
    ++forks_;
    ready_count_ = 0;
    for (Ready &ready : ready_) ready = {};
    pending_ = false;
    for (const QueueRef &queue : known_) lose_work(queue.get());
    known_.clear();
    if (heap_open_) close_heap();
    heap_open_ = false;
  }

  // Static objects of the program and its libraries are about to be destroyed: nothing may run that needs them. A kernel that
  // does not end is not waited for.
  void end() {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_ = true;
    ++waiters_;
    changed_.wait_until(lock, std::chrono::system_clock::now() + kPatienceAtExit, [this] { return !working_; });
    --waiters_;
    changed_.notify_all();
  }

 private:
  // The queues of one priority whose first task can be done.
  struct Ready {
    Queue *first = nullptr;
    Queue *last = nullptr;
  };

  // ---- Called with the mutex held ----

  bool start_thread() {
    if (started_) return true;
    sigset_t others, before;
    sigfillset(&others);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before);  // signals belong to the threads of the program
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    started_ = pthread_create(&thread, &attributes, run_thread, this) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started_;
  }

  void know(const QueueRef &queue) {
    if (queue->known_) return;
    queue->place_ = known_.insert(known_.end(), queue);
    queue->known_ = true;
  }

  // Forgets the queue if there is nothing to know of it; it may be destroyed by that.
  void forget_if_idle(Queue *queue) {
    if (!queue->known_ || !queue->idle() || queue->error_ != cnrtSuccess) return;
    queue->known_ = false;
    known_.erase(queue->place_);
  }

  void clear_error(Queue *queue) {
    queue->error_ = cnrtSuccess;
    queue->error_text_.clear();
    forget_if_idle(queue);
  }

  // Puts a queue with work, none of which is being done, where it belongs.
  void schedule(Queue *queue) {
    Mark *mark = queue->tasks_.front().after.get();
    if (mark != nullptr && !mark->done && queue->error_ == cnrtSuccess) {
      queue->next_ = mark->waiting;
      mark->waiting = queue;
      return;
    }
    Ready &ready = ready_[queue->priority()];
    (ready.first == nullptr ? ready.first : ready.last->next_) = queue;
    ready.last = queue;
    queue->next_ = nullptr;
    ++ready_count_;
    pending_.store(true, std::memory_order_release);
  }

  Queue *take_ready() {
    if (ended_) return nullptr;
    for (Ready &ready : ready_) {
      Queue *queue = ready.first;
      if (queue == nullptr) continue;
      ready.first = queue->next_;
      --ready_count_;
      return queue;
    }
    pending_.store(false, std::memory_order_relaxed);
    return nullptr;
  }

  void notify_hosts() {
    if (waiters_ != 0) changed_.notify_all();
  }

  void set_done(Mark *mark, cnrtRet_t error) {
    mark->error = error;
    mark->host_time = now();
    mark->done.store(true, std::memory_order_release);
    for (Queue *queue = mark->waiting; queue != nullptr;) {
      Queue *next = queue->next_;
      schedule(queue);
      queue = next;
    }
    mark->waiting = nullptr;
  }

  void keep_error(Queue *queue, cnrtRet_t error) {
    if (error == cnrtSuccess || queue->error_ != cnrtSuccess) return;
    queue->error_ = error;
    queue->failure_ = ++failures_;
    try {
      queue->error_text_ = explanation();
    } catch (const std::bad_alloc &) {
      queue->error_text_.clear();
    }
  }

  void finish(Queue *queue, Task *task, cnrtRet_t result) {
    keep_error(queue, result);
    if (task->mark != nullptr) set_done(task->mark.get(), queue->error_);
    queue->running_ = false;
    queue->done_.fetch_add(1, std::memory_order_release);
    notify_hosts();
    if (!queue->tasks_.empty()) return schedule(queue);
    if (queue->abandoned_) return clear_error(queue);
    forget_if_idle(queue);
  }

  static void lose_work(Queue *queue) {
    for (const Task &task : queue->tasks_) {
      if (task.mark == nullptr) continue;
      task.mark->waiting = nullptr;
      task.mark->done = true;
    }
    queue->tasks_.clear();
    queue->running_ = false;
    queue->done_ = queue->queued_;
    queue->error_ = cnrtSuccess;
    queue->known_ = false;
  }

  // ---- The device's thread ----

  static void *run_thread(void *scheduler) {
    t_on_device_thread = true;
    static_cast<Scheduler *>(scheduler)->serve();
    return nullptr;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      Queue *queue = take_ready();
      if (queue == nullptr) {
        rest(lock);
      } else {
        do_first(queue, lock);
      }
    }
  }

  void rest(std::unique_lock<std::mutex> &lock) {
    set_heap(false, lock);
    if (ready_count_ != 0 && !ended_) return;
    lock.unlock();
    spin_until([this] { return pending_.load(std::memory_order_acquire); });
    lock.lock();
    sleeping_ = true;
    work_.wait(lock, [this] { return ready_count_ != 0 && !ended_; });
    sleeping_ = false;
  }

  // Opens or closes device memory for this thread.
  void set_heap(bool open, std::unique_lock<std::mutex> &lock) {
    if (open == heap_open_) return;
    const bool was_working = std::exchange(working_, true);
    lock.unlock();
    open ? open_heap() : close_heap();
    lock.lock();
    heap_open_ = open;
    if (!was_working) end_working();
  }

  void end_working() {
    working_ = false;
    notify_hosts();
  }

  void do_first(Queue *queue, std::unique_lock<std::mutex> &lock) {
    Task task = std::move(queue->tasks_.front());
    queue->tasks_.pop_front();
    queue->running_ = true;
    if (task.mark != nullptr) task.mark->device_time = now();
    cnrtRet_t result = cnrtSuccess;
    if (task.work != nullptr) {
      const bool dropped = queue->error_ != cnrtSuccess && !task.after_errors;
      const std::uint64_t forks = forks_;
      if (!dropped) set_heap(task.on_device, lock);
      working_ = task.on_device;
      lock.unlock();
      if (!dropped) result = run(task.work);
      task.work = nullptr;  // what it holds is gone before it counts as done
      lock.lock();
      if (forks_ != forks) return;  // this is the child of a fork, and the queue has no work any more
      // Closed before the host can know that the work is done; else its touch of device memory could go unnoticed.
      if (ready_count_ == 0 && queue->tasks_.empty() && working_) set_heap(false, lock);
      end_working();
    }
    finish(queue, &task, result);
  }

  static cnrtRet_t run(const std::function<cnrtRet_t()> &work) noexcept {
    explain(cnrtSuccess, "%s", "");
    try {
      return work();
    } catch (const std::bad_alloc &) {
      return explain(cnrtErrorSysNoMem, "out of host memory in the work of a queue");
    } catch (...) {
      return explain(cnrtErrorUnknown, "unexpected exception in the work of a queue");
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;     // for the device's thread
  std::condition_variable changed_;  // for the others
  std::list<QueueRef> known_;        // queues with work or an error
  Ready ready_[kLeastPriority + 1];
  int ready_count_ = 0;
  std::atomic<bool> pending_{false};  // whether looking for ready queues is worth while
  int waiters_ = 0;
  bool started_ = false;
  bool sleeping_ = false;
  bool working_ = false;  // the device's thread uses the machine
  bool heap_open_ = false;
  bool ended_ = false;
  std::uint64_t failures_ = 0;
  std::uint64_t forks_ = 0;
};

namespace {

// In static memory and never destroyed: the device's thread sleeps in it when the process ends.
Scheduler &scheduler() {
  alignas(Scheduler) static unsigned char memory[sizeof(Scheduler)];
  static Scheduler *const instance = [] {
    auto *made = new (memory) Scheduler;
    set_fork_hooks({[] { scheduler().before_fork(); }, [] { scheduler().after_fork_in_parent(); },
                    [] { scheduler().after_fork_in_child(); }});
    std::atexit([] { scheduler().end(); });
    return made;
  }();
  return *instance;
}

}  // namespace

Queue::Queue(int priority) : priority_(priority), number_(++g_queues) {}

cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket) {
  return scheduler().enqueue(queue, std::move(task), ticket);
}

cnrtRet_t wait_for_ticket(const QueueRef &queue, std::uint64_t ticket) {
  return scheduler().wait([&] { return Scheduler::has_done(*queue, ticket); });
}

cnrtRet_t wait_for_queue(const QueueRef &queue) { return wait_for_ticket(queue, scheduler().queued(queue)); }

cnrtRet_t wait_for_all() {
  for (const auto &entry : scheduler().all_tickets()) {
    const cnrtRet_t error = wait_for_ticket(entry.first, entry.second);
    if (error != cnrtSuccess) return error;
  }
  return cnrtSuccess;
}

cnrtRet_t wait_for_mark(const std::shared_ptr<Mark> &mark) {
  return scheduler().wait([&] { return mark->done.load(std::memory_order_acquire); });
}

bool is_done(const QueueRef &queue) { return Scheduler::has_done(*queue, scheduler().queued(queue)); }

cnrtRet_t take_error(const QueueRef &queue) { return scheduler().take_error(queue); }

cnrtRet_t take_all_errors() { return scheduler().take_all_errors(); }

void abandon(const QueueRef &queue) { scheduler().abandon(queue); }

bool all_idle() { return scheduler().all_idle(); }

bool on_device_thread() { return t_on_device_thread; }

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace mlusim
