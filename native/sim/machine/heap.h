// Device memory: what cnrtMalloc gives out of the heap range. Safe from any thread.
#ifndef MLUSIM_MACHINE_HEAP_H_
#define MLUSIM_MACHINE_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace mlusim {

struct Allocation {
  char *begin = nullptr;
  std::size_t bytes = 0;
  bool live = false;         // false: freed for its users, and its place not given out again
  bool used = false;         // lives for some work, at least
  std::uint64_t number = 0;  // counts allocations from 1
  char *end() const { return begin + bytes; }
};

// 256-byte aligned, with at least 256 bytes to each neighbour that stay unused. Null if the device's memory does not
// suffice. Contents are undefined (and their init shadow is 0); they may be those of a freed allocation.
void *heap_allocate(std::size_t bytes);

enum class Freed {
  kDone,
  kTwice,    // was freed before
  kUnknown,  // not the start of an allocation
};

// While `quarantine` is on, freed places are given out again as late as possible, so that uses after free are seen.
Freed heap_free(void *begin);
void heap_set_quarantine(bool on);

// Frees memory that work which was queued before may still use. Work is numbered by the order in which it was queued: for that
// up to `last_user` the allocation lives until heap_release(), which has to be tried again if host memory is too scarce for it;
// for later work, and for the host, it is freed.
Freed heap_condemn(void *begin, std::uint64_t last_user);
bool heap_release(void *begin);

// To be called when a thread turns to other work (see ThreadState): it may see other allocations.
void heap_user_changed();

// The allocation, living or freed, that holds the address; else the nearest one within 4096 bytes before or behind it.
bool heap_find(const void *address, Allocation *allocation);
// The living allocation that holds all of [address, address + bytes).
bool heap_holds(const void *address, std::size_t bytes);

// Changes whenever an allocation is made or freed, so that answers can be kept.
std::uint64_t heap_version();

struct HeapTotals {
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t free_bytes = 0;  // of the device's memory
};
HeapTotals heap_totals();

// Forgets everything; for a new device.
void heap_reset();

// The hull of everything that was given out since the last reset.
void heap_extent(char **begin, char **end);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_HEAP_H_
