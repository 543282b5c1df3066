// Which checkers watch launches.
#ifndef MLUSIM_CHECK_CHECKS_H_
#define MLUSIM_CHECK_CHECKS_H_

#include <cstdint>
#include <string>

#include "machine/observer.h"

namespace mlusim {

// Checkers as bits of mlusimCheck_t. At the start of the process those that PYMLUOPS_SIM_CHECK names; none without it.
std::uint32_t checks();
void set_checks(std::uint32_t checks);

// "memory,init" as bits, see mlusimSetChecksByName(). False if a word is not a name: it is left in `*unknown`, and `*checks` is what the
// others stand for.
bool parse_checks(const std::string &text, std::uint32_t *checks, std::string *unknown);

// For the launch that starts now, on the device's thread; device memory is there.
void choose_observers(Observers *observers);

// To be called whenever device memory is about to be given out: the shadow of initialised bytes starts with it, or takes for written
// what was allocated while it was not kept; and freed places rest if uses of them are to be found.
// They are about to be watched by these checkers.
void prepare_memory(std::uint32_t checks);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_CHECKS_H_
