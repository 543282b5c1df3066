#include "runtime/scheduler_internal.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "check/checks.h"
#include "machine/fiber.h"
#include "machine/memory.h"
#include "runtime/error.h"

namespace mlusim {
namespace {

std::atomic<std::uint64_t> g_queues{0};

}  // namespace

// ---- Queues -------------------------------------------------------------------------------------

cnrtRet_t Scheduler::enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket) {
  Lock lock(mutex_);
  if (ended_) return explain(cnrtErrorIllegalState, "the process is ending: no more work can be queued");
  if (!start_device_thread()) return explain(cnrtErrorSysNoMem, "the device's thread could not be started");
  const bool function = !task.on_device;
  const bool needs_thread = function && queue->functions_ == 0;
  if (needs_thread && !provide_host_thread()) {
    return explain(cnrtErrorSysNoMem, "no thread could be started for a function of the host");
  }
  know(queue);
  const bool was_idle = queue->idle();
  task.order = orders_ + 1;
  if (task.mark != nullptr) task.mark->queue = queue->number();
  try {
    order(queue.get(), &task);
    queue->tasks_.push_back(std::move(task));
  } catch (...) {
    forget_if_idle(queue.get());
    throw;
  }
  ++orders_;
  if (function) ++queue->functions_;
  if (needs_thread) ++function_queues_;
  const std::uint64_t number = ++queue->queued_;
  if (was_idle) schedule(queue.get());
  const bool wake = sleeping_ && ready_count_ != 0;
  lock.unlock();
  if (wake) work_.notify_one();
  if (ticket != nullptr) *ticket = number;
  return cnrtSuccess;
}

cnrtRet_t Scheduler::take_error(const QueueRef &queue) {
  const Lock lock(mutex_);
  if (queue->error_ == cnrtSuccess) return cnrtSuccess;
  const cnrtRet_t error = explain(queue->error_, "%s", queue->error_text_.c_str());
  clear_error(queue.get());
  return error;
}

cnrtRet_t Scheduler::take_all_errors(int device) {
  const Lock lock(mutex_);
  Tickets tickets;  // a copy: a queue without an error leaves the list
  for (const QueueRef &queue : known_) {
    if (queue->device() == device) tickets.push_back({queue});
  }
  return take_first_error(tickets);
}

void Scheduler::abandon(const QueueRef &queue) {
  const Lock lock(mutex_);
  queue->abandoned_ = true;
  latest_of(*queue).erase(queue->number());
  host_clock_.erase(queue->number());
  forget_queue_work(queue->number());
  if (queue->idle()) clear_error(queue.get());
}

bool Scheduler::is_alive(std::uint64_t queue) const {
  return std::any_of(latest_.begin(), latest_.end(),
                     [queue](const QueueClock &latest) { return latest.count(queue) != 0; });
}

// Notes what is ordered before a new task: the tasks before it in its queue, those that the host
// has waited for, and those before the mark that it waits for.
void Scheduler::order(Queue *queue, Task *task) {
  const std::uint64_t number = queue->queued_ + 1;
  latest_of(*queue)[queue->number()] = number;
  if (task->mark != nullptr) task->mark->number = number;
  if ((checks() & MLUSIM_CHECK_RACE) == 0) return;
  auto clock = std::make_shared<QueueClock>(host_clock_);
  if (queue->clock_ != nullptr) join(clock.get(), *queue->clock_);
  if (const Mark *mark = task->after.get()) {
    if (mark->before != nullptr) join(clock.get(), *mark->before);
    join(clock.get(), {{mark->queue, mark->number}});
  }
  for (auto entry = clock->begin(); entry != clock->end();) {  // without queues that are no more
    entry = is_alive(entry->first) ? std::next(entry) : clock->erase(entry);
  }
  queue->clock_ = clock;
  task->before = clock;
  if (task->mark != nullptr) task->mark->before = clock;
}

