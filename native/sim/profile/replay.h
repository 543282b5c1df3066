// The modelled timeline of a launch.
#ifndef MLUSIM_PROFILE_REPLAY_H_
#define MLUSIM_PROFILE_REPLAY_H_

#include "profile/data.h"

namespace mlusim {

// Runs the records of all cores through the time model, and fills in events, busy and waiting
// times, and the estimate.
//
// Each core goes through its records in order. An instruction enters the queue of its pipe, and the
// core goes on; the pipes of a core work in parallel, each on one instruction at a time. A
// synchronous copy waits for the core's computations, and blocks the core until it is done. Syncs
// wait for pipes, barriers for cores. Copies off chip share the bandwidth of the device, and that
// of their cluster, in equal parts; the latency of a copy overlaps with the flow of the copy before
// it.
void make_timeline(LaunchProfile *profile);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_REPLAY_H_
