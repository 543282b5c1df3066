// Finds bytes that are used before they were written.
//
// Intrinsics carry the shadow of initialised bytes along with the data, so computing on undefined bytes and copying them around
// within a core is allowed. Found are the uses that matter: undefined bytes that leave the core for GDRAM or SRAM, that scalar
// code loads, that an atomic takes, or that decide where or what an instruction works on (need_initialised).
#ifndef MLUSIM_CHECK_INIT_H_
#define MLUSIM_CHECK_INIT_H_

#include "machine/observer.h"

namespace mlusim {

Observer &init_checker();

// For operands that decide positions: finds undefined bytes among them. `role` tells what they are, for example "offsets".
// Nothing if no shadow is kept.
void need_initialised(const Core &core, const Region &region, const char *role, const char *name, const void *pc);

// The same for a bit mask, of which the first `count` bits are used.
void need_initialised_bits(const Core &core, const Region &mask, std::int64_t count, const char *name, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_INIT_H_
