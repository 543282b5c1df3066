// The scheduler at a fork, and at the end of the process.
#include <chrono>
#include <cstdlib>
#include <new>

#include "base/fork.h"
#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/process_end.h"
#include "runtime/scheduler_internal.h"

namespace mlusim {
namespace {

constexpr auto kPatienceAtExit = std::chrono::seconds(2);

}  // namespace

// A fork in the middle of a kernel would give the child half a machine, so it waits for the end of
// the kernel. It does not wait for host functions: one may be waiting for a lock that the forking
// thread holds.
void Scheduler::before_fork() {
  Lock lock(mutex_);
  ++waiters_;
  changed_.wait(lock, [this] { return !working_; });
  --waiters_;
  lock.release();
}

void Scheduler::after_fork_in_parent() { mutex_.unlock(); }

// The child has one thread: no other thread waits, and queued work is dropped.
void Scheduler::after_fork_in_child() {
  new (&mutex_) std::mutex;
  new (&work_) std::condition_variable;
  new (&functions_) std::condition_variable;
  new (&changed_) std::condition_variable;
  started_ = thread_state().role == Role::kDevice;
  host_threads_ = thread_state().role == Role::kFunctions ? 1 : 0;  // a host function may have forked
  function_queues_ = 0;
  sleeping_ = false;
  waiters_ = 0;
  ++forks_;
  ready_count_ = 0;
  for (QueueList &ready : ready_) ready = {};
  ready_functions_ = {};
  pending_ = false;
  for (const QueueRef &queue : known_) lose_work(queue.get());
  known_.clear();
  for (const Condemned &entry : condemned_) heap_release(entry.pointer);
  condemned_.clear();
  forget_queue_work();
  if (heap_open_) close_heap();
  heap_open_ = false;
}

void Scheduler::lose_work(Queue *queue) {
  for (const Task &task : queue->tasks_) {
    if (task.mark == nullptr) continue;
    task.mark->waiting = nullptr;
    task.mark->done = true;
  }
  queue->tasks_.clear();
  queue->functions_ = 0;
  queue->running_ = false;
  queue->stalled_ = false;
  queue->waits_for_ = nullptr;
  queue->done_ = queue->queued_;
  queue->error_ = cnrtSuccess;
  queue->known_ = false;
}

// Static objects of the program and its libraries are about to be destroyed, so no work that uses
// them may run. The scheduler does not wait for a kernel that does not end.
void Scheduler::end() {
  tell_end(current_core() != nullptr ? running_launch()->kernel.c_str() : nullptr, "called exit in a library");
  Lock lock(mutex_);
  ended_ = true;
  ++waiters_;
  changed_.wait_until(lock, std::chrono::system_clock::now() + kPatienceAtExit, [this] { return !working_; });
  --waiters_;
  changed_.notify_all();
}

// In static memory and never destroyed: the device's thread waits in it at the end of the process.
Scheduler &scheduler() {
  alignas(Scheduler) static unsigned char memory[sizeof(Scheduler)];
  static Scheduler *const instance = [] {
    auto *made = new (memory) Scheduler;
    set_fork_hooks({[] { scheduler().before_fork(); }, [] { scheduler().after_fork_in_parent(); },
                    [] { scheduler().after_fork_in_child(); }});
    return made;
  }();
  return *instance;
}

}  // namespace mlusim
