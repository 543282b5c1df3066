// Device memory as the host sees it: what may be used of it, and what is told about what may not.
#ifndef MLUSIM_RUNTIME_MEMORY_H_
#define MLUSIM_RUNTIME_MEMORY_H_

#include <cstddef>
#include <string>

#include "cnrt.h"

namespace mlusim {

// Makes the device's memory, if it is not there yet, as the checkers that are on want it. False if the system refuses.
bool prepare_device_memory();

// Whether the address belongs to the device: its heap, memories on chip, or what lies between.
bool of_device(const void *address);

// What the host's code did wrong with `pointer`: becomes the thread's sentence and, if the memory checker is on, a finding.
cnrtRet_t blame_host(const char *function, const char *rule, const void *pointer, std::size_t bytes,
                     const std::string &sentence);

// "host memory" or a sentence about the device memory at an address.
std::string describe(const void *address);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_MEMORY_H_
