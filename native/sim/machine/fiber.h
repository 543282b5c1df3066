// Cores as fibers: how they start, take turns and end.
#ifndef MLUSIM_MACHINE_FIBER_H_
#define MLUSIM_MACHINE_FIBER_H_

#include <atomic>
#include <csignal>

#include "machine/core.h"

namespace mlusim {

// What made a core stop.
enum class Stop {
  kYielded,  // it waits, lets others run, or has finished its run
  kTrapped,  // trap() ended the launch
  kCrashed,  // a signal did; see last_crash()
};

// Runs the core until it stops. Sets the builtin variables and the arrays' references before. `run` is what a fiber calls for
// each run of its core.
Stop resume(Core &core, void (*run)(Core &core));

// On a core's fiber: lets the scheduler go on; returns when the core is resumed.
void yield_to_scheduler(Core &core);

// On a core's fiber: ends the launch.
[[noreturn]] void leave_for_good();

// Fibers that were interrupted start anew with their next run.
void drop_fiber(Core &core);

// Why a core stopped in the middle.
enum class Cause {
  kFault,
  kSent,           // the signal was sent by the kernel, for example by abort()
  kStackOverflow,  // without a signal too: a function of the simulator found no room for itself
  kStopped         // by the time limit or the host
};

struct Crash {
  int signal = 0;
  const void *address = nullptr;
  const void *pc = nullptr;
  Cause cause = Cause::kFault;
};
const Crash &last_crash();

// Ends the launch: the running core has no room on its stack for the function that was called from `pc`.
[[noreturn]] void end_for_stack(const void *pc);

// In a function of the simulator, on a core: it has what a stack reserves for such functions, or ends the launch.
inline void require_stack(const Core &core, const void *pc) {
  if (static_cast<const char *>(__builtin_frame_address(0)) < core.stack_limit) end_for_stack(pc);
}

// Whether a core runs on this thread, though not on its stack: a frame was so large that it reached beyond the guard.
bool has_left_stack();

// Makes faults of a core end its run. Other faults go on to the handler that was there before.
void ensure_fault_handlers();
// Only what functions of the host need: who ends the process by a signal is told.
void ensure_host_handlers();

// While positive seconds are set, a core that runs longer is stopped: at its next instruction that the simulator sees, or
// wherever it is if there is none.
void start_time_limit(double seconds);
void stop_time_limit();

// Ends the launch that runs or is about to run, from any thread: a request at the next instruction that the simulator sees, an
// insistence wherever the launch is. Each launch starts with neither.
void request_interrupt();
void insist_on_interrupt();
void forget_interrupt();

// What instructions that the simulator sees have to heed: reasons to end the launch now, a schedule that asks at each of them what
// comes next, stores that are to be undone, or a core that ran out of its stack in a function of a library.
enum Attention : int {
  kTimeLimit = 1,
  kInterrupt = 2,
  kSteps = 4,
  kUndoing = 8,
  kStackCheck = 16
};
extern std::atomic<int> g_attention;
inline int attention() { return g_attention.load(std::memory_order_relaxed); }
inline int stop_reasons() { return attention() & (kTimeLimit | kInterrupt); }
void ask_for_steps(bool on);
void ask_for_undoing(bool on);
void ask_for_stack_check(bool on);

// While one of these lives on a core's stack, the core is not stopped in the middle of what it does: it may hold a lock, or be
// changing what outlives the launch.
class Unstoppable {
 public:
  Unstoppable() { g_depth = g_depth + 1; }
  Unstoppable(const Unstoppable &) = delete;
  Unstoppable &operator=(const Unstoppable &) = delete;
  ~Unstoppable() { g_depth = g_depth - 1; }
  static bool any() { return g_depth != 0; }
  static void forget() { g_depth = 0; }  // those of a core that was left for good

 private:
  static volatile int g_depth;
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_FIBER_H_