bool Scheduler::start_device_thread() {
  if (!ends_with_process_) ends_with_process_ = std::atexit([] { scheduler().end(); }) == 0;
  if (!started_) started_ = start_thread(Role::kDevice, run_device_thread, this);
  return started_;
}

void Scheduler::know(const QueueRef &queue) {
  if (queue->known_) return;
  queue->place_ = known_.insert(known_.end(), queue);
  queue->known_ = true;
}

// Forgets the queue if it has no work and no error; this may destroy it.
void Scheduler::forget_if_idle(Queue *queue) {
  if (!queue->known_ || !queue->idle() || queue->error_ != cnrtSuccess) return;
  queue->known_ = false;
  known_.erase(queue->place_);
}

void Scheduler::clear_error(Queue *queue) {
  queue->error_ = cnrtSuccess;
  queue->error_text_.clear();
  forget_if_idle(queue);
}

// Whether the queue's next task is to be dropped.
bool Scheduler::is_dropped(const Queue &queue, const Task &task) {
  return !task.after_errors && (queue.error_ != cnrtSuccess || queue.first_number() <= queue.given_up_);
}

// Whether the next task of the queue waits for a mark, or is a host function.
bool Scheduler::is_stalled(const Queue &queue) {
  const Task &task = queue.tasks_.front();
  const bool waits = task.after != nullptr && !task.after->done;
  return (waits || !task.on_device) && !is_dropped(queue, task);
}

// Puts a queue with work, but with no running task, into its list.
void Scheduler::schedule(Queue *queue) {
  queue->stalled_ = is_stalled(*queue);
  Mark *mark = queue->tasks_.front().after.get();
  if (!queue->stalled_) {
    ready_[queue->priority()].add(queue);
    ++ready_count_;
    pending_.store(true, std::memory_order_release);
  } else if (mark != nullptr) {
    queue->waits_for_ = mark;
    queue->next_ = mark->waiting;
    mark->waiting = queue;
  } else {
    ready_functions_.add(queue);
    functions_.notify_one();
  }
}

void Scheduler::wake_device() {
  if (sleeping_ && ready_count_ != 0) work_.notify_one();
}

Queue *Scheduler::take_ready() {
  if (ended_) return nullptr;
  for (QueueList &ready : ready_) {
    Queue *queue = ready.take();
    if (queue == nullptr) continue;
    --ready_count_;
    return queue;
  }
  pending_.store(false, std::memory_order_relaxed);
  return nullptr;
}

void Scheduler::notify_hosts() {
  if (waiters_ != 0) changed_.notify_all();
}

void Scheduler::set_done(Mark *mark, cnrtRet_t error) {
  mark->error = error;
  mark->host_time = now();
  mark->done.store(true, std::memory_order_release);
  for (Queue *queue = std::exchange(mark->waiting, nullptr); queue != nullptr;) {
    Queue *next = queue->next_;
    queue->waits_for_ = nullptr;
    schedule(queue);
    queue = next;
  }
}

void Scheduler::keep_error(Queue *queue, cnrtRet_t error) {
  if (error == cnrtSuccess || queue->error_ != cnrtSuccess) return;
  queue->error_ = error;
  queue->failure_ = ++failures_;
  try {
    queue->error_text_ = explanation();
  } catch (const std::bad_alloc &) {
    queue->error_text_.clear();
  }
}

void Scheduler::finish(Queue *queue, Task *task, cnrtRet_t result, bool dropped) {
  keep_error(queue, result);
  const cnrtRet_t lost = dropped ? cnrtErrorQueue : cnrtSuccess;
  if (task->mark != nullptr) set_done(task->mark.get(), queue->error_ != cnrtSuccess ? queue->error_ : lost);
  if (!task->on_device && --queue->functions_ == 0) --function_queues_;
  if (!condemned_.empty()) release_condemned(*queue);
  queue->running_ = false;
  queue->done_.fetch_add(1, std::memory_order_release);
  notify_hosts();
  if (!queue->tasks_.empty()) {
    schedule(queue);
  } else if (queue->abandoned_) {
    clear_error(queue);
  } else {
    forget_if_idle(queue);
  }
}

