// The observer that makes profiles. Like a checker it is told of everything that a launch does; launches without a profile do not have it.
#ifndef MLUSIM_PROFILE_PROFILER_H_
#define MLUSIM_PROFILE_PROFILER_H_

#include "machine/observer.h"

namespace mlusim {

Observer &profiler();

// The checkers that are on, and the profiler if the launch that starts now belongs to a profile.
void choose_all_observers(Observers *observers);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_PROFILER_H_
