// Finds moves and computations whose results nobody reads, and outputs that nobody writes. They
// point to a wrong size, place or operand where each access is legal by itself. All rules are
// remarks and off by default: kernels that read part of a table, or compute on padding, break them
// too.
#ifndef MLUSIM_CHECK_UNUSED_H_
#define MLUSIM_CHECK_UNUSED_H_

#include "machine/observer.h"

namespace mlusim {

Observer &unused_checker();

// Whether any of its rules is on.
bool unused_is_on();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_UNUSED_H_
