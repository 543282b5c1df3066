// Waits of a core: for its own pipes, for other cores, for locks.
#ifndef MLUSIM_SYNC_H_
#define MLUSIM_SYNC_H_

#include "mlusim/types.h"

MLUSIM_API void __sync_compute();
MLUSIM_API void __sync_cluster();
MLUSIM_API void __sync_copy_dram_to_nram();
MLUSIM_API void __sync_copy_dram_to_wram();
MLUSIM_API void __sync_copy_dram_to_sram();
MLUSIM_API void __sync_copy_nram_to_dram();
MLUSIM_API void __sync_copy_nram_to_nram();
MLUSIM_API void __sync_copy_nram_to_sram();
MLUSIM_API void __sync_copy_wram_to_dram();
MLUSIM_API void __sync_copy_wram_to_sram();
MLUSIM_API void __sync_copy_sram_to_dram();
MLUSIM_API void __sync_copy_sram_to_nram();
MLUSIM_API void __sync_copy_sram_to_wram();
MLUSIM_API void __sync_copy_sram_to_sram();
#if MLUSIM_SINCE(320)
MLUSIM_API void __sync_all();
MLUSIM_API void __sync_all_ipu();
MLUSIM_API void __sync_all_mpu();
#endif
#if MLUSIM_SINCE(372)
MLUSIM_API void __sync();
MLUSIM_API void __sync_io();
MLUSIM_API void __sync_move();
MLUSIM_API void __sync_io_move_compute();
// The pipes of the last three flags wait for those of the first three.
MLUSIM_API void __sync_io_move_compute(bool wait_io, bool wait_move, bool wait_compute, bool block_io, bool block_move,
                                       bool block_compute);
MLUSIM_API void __sync_all_ipu_within_cluster();
#endif

// A compute core passes the same number twice, the memory core two different ones.
MLUSIM_API void __bang_lock(int lock_id_0, int lock_id_1);
MLUSIM_API void __bang_unlock(int lock_id_0, int lock_id_1);

#endif  // MLUSIM_SYNC_H_
