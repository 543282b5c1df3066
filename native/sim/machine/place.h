// Names for places in memory, which are the same in every process: addresses are not.
#ifndef MLUSIM_MACHINE_PLACE_H_
#define MLUSIM_MACHINE_PLACE_H_

#include <cstdint>
#include <string>

#include "machine/heap.h"

namespace mlusim {

// "the argument x at element 1024", "the array tile of the kernel at element 3", "allocation 2 at
// byte 16", "the stack of the core"; empty for what is not on the device.
std::string place_name(const void *address);

// "argument x" or "arguments x and out", by the launch that runs; else "allocation 2".
std::string owner_name(const Allocation &allocation);

// The same with "of 4096 bytes" and, where the source is known, "made at main.cpp:12".
std::string allocation_name(const Allocation &allocation);

// Returns the memory at or next to an address, with an offset: "NRAM array 'pool' of 512 bytes,
// offset 4".
std::string describe_allocation(const void *address);

// Returns the bytes from the start of the allocation or array to an address; 0 if it is in none.
std::int64_t offset_in_memory(const void *address);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_PLACE_H_
