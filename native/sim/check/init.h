// Finds bytes that are used before they were written.
//
// Intrinsics copy the shadow of initialised bytes along with the data, so a kernel may compute on
// undefined bytes and copy them within a core. The checker reports undefined bytes that leave the
// core for GDRAM or SRAM, that scalar code loads, that an atomic takes, or that determine addresses
// or sizes of an instruction (need_initialised).
#ifndef MLUSIM_CHECK_INIT_H_
#define MLUSIM_CHECK_INIT_H_

#include "machine/observer.h"

namespace mlusim {

Observer &init_checker();

// Reports undefined bytes in an operand that determines positions. `role` names the operand, for
// example "offsets". Does nothing if no shadow is kept.
void need_initialised(const Core &core, const Region &region, const char *role, const char *name, const void *pc);

// The same for a bit mask; the instruction uses its first `count` bits.
void need_initialised_bits(const Core &core, const Region &mask, std::int64_t count, const char *name, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_INIT_H_
