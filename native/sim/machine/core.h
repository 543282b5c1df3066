// A core of the simulated device: a fiber that runs one task at a time.
#ifndef MLUSIM_MACHINE_CORE_H_
#define MLUSIM_MACHINE_CORE_H_

#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "machine/copy.h"
#include "machine/cxx_runtime.h"
#include "machine/exception.h"
#include "machine/memory.h"

namespace mlusim {

constexpr int kMpuCoreId = 0x80;

// Of a core's stack, for the simulator's own functions.
constexpr std::size_t kStackReserve = 16 * 1024;

// The units of a core that work at the same time. What one does is ordered; what two do is ordered by a sync only, but for
// scalar and compute, which the core keeps in program order.
enum Agent : std::uint8_t {
  kScalar = 0,
  kCompute = 1,
  kIo = 2,    // asynchronous copies with an end in GDRAM or LDRAM
  kMove = 3,  // asynchronous copies between on-chip memories
  kAgents = 4
};

enum AgentMask : unsigned {
  kWaitCompute = 1u << kCompute,
  kWaitIo = 1u << kIo,
  kWaitMove = 1u << kMove,
  kWaitAll = kWaitCompute | kWaitIo | kWaitMove
};

// What a core waits for.
enum class Wait : std::uint8_t {
  kNothing,
  kClusterCores,  // __sync_all_ipu_within_cluster
  kCluster,       // __sync_cluster
  kAllCores,      // __sync_all_ipu
  kAllMpus,       // __sync_all_mpu
  kAll,           // __sync_all
  kLock,          // __bang_lock
};

// A scalar store that is undone once it has happened; see missing_memory.h.
struct UndoneStore {
  char *place = nullptr;  // null: there is none
  std::vector<char> before;
  bool read_since = false;
};

struct Core {
  // Where the core is; the same for every launch.
  int place =
      0;  // number among all cores and memory cores: cluster * (cores_per_cluster + 1) + core, the memory core last
  int number = -1;                // number among the compute cores; -1 for a memory core
  int core_id = 0;                // coreId: kMpuCoreId for a memory core
  int cluster = 0;                // clusterId
  Range nram, wram, sram, stack;  // those of a memory core: its scratch, which only scalar code reaches
  bool scratch_open = false;

  // What it runs.
  int task_id = 0;
  int task_x = 0, task_y = 0, task_z = 0;
  std::uint32_t serial = 0;           // number of this run within the launch, memory cores included
  unsigned long long run_number = 0;  // number of this run within the process, from 1
  std::uint64_t random_numbers = 0;   // that __bang_rand drew in this run
  bool finished = true;

  // What it waits for, and since which instruction.
  Wait wait = Wait::kNothing;
  const void *wait_pc = nullptr;
  const char *wait_name = "";
  int wait_lock = 0;

  // Asynchronous copies that no sync has completed, by agent; oldest first. Those of kMove have happened, and are there for observers
  // only.
  std::vector<PendingCopy> pending[kAgents];

  // Whether it waits for a pipe only because a synchronous copy goes through it.
  bool implied_wait = false;

  unsigned polls = 0;  // of memory, in this run

  // Of a memory core: whether it has read NRAM or WRAM since its last barrier, and its store since then.
  bool read_missing = false;
  UndoneStore undone_store;

  // The intrinsic that it called last, from where, and the how manyth call that is.
  const char *intrinsic = "";
  const void *intrinsic_pc = nullptr;
  std::uint64_t calls = 0;

  ucontext_t context = {};
  Exceptions exceptions;  // while it does not run
  ExceptionsOf exceptions_of = nullptr;
  Constructions constructions;
  void *asan_state = nullptr;  // of the address sanitizer
  // A kernel that has come so far down must not call the simulator: in the middle of its functions a launch cannot be ended safely.
  const char *stack_limit = nullptr;
  char *room = nullptr;  // where what is open below the stack begins, if any is
  bool started = false;  // `context` is that of a fiber that goes on with the next run when resumed

  bool is_mpu() const { return core_id == kMpuCoreId; }
  bool is_scratch(const void *address) const { return is_mpu() && (nram.holds(address) || wram.holds(address)); }
};

// The core that runs on this thread; null on every other thread and between launches.
Core *current_core();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_CORE_H_
