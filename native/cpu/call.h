// One call of an operator: the number of its threads, decided once for all of it, and whether it is to end early.
#ifndef MLUOPS_CPU_CALL_H_
#define MLUOPS_CPU_CALL_H_

#include <atomic>
#include <cstdint>

#include "mluops_ext.h"

namespace mluops {

constexpr int kMaxThreads = 1024;

// Threads that the call which this thread works for uses, the calling one included; outside of a call those that the next one
// would use. Within a call this is always the same number.
int thread_count();

// The number for later calls, of the whole process.
int chosen_thread_count();
void set_thread_count(int count);

// The function that says whether the call on its thread is to end; NULL if there is none.
void set_interrupt_check(mluopsExtInterruptCheck check);

// Whether the call that this thread works for is to end early: then kernels leave their loops, and start no further phase, since
// an earlier one may be incomplete. On the thread that made the call, this calls the interrupt check when it is due. Takes a few
// nanoseconds, and is to be asked every 10 to 1000 microseconds.
bool interrupted();

class Call;

// What a thread is doing. All of it is zero in a thread that does nothing for the library.
struct ThreadState {
  Call *call;       // that the thread works for, NULL outside of one
  bool owner;       // whether it made that call
  bool inside_job;  // whether it runs a part of a parallel_for
};
ThreadState &thread_state();

// Lives on the stack of the thread that makes the call. The interrupt check may make further calls meanwhile.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  int threads() const { return threads_; }
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

  // Calls the interrupt check if that is due, and returns whether the call is to end. For the thread that made the call.
  bool poll_interrupt();

  // `status`, or the refusal of a call that ended early.
  mluOpStatus_t status(mluOpStatus_t status, const char *function) const;

  // In the child of a fork: ends the calls that this thread has made, since the threads that worked on them are not there.
  static void interrupt_all();

 private:
  const ThreadState before_;
  const int threads_;
  std::atomic<bool> ended_{false};
  std::int64_t due_ = 0;  // when to call the check next, in milliseconds; 0 before the clock was read
};

// Whether calls have to look after the interrupt check while they wait.
bool interruptible();

// Between two calls of the check.
constexpr std::int64_t kInterruptMilliseconds = 50;

}  // namespace mluops

#endif  // MLUOPS_CPU_CALL_H_
