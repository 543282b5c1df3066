// Chooses the checkers that watch launches.
#ifndef MLUSIM_CHECK_CHECKS_H_
#define MLUSIM_CHECK_CHECKS_H_

#include <cstdint>
#include <string>

#include "machine/observer.h"

namespace mlusim {

// Returns the active checkers as bits of mlusimCheck_t. At the start of the process those are the
// checkers named in PYMLUOPS_SIM_CHECK; none without the variable.
std::uint32_t checks();
void set_checks(std::uint32_t checks);

// Parses "memory,init" into bits, see mlusimSetChecksByName(). Returns false if a word is not a
// name: `*unknown` is then that word, and `*checks` holds the bits of the other words.
bool parse_checks(const std::string &text, std::uint32_t *checks, std::string *unknown);

// Chooses the observers of the launch that starts now. Runs on the device's thread, once device
// memory exists.
void choose_observers(Observers *observers);

// Prepares device memory for these checkers. Call it before every allocation. It creates the shadow
// of initialised bytes if a checker needs it; allocations made while no shadow was kept count as
// written. If uses after free are to be found, freed blocks are reused as late as possible.
void prepare_memory(std::uint32_t checks);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_CHECKS_H_
