// __sync_*, __bang_lock, __bang_unlock.
#include "mlusim/sync.h"

#include "intrinsics/operand.h"
#include "machine/model.h"

namespace mlusim {
namespace {

// Returns the pipe of copies between on-chip memories. Pipes work in order, so a wait for one
// direction is a wait for its pipe. Devices of the 2xx family have one pipe for all asynchronous
// copies.
unsigned pipe_between_chip_memories() { return device().arch >= 300 ? kWaitMove : kWaitIo; }
// Returns the pipe of copies within NRAM; on 2xx they are compute instructions.
unsigned pipe_within_nram() { return device().arch >= 300 ? kWaitMove : kWaitCompute; }

void wait(const Call &call, unsigned agents) { wait_for(call.core, agents, call.pc); }
void meet(const Call &call, Wait kind) { wait_at_barrier(call.core, kind, call.name, call.pc); }

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_WAIT(name, agents) \
  void name() { mlusim::wait(MLUSIM_CALL(#name), agents); }
#define MLUSIM_DEFINE_BARRIER(name, kind) \
  void name() { mlusim::meet(MLUSIM_CALL(#name), mlusim::Wait::kind); }

MLUSIM_DEFINE_WAIT(__sync, mlusim::kWaitAll)
MLUSIM_DEFINE_WAIT(__sync_io_move_compute, mlusim::kWaitAll)
MLUSIM_DEFINE_WAIT(__sync_io, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_move, mlusim::kWaitMove)
MLUSIM_DEFINE_WAIT(__sync_compute, mlusim::kWaitCompute)
MLUSIM_DEFINE_WAIT(__sync_copy_dram_to_nram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_dram_to_wram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_dram_to_sram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_nram_to_dram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_wram_to_dram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_sram_to_dram, mlusim::kWaitIo)
MLUSIM_DEFINE_WAIT(__sync_copy_nram_to_nram, mlusim::pipe_within_nram())
MLUSIM_DEFINE_WAIT(__sync_copy_nram_to_sram, mlusim::pipe_between_chip_memories())
MLUSIM_DEFINE_WAIT(__sync_copy_wram_to_sram, mlusim::pipe_between_chip_memories())
MLUSIM_DEFINE_WAIT(__sync_copy_sram_to_nram, mlusim::pipe_between_chip_memories())
MLUSIM_DEFINE_WAIT(__sync_copy_sram_to_wram, mlusim::pipe_between_chip_memories())
MLUSIM_DEFINE_WAIT(__sync_copy_sram_to_sram, mlusim::pipe_between_chip_memories())

// The whole core waits, which includes the named pipes.
void __sync_io_move_compute(bool wait_io, bool wait_move, bool wait_compute, bool block_io, bool block_move,
                            bool block_compute) {
  const mlusim::Call call = MLUSIM_CALL("__sync_io_move_compute");
  if (!block_io && !block_move && !block_compute) return;
  mlusim::wait(call, (wait_io ? mlusim::kWaitIo : 0u) | (wait_move ? mlusim::kWaitMove : 0u) |
                         (wait_compute ? mlusim::kWaitCompute : 0u));
}

MLUSIM_DEFINE_BARRIER(__sync_cluster, kCluster)
MLUSIM_DEFINE_BARRIER(__sync_all, kAll)
MLUSIM_DEFINE_BARRIER(__sync_all_ipu, kAllCores)
MLUSIM_DEFINE_BARRIER(__sync_all_mpu, kAllMpus)
MLUSIM_DEFINE_BARRIER(__sync_all_ipu_within_cluster, kClusterCores)

void __bang_lock(int lock_id_0, int lock_id_1) {
  const mlusim::Call call = MLUSIM_CALL("__bang_lock");
  mlusim::take_lock(call.core, lock_id_0, call.pc);
  if (lock_id_1 != lock_id_0) mlusim::take_lock(call.core, lock_id_1, call.pc);
}

void __bang_unlock(int lock_id_0, int lock_id_1) {
  const mlusim::Call call = MLUSIM_CALL("__bang_unlock");
  if (lock_id_1 != lock_id_0) mlusim::release_lock(call.core, lock_id_1, call.pc);
  mlusim::release_lock(call.core, lock_id_0, call.pc);
}
