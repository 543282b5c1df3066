// Undoes stores of a memory core that has read NRAM or WRAM, which it lacks: it runs code for
// compute cores, because no __is_mpu() test keeps it out. It has the task number of core 0 and
// would overwrite that core's values. Its scalar stores to shared memory are therefore undone until
// its next barrier.
#ifndef MLUSIM_MACHINE_MISSING_MEMORY_H_
#define MLUSIM_MACHINE_MISSING_MEMORY_H_

#include <cstddef>

#include "machine/core.h"
#include "machine/observer.h"

namespace mlusim {

// Notes that the memory core reads a value from NRAM or WRAM. A signal handler may call it.
void note_missing_read(Core &core);

// Undoes the previous store, which has happened. Called wherever another core could see it.
void undo_store(Core &core);

// The same, when a scalar access follows. A copy of a structure announces its store, then its load,
// and then performs both. Until the store is undone, no other core may run.
void undo_store_before(Core &core, Kind kind);

// Called before a scalar access of the core. True if it is a store that will be undone.
bool will_undo(Core &core, const void *address, std::size_t bytes, Kind kind, Space space, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MISSING_MEMORY_H_
