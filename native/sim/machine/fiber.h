// Cores as fibers: how they start, take turns and end.
#ifndef MLUSIM_MACHINE_FIBER_H_
#define MLUSIM_MACHINE_FIBER_H_

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

struct Crash {
  int signal = 0;
  const void *address = nullptr;
  const void *pc = nullptr;
  bool expired = false;  // the time limit, not a fault
};
const Crash &last_crash();

// Makes faults of a core end its run. Other faults go on to whoever handled them before.
void ensure_fault_handlers();

// While positive seconds are set, a core that runs longer is stopped: at its next instruction that the simulator sees, or
// wherever it is if there is none.
void start_time_limit(double seconds);
void stop_time_limit();
bool time_limit_expired();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_FIBER_H_
