// Stores of a memory core that has read NRAM or WRAM, which it does not have: it is on a path for compute cores, which no __is_mpu() test
// keeps it from. Its scalar stores to memory that others see are undone until its next barrier, so that the value of core 0 stays,
// whose task number it has.
#ifndef MLUSIM_MACHINE_MISSING_MEMORY_H_
#define MLUSIM_MACHINE_MISSING_MEMORY_H_

#include <cstddef>

#include "machine/core.h"
#include "machine/observer.h"

namespace mlusim {

// The memory core takes a value from NRAM or WRAM. May be called by a signal handler.
void note_missing_read(Core &core);

// Undoes the store before, which has happened. Called wherever another core could see it.
void undo_store(Core &core);

// The same when a scalar access follows. The copy of a structure tells of its store, then of its load, and then does both.
void undo_store_before(Core &core, Kind kind);

// A scalar access of the core is about to happen. True if it is a store that will be undone.
bool will_undo(Core &core, const void *address, std::size_t bytes, Kind kind, Space space, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MISSING_MEMORY_H_
