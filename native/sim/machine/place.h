// Names for places in memory, which are the same in every process: addresses are not.
#ifndef MLUSIM_MACHINE_PLACE_H_
#define MLUSIM_MACHINE_PLACE_H_

#include <cstdint>
#include <string>

#include "machine/heap.h"

namespace mlusim {

// "the argument x at element 1024", "the array tile of the kernel at element 3", "the allocation 2
// of 64 bytes, byte 16", "the stack of the core"; empty for what is not on the device.
std::string place_name(const void *address);

// "argument x of 64 bytes" or "arguments x and out of 64 bytes", by the launch that runs; else
// "allocation of 64 bytes made at main.cpp:12", or with its number if the line is unknown.
std::string allocation_name(const Allocation &allocation);

// Returns the memory at or next to an address, with an offset: "NRAM array 'pool' of 512 bytes,
// offset 4".
std::string describe_allocation(const void *address);

// Returns the bytes from the start of the allocation or array to an address; where there is no
// array, from the start of the memory. 0 for what is not on the device.
std::int64_t offset_in_memory(const void *address);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_PLACE_H_
