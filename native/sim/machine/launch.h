// Runs one kernel launch from its first task to its last.
#ifndef MLUSIM_MACHINE_LAUNCH_H_
#define MLUSIM_MACHINE_LAUNCH_H_

#include <string>
#include <vector>

#include "cnrt.h"
#include "machine/core.h"
#include "machine/memory.h"
#include "mlusim_source.h"

namespace mlusim {

// An argument that is a pointer.
struct PassedPointer {
  const void *value;
  std::size_t target;  // the size of what it points to
  int number;          // of the parameter
};

// One launch as it waits in a queue.
struct Launch {
  std::string kernel;  // as written in the source
  cnrtDim3_t dim = {1, 1, 1};
  cnrtFunctionType_t type = cnrtFuncTypeBlock;
  // Calls the kernel with the arguments stored at `arguments`; runs once on each core.
  void (*invoke)(const void *arguments) = nullptr;
  const Unit *unit = nullptr;  // the file of the launch; null if unknown
  const void *arguments = nullptr;
  std::size_t argument_bytes = 0;
  int argument_count = 0;
  std::vector<PassedPointer> pointers;
  int device = 0;             // the number of the device
  std::uint64_t profile = 0;  // the profile that it belongs to; 0: none
};

// Returns the number of clusters of one job; 0 for Block.
inline int clusters_of(cnrtFunctionType_t type) { return static_cast<int>(type) / 4; }

// Checks whether the device can run the launch. Returns cnrtSuccess or the error of the launch
// call; `*reason` is a sentence.
cnrtRet_t check_launch(const Launch &launch, std::string *reason);

// Runs the launch to its end on this thread, which must be the device's. Returns cnrtSuccess, or
// the error that ended the launch; its findings and report are then kept.
cnrtRet_t run_launch(const Launch &launch);

// ---- For intrinsics -----------------------------------------------------------------------------

// Returns the running core; an intrinsic that was called from `pc` asks. If the host called the
// intrinsic, the process ends with a sentence.
Core &self(const char *intrinsic, const void *pc);

// Waits on this core for the agents; their pending copies happen now.
void wait_for(Core &core, unsigned agents, const void *pc);

// Waits on this core until all members of the barrier have arrived. In a Block task this is
// wait_for(kWaitAll); on a core that is no member it does nothing.
void wait_at_barrier(Core &core, Wait kind, const char *name, const void *pc);

void take_lock(Core &core, int lock, const void *pc);
void release_lock(Core &core, int lock, const void *pc);

// Ends the launch for the reasons in stop_reasons(), on a core that is at `pc`.
[[noreturn]] void stop_launch(const void *pc);

// Acts on attention() at an instruction, before its work: may end the launch, or let other cores
// run.
void attend(Core &core, const void *pc);

// Lets other cores run, for kernels that poll memory.
void yield_core(Core &core);

// Returns the running launch, or null between launches; and the cores of its job.
const Launch *running_launch();
const std::vector<Core *> &running_cores();

// Whether the running launch is a Union launch, which has SRAM and memory cores.
bool in_union();

// Queues an asynchronous copy and sends its accesses to the observers. The schedule decides when a
// copy of the IO pipe happens; it happens at the latest when the core waits for it. A copy of the
// move pipe happens at once, because kernels rely on its order with computations; only observers
// notice a missing sync.
void issue(Core &core, Agent agent, const PendingCopy &copy);

// Whether the address is among the arguments of the running launch.
bool is_argument(const void *address);

// Whether a core of the running launch has ended it.
bool launch_failed();

// ---- For the extension functions ----------------------------------------------------------------

double time_limit();
void set_time_limit(double seconds);
std::uint64_t launch_count();
std::uint64_t failed_launch_count();
std::uint64_t task_count();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LAUNCH_H_