// Releases memory whose last user was the task that the queue has finished.
void Scheduler::release_condemned(const Queue &queue) {
  const std::uint64_t done = queue.first_number();
  const auto released = [&](Condemned &entry) {
    const auto over = [&](const Ticket &user) { return user.queue.get() == &queue && user.number <= done; };
    entry.users.erase(std::remove_if(entry.users.begin(), entry.users.end(), over), entry.users.end());
    return entry.users.empty() && heap_release(entry.pointer);
  };
  condemned_.erase(std::remove_if(condemned_.begin(), condemned_.end(), released), condemned_.end());
}

// ---- The device's thread ------------------------------------------------------------------------

void *Scheduler::run_device_thread(void *scheduler) {
  static_cast<Scheduler *>(scheduler)->serve_device();
  return nullptr;
}

void Scheduler::serve_device() {
  Lock lock(mutex_);
  for (;;) {
    Queue *queue = take_ready();
    if (queue == nullptr) {
      rest(lock);
    } else {
      do_first(queue, lock);
    }
  }
}

void Scheduler::rest(Lock &lock) {
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
void Scheduler::set_heap(bool open, Lock &lock) {
  if (open == heap_open_) return;
  const bool was_working = std::exchange(working_, true);
  lock.unlock();
  open ? open_heap() : close_heap();
  lock.lock();
  heap_open_ = open;
  if (!was_working) end_working();
}

void Scheduler::end_working() {
  working_ = false;
  device_queue_ = nullptr;
  notify_hosts();
}

void Scheduler::do_first(Queue *queue, Lock &lock) {
  if (is_stalled(*queue)) return schedule(queue);  // the reason to drop it is over
  const bool dropped = is_dropped(*queue, queue->tasks_.front());
  Task &task = device_task_;
  task = std::move(queue->tasks_.front());
  queue->tasks_.pop_front();
  queue->running_ = true;
  if (task.mark != nullptr) task.mark->device_time = now();
  cnrtRet_t result = cnrtSuccess;
  if (task.work != nullptr) {
    const std::uint64_t forks = forks_;
    working_ = true;
    device_queue_ = queue;
    forget_interrupt();
    if (!dropped) set_heap(true, lock);
    const QueuedWork work = {queue->number(), queue->first_number(), task.before};
    lock.unlock();
    begin_queue_work(work);
    thread_state().heap_user = task.order;
    heap_user_changed();
    if (!dropped) result = run(task.work);
    task.work = nullptr;  // frees its captures before it counts as done
    lock.lock();
    if (forks_ != forks) return;  // this is the child of a fork, and its queues have no work
    // Closes the heap before the host can see that the work is done; otherwise an access of the
    // host could go unnoticed.
    if (ready_count_ == 0 && queue->tasks_.empty()) set_heap(false, lock);
    end_working();
  }
  finish(queue, &task, result, dropped);
  task = Task();
}

cnrtRet_t Scheduler::run(const std::function<cnrtRet_t()> &work) noexcept {
  explain(cnrtSuccess, "%s", "");
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return explain(cnrtErrorSysNoMem, "out of host memory in the work of a queue");
  } catch (...) {
    return explain(cnrtErrorUnknown, "unexpected exception in the work of a queue");
  }
}

Queue::Queue(int priority, int device) : priority_(priority), device_(device), number_(++g_queues) {}

// ---- The interface ------------------------------------------------------------------------------

cnrtRet_t enqueue(const QueueRef &queue, Task &&task, std::uint64_t *ticket) {
  return scheduler().enqueue(queue, std::move(task), ticket);
}

cnrtRet_t take_error(const QueueRef &queue) { return scheduler().take_error(queue); }

cnrtRet_t take_all_errors(int device) { return scheduler().take_all_errors(device); }

void abandon(const QueueRef &queue) { scheduler().abandon(queue); }

bool serves_queues() { return thread_state().role != Role::kHost; }

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace mlusim
