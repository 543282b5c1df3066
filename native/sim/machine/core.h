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

// Bytes of a core's stack that are reserved for the simulator's own functions.
constexpr std::size_t kStackReserve = 16 * 1024;

// The units of a core, which work at the same time. Each works in order. A sync orders two units;
// scalar and compute need none, because the core runs them in program order.
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

// The event that a core waits for.
enum class Wait : std::uint8_t {
  kNothing,
  kClusterCores,  // __sync_all_ipu_within_cluster
  kCluster,       // __sync_cluster
  kAllCores,      // __sync_all_ipu
  kAllMpus,       // __sync_all_mpu
  kAll,           // __sync_all
  kLock,          // __bang_lock
};

// A scalar store that will be undone after it has happened; see missing_memory.h.
struct UndoneStore {
  char *place = nullptr;  // null: no store is to be undone
  std::vector<char> before;
  bool read_since = false;
};

struct Core {
  // The place of the core on the device; the same for every launch.
  int place =
      0;  // number among all cores and memory cores: cluster * (cores_per_cluster + 1) + core, the memory core last
  int number = -1;                // number among the compute cores; -1 for a memory core
  int core_id = 0;                // coreId: kMpuCoreId for a memory core
  int cluster = 0;                // clusterId
  Range nram, wram, sram, stack;  // a memory core has scratch for scalar code in place of NRAM and WRAM
  bool scratch_open = false;

  // The current run of the core.
  int task_id = 0;
  int task_x = 0, task_y = 0, task_z = 0;
  std::uint32_t serial = 0;           // number of this run within the launch, memory cores included
  unsigned long long run_number = 0;  // number of this run within the process, from 1
  std::uint64_t random_numbers = 0;   // drawn by __bang_rand in this run
  bool finished = true;

  // The event that the core waits for, and the instruction that waits.
  Wait wait = Wait::kNothing;
  const void *wait_pc = nullptr;
  const char *wait_name = "";
  int wait_lock = 0;

  // Pending asynchronous copies by agent, oldest first: no sync has waited for them. Copies of
  // kMove have already happened; observers need them.
  std::vector<PendingCopy> pending[kAgents];

  // Whether the core waits for a pipe only because a synchronous copy uses it.
  bool implied_wait = false;

  unsigned polls = 0;  // of memory in this run, by instructions that poll

  // Of a memory core: whether it has read NRAM or WRAM since its last barrier, and its last store
  // since then.
  bool read_missing = false;
  UndoneStore undone_store;

  // The latest intrinsic that the core called, the address of the call, and the number of that
  // call.
  const char *intrinsic = "";
  const void *intrinsic_pc = nullptr;
  std::uint64_t calls = 0;

  ucontext_t context = {};
  Exceptions exceptions;  // its C++ exceptions while it is suspended
  ExceptionsOf exceptions_of = nullptr;
  Constructions constructions;
  void *asan_state = nullptr;  // kept for the address sanitizer
  // A kernel whose stack pointer is lower must not call the simulator: a launch cannot end safely
  // in the middle of the simulator's functions.
  const char *stack_limit = nullptr;
  char *room = nullptr;  // start of the room that was opened below the stack; null: none
  bool started = false;  // `context` holds a fiber that takes the next run when resumed

  bool is_mpu() const { return core_id == kMpuCoreId; }
  bool is_scratch(const void *address) const { return is_mpu() && (nram.holds(address) || wram.holds(address)); }
};

// Returns the core that runs on this thread; null on other threads and between launches.
Core *current_core();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_CORE_H_
