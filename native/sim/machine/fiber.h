// Runs cores as fibers: starts them, switches between them and ends them.
#ifndef MLUSIM_MACHINE_FIBER_H_
#define MLUSIM_MACHINE_FIBER_H_

#include <atomic>
#include <csignal>

#include "machine/core.h"

namespace mlusim {

// The reason why a core stopped.
enum class Stop {
  kYielded,  // it waits, lets others run, or has finished its run
  kTrapped,  // trap() ended the launch
  kCrashed,  // by a signal; see last_crash()
};

// Runs the core until it stops, after setting the builtin variables and the references to arrays. A
// fiber calls `run` for each run of its core.
Stop resume(Core &core, void (*run)(Core &core));

// On a core's fiber: switches to the scheduler; returns when the core is resumed.
void yield_to_scheduler(Core &core);

// On a core's fiber: ends the launch.
[[noreturn]] void leave_for_good();

// Makes the fiber of an interrupted core start anew with its next run.
void drop_fiber(Core &core);

// The cause of a core's crash.
enum class Cause {
  kFault,
  kCall,           // of an address that holds no instructions; the place is that of the call
  kSent,           // the kernel sent the signal itself, for example by abort()
  kNoAddress,      // an access by a pointer that can be no address; the crash has the pointer, if it is known
  kStackOverflow,  // with or without a signal: a function of the simulator may have found no room
  kStopped         // by the time limit or the host
};

struct Crash {
  int signal = 0;
  const void *address = nullptr;
  const void *pc = nullptr;
  Cause cause = Cause::kFault;
};
const Crash &last_crash();

// Ends the launch: the stack of the running core has no room for the function that was called from
// `pc`.
[[noreturn]] void end_for_stack(const void *pc);

// In a function of the simulator, on a core: ends the launch if the stack lacks the room reserved
// for such functions.
inline void require_stack(const Core &core, const void *pc) {
  if (static_cast<const char *>(__builtin_frame_address(0)) < core.stack_limit) end_for_stack(pc);
}

// Whether a core runs on this thread but not on its stack: a large frame has jumped over the guard.
bool has_left_stack();

// Makes faults of a core end its run. Other faults go on to the handlers that were installed
// before.
void ensure_fault_handlers();
// Installs only the handlers for host functions: they report the function whose signal ends the
// process.
void ensure_host_handlers();

// Sets a time limit in seconds for a core; 0 or less for none. A core that exceeds it stops at its
// next instruction that the simulator sees, or else at any point.
void start_time_limit(double seconds);
void stop_time_limit();

// Ends the current or coming launch, from any thread. A request ends it at the next instruction
// that the simulator sees, an insistence at any point. Each launch starts with neither.
void request_interrupt();
void insist_on_interrupt();
void forget_interrupt();

// Conditions that each visible instruction checks: a reason to end the launch now, a schedule that
// decides the next step, a store that is to be undone, or a core that ran out of stack in a library
// function.
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

// While one of these objects lives on a core's stack, the core is not abandoned: it may hold a
// lock, or change data that outlives the launch.
class Unstoppable {
 public:
  Unstoppable() { g_depth = g_depth + 1; }
  Unstoppable(const Unstoppable &) = delete;
  Unstoppable &operator=(const Unstoppable &) = delete;
  ~Unstoppable() { g_depth = g_depth - 1; }
  static bool any() { return g_depth != 0; }
  static void forget() { g_depth = 0; }  // for the objects of an abandoned core
  // Until `forget`: the address sanitizer must hear of one switch of stacks after the other.
  static void begin_switch() { g_depth = 1; }

 private:
  static volatile int g_depth;
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_FIBER_H_
