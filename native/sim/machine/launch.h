// Runs one kernel launch, from the first task to the last.
#ifndef MLUSIM_MACHINE_LAUNCH_H_
#define MLUSIM_MACHINE_LAUNCH_H_

#include <string>
#include <vector>

#include "cnrt.h"
#include "machine/core.h"
#include "machine/memory.h"
#include "mlusim_source.h"

namespace mlusim {

// One launch as it waits in a queue.
struct Launch {
  std::string kernel;  // as written in the source
  cnrtDim3_t dim = {1, 1, 1};
  cnrtFunctionType_t type = cnrtFuncTypeBlock;
  // Calls the kernel with the arguments that lie at `arguments`; once on each core.
  void (*invoke)(const void *arguments) = nullptr;
  const Unit *unit = nullptr;  // the file that the launch stands in; null if unknown
  const void *arguments = nullptr;
  std::size_t argument_bytes = 0;
  std::uint64_t profile = 0;  // that it belongs to; 0: none
};

// Clusters of one job; 0 for Block.
inline int clusters_of(cnrtFunctionType_t type) { return static_cast<int>(type) / 4; }

// Whether the device can run such a launch; cnrtSuccess or the error of the launch call. `*reason` is a sentence.
cnrtRet_t check_launch(const Launch &launch, std::string *reason);

// Runs it to its end on this thread, which must be the device's. cnrtSuccess, or the error that ends the launch; its findings
// and report are kept then.
cnrtRet_t run_launch(const Launch &launch);

// ---- For intrinsics -----------------------------------------------------------------------------------------------------

// The running core, at an intrinsic that was called from `pc`; ends the process with a sentence if called outside a kernel (a
// device function called by the host).
Core &self(const char *intrinsic, const void *pc);

// Waits, on this core, for the agents: their pending copies happen now.
void wait_for(Core &core, unsigned agents, const void *pc);

// Waits, on this core, until all members of the barrier have arrived. In a Block task, or where the core is no member, the
// former is wait_for(kWaitAll) and the latter nothing.
void wait_at_barrier(Core &core, Wait kind, const char *name, const void *pc);

void take_lock(Core &core, int lock, const void *pc);
void release_lock(Core &core, int lock, const void *pc);

// Ends the launch because of stop_reasons(), on a core that is at `pc`.
[[noreturn]] void stop_launch(const void *pc);

// Heeds what attention() asks for at an instruction, before it does anything: may end the launch, or let other cores run.
void attend(Core &core, const void *pc);

// Lets other cores run: for kernels that poll memory.
void yield_core(Core &core);

// The running launch; null between launches. And the cores of its job.
const Launch *running_launch();
const std::vector<Core *> &running_cores();

// Whether the running launch is a Union one: it has SRAM and memory cores.
bool in_union();

// Queues an asynchronous copy and tells the observers of its accesses. Copies of the IO pipe happen when the schedule says,
// at the latest when they are waited for. Those of the move pipe happen here: kernels rely on their order with computations, so only observers notice what no sync orders.
void issue(Core &core, Agent agent, const PendingCopy &copy);

// Whether the address is among the arguments of the running launch.
bool is_argument(const void *address);

// Whether a core of the running launch has ended it.
bool launch_failed();

// ---- For the extension functions ----------------------------------------------------------------------------------------

double time_limit();
void set_time_limit(double seconds);
std::uint64_t launch_count();
std::uint64_t failed_launch_count();
std::uint64_t task_count();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_LAUNCH_H_
