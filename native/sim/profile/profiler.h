// The observer that makes profiles. Like a checker it receives all events of a launch. Only
// launches that belong to a profile have it.
#ifndef MLUSIM_PROFILE_PROFILER_H_
#define MLUSIM_PROFILE_PROFILER_H_

#include "machine/observer.h"

namespace mlusim {

Observer &profiler();

// Chooses the active checkers, and the profiler if the launch that starts now belongs to a profile.
void choose_all_observers(Observers *observers);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_PROFILER_H_
