// Threads that run host functions. A queue with host functions has a thread from the moment when
// the first is queued, so a function waits only for the tasks before it in its queue.
#include <chrono>
#include <utility>

#include "runtime/scheduler_internal.h"

namespace mlusim {
namespace {

// The time for which a thread waits for new work before it ends.
constexpr auto kPatience = std::chrono::milliseconds(200);

}  // namespace

// Provides a thread for one more queue with host functions.
bool Scheduler::provide_host_thread() {
  if (host_threads_ > function_queues_) return true;
  if (!start_thread(Role::kFunctions, run_host_thread, this)) return false;
  ++host_threads_;
  return true;
}

void *Scheduler::run_host_thread(void *scheduler) {
  static_cast<Scheduler *>(scheduler)->serve_functions();
  return nullptr;
}

void Scheduler::serve_functions() {
  Lock lock(mutex_);
  const std::uint64_t forks = forks_;
  for (;;) {
    Queue *queue = ended_ ? nullptr : ready_functions_.take();
    if (queue != nullptr) {
      call_first(queue, lock);
    } else if (!rest_between_functions(lock, forks_ != forks)) {
      return;
    }
  }
}

// Waits for new work; false if the thread is no longer needed. In the child of a fork it may be the
// program's only thread, and stays.
bool Scheduler::rest_between_functions(Lock &lock, bool stays) {
  const auto has_work = [this] { return ready_functions_.first != nullptr && !ended_; };
  if (functions_.wait_for(lock, kPatience, has_work) || stays || host_threads_ <= function_queues_) return true;
  --host_threads_;
  return false;
}

// Notes that the host knows of the work before a function of its own: the function may tell any
// other thread.
void Scheduler::know_before(const Queue &queue, const Task &function) {
  if (queue.first_number() > 1) know(queue.number(), queue.first_number() - 1);
  if (function.before != nullptr) know(*function.before);
}

void Scheduler::call_first(Queue *queue, Lock &lock) {
  const bool dropped = is_dropped(*queue, queue->tasks_.front());
  Task task = std::move(queue->tasks_.front());
  queue->tasks_.pop_front();
  queue->running_ = true;
  if (!dropped) know_before(*queue, task);
  const std::uint64_t forks = forks_;
  lock.unlock();
  const cnrtRet_t result = dropped ? cnrtSuccess : run(task.work);
  task.work = nullptr;
  lock.lock();
  if (forks_ != forks) return;  // this is the child of a fork, and its queues have no work
  finish(queue, &task, result, dropped);
  wake_device();
}

}  // namespace mlusim
