// The operands that the approximate functions __bang_active_* are documented for.
#ifndef MLUSIM_CHECK_DOMAIN_H_
#define MLUSIM_CHECK_DOMAIN_H_

#include <cstdint>

#include "machine/instruction.h"

namespace mlusim {

// An element of an operand as a number. `defined` becomes whether its bytes were ever written.
using ElementReader = float (*)(const void *base, std::int64_t number, bool *defined);

// Reports elements outside of the function's range, by the name of the call, if the rule is on.
// Undefined elements count as inside.
void domain_check(const Call &call, bool half, const void *src, std::int64_t count, ElementReader read);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_DOMAIN_H_
