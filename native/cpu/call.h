// One call of an operator: its number of threads, fixed when the call starts, and its interruption.
#ifndef MLUOPS_CPU_CALL_H_
#define MLUOPS_CPU_CALL_H_

#include <atomic>
#include <cstdint>

#include "mluops_ext/library.h"

namespace mluops {

constexpr int kMaxThreads = 1024;

// Threads of the call that this thread works for, the calling thread included; outside of a call,
// threads of the next one. Constant within a call.
int thread_count();

// Thread count of later calls, for the whole process.
int chosen_thread_count();
void set_thread_count(int count);

// The function that decides whether the call on its thread is interrupted; NULL for none.
void set_interrupt_check(mluopsExtInterruptCheck check);

// Whether the call that this thread works for was interrupted. Kernels then leave their loops and
// start no further phase, since an earlier one may be incomplete. On the thread that made the call,
// this calls the interrupt check when it is due. Costs a few nanoseconds; kernels call it every 10
// to 1000 microseconds.
bool interrupted();

class Call;

// State of a thread, all zero while it does nothing for the library.
struct ThreadState {
  Call *call;       // current call, NULL outside of one
  bool owner;       // whether this thread made the call
  bool inside_job;  // whether this thread runs a part of a parallel_for
};
ThreadState &thread_state();

// Lives on the stack of the calling thread. The interrupt check may make nested calls.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  int threads() const { return threads_; }
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

  // Calls the interrupt check if it is due, and returns whether the call is interrupted. Only for
  // the thread that made the call.
  bool poll_interrupt();

  // `status`, or EXECUTION_FAILED if the call was interrupted.
  mluOpStatus_t status(mluOpStatus_t status, const char *function) const;

  // In the child of a fork: interrupts the calls of this thread, because their worker threads do
  // not exist in the child.
  static void interrupt_all();

 private:
  const ThreadState before_;
  const int threads_;
  std::atomic<bool> ended_{false};
  std::int64_t due_ = 0;  // time of the next check, in milliseconds; 0 before the first clock reading
};

// Whether an interrupt check is set, so that waiting calls must poll it.
bool interruptible();

// Time between two calls of the check.
constexpr std::int64_t kInterruptMilliseconds = 50;

}  // namespace mluops

#endif  // MLUOPS_CPU_CALL_H_
