// Finds accesses outside the intended allocation, array or stack, and accesses to memory that a
// core cannot reach.
#ifndef MLUSIM_CHECK_MEMORY_H_
#define MLUSIM_CHECK_MEMORY_H_

#include "machine/observer.h"

namespace mlusim {

Observer &memory_checker();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_MEMORY_H_
