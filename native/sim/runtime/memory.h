// Device memory from the view of the host: which accesses are allowed, and the messages for the
// others.
#ifndef MLUSIM_RUNTIME_MEMORY_H_
#define MLUSIM_RUNTIME_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "cnrt.h"

namespace mlusim {

// Creates the device's memory if necessary, with the shadows that the active checkers need. False
// if the system refuses.
bool prepare_device_memory();

// Whether the address belongs to the device: its heap, its on-chip memories, or the space between.
bool of_device(const void *address);

// Reports a mistake of the host's code with `pointer`, as the thread's error text and, if the
// memory checker is on, as a finding.
cnrtRet_t blame_host(const char *function, const char *rule, const void *pointer, std::size_t bytes,
                     const std::string &sentence);

// Sets `count` elements of `size` bytes (1, 2 or 4) of device memory, when the queue reaches the
// call; unless this is `later`, the call waits for it.
cnrtRet_t set_elements(const char *function, void *pointer, std::uint32_t value, std::size_t size, std::size_t count,
                       cnrtQueue_t queue, bool later);

// Returns "host memory", or a phrase about the device memory at an address.
std::string describe(const void *address);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_MEMORY_H_
