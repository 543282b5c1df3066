// The function that a wait asks whether to go on.
#ifndef MLUSIM_RUNTIME_INTERRUPT_H_
#define MLUSIM_RUNTIME_INTERRUPT_H_

#include "mlusim.h"

namespace mlusim {

mlusimInterruptCheck_t interrupt_check();

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_INTERRUPT_H_
