// Finds data that was moved or computed for nothing, and outputs that nobody wrote: signs of a wrong size, place or operand where every
// access by itself is legal. All its rules are remarks and off unless asked for: kernels that read a table in part, or compute on
// padding, break them too.
#ifndef MLUSIM_CHECK_UNUSED_H_
#define MLUSIM_CHECK_UNUSED_H_

#include "machine/observer.h"

namespace mlusim {

Observer &unused_checker();

// Whether one of its rules is on.
bool unused_is_on();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_UNUSED_H_
