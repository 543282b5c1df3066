// The threads that run functions of the host. Each queue that holds one has a thread, from the moment when the function is queued,
// so a function waits for nothing but what stands before it in its queue.
#include <chrono>
#include <utility>

#include "runtime/scheduler_internal.h"

namespace mlusim {
namespace {

// For which a thread stays without work.
constexpr auto kPatience = std::chrono::milliseconds(200);

}  // namespace

// Makes sure that there is a thread for one more queue.
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

// False if the thread is not needed any more. In the child of a fork it is the program's only one, and stays.
bool Scheduler::rest_between_functions(Lock &lock, bool stays) {
  const auto has_work = [this] { return ready_functions_.first != nullptr && !ended_; };
  if (functions_.wait_for(lock, kPatience, has_work) || stays || host_threads_ <= function_queues_) return true;
  --host_threads_;
  return false;
}

void Scheduler::call_first(Queue *queue, Lock &lock) {
  const bool dropped = is_dropped(*queue, queue->tasks_.front());
  Task task = std::move(queue->tasks_.front());
  queue->tasks_.pop_front();
  queue->running_ = true;
  const std::uint64_t forks = forks_;
  lock.unlock();
  const cnrtRet_t result = dropped ? cnrtSuccess : run(task.work);
  task.work = nullptr;
  lock.lock();
  if (forks_ != forks) return;  // this is the child of a fork, and the queue has no work any more
  finish(queue, &task, result, dropped);
  wake_device();
}

}  // namespace mlusim
