// Device memory: the heap that cnrtMalloc allocates from. It holds the allocations of all devices,
// each of which has a limit of its own. Safe on any thread.
#ifndef MLUSIM_MACHINE_HEAP_H_
#define MLUSIM_MACHINE_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace mlusim {

struct Allocation {
  char *begin = nullptr;
  std::size_t bytes = 0;
  bool live = false;         // for the calling thread's work; false: freed, and not reused yet
  bool used = false;         // some work may still use it
  std::uint64_t number = 0;  // allocations are numbered from 1
  int device = 0;            // the number of the device that it belongs to
  const void *pc = nullptr;  // where it was asked for
  char *end() const { return begin + bytes; }
};

// Allocates memory of a device, aligned to 256 bytes, with at least 256 unused bytes to each
// neighbour. Returns null if the device's memory is short. The contents are undefined (their init
// shadow is 0); they may come from a freed allocation.
void *heap_allocate(std::size_t bytes, int device = 0, const void *pc = nullptr);

enum class Freed {
  kDone,
  kTwice,    // was already freed
  kUnknown,  // not the start of an allocation
};

// Sets the quarantine: while it is on, freed memory is reused as late as possible, so that uses
// after free are found.
Freed heap_free(void *begin);
void heap_set_quarantine(bool on);

// Frees memory that queued work may still use. Work is numbered in the order of queueing. For work
// up to `last_user` the allocation lives until heap_release(), which the caller must repeat if host
// memory is short; for later work, and for the host, it is freed at once.
Freed heap_condemn(void *begin, std::uint64_t last_user);
bool heap_release(void *begin);

// Call this when a thread turns to other work (see ThreadState): the live allocations may differ
// for it.
void heap_user_changed();

// Finds the allocation, live or freed, that holds the address; else the nearest one within 4096
// bytes.
bool heap_find(const void *address, Allocation *allocation);
// Whether one live allocation holds all of [address, address + bytes).
bool heap_holds(const void *address, std::size_t bytes);

// A number that changes with every allocation and release, so that callers can cache answers.
std::uint64_t heap_version();

struct HeapTotals {
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;
};
HeapTotals heap_totals();  // of all devices

// Returns the bytes of the device's memory that are free.
std::uint64_t heap_free_bytes(int device);

// Clears the heap for other devices.
void heap_reset();
// Frees all memory of one device.
void heap_reset(int device);

// Returns the hull of all allocations since the last reset.
void heap_extent(char **begin, char **end);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_HEAP_H_
