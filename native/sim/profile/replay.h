// The modelled timeline of a launch.
#ifndef MLUSIM_PROFILE_REPLAY_H_
#define MLUSIM_PROFILE_REPLAY_H_

#include "profile/data.h"

namespace mlusim {

// Runs the records of all cores against the time model: fills in events, busy and waiting times and the estimate.
//
// Each core goes through its records in order. An instruction enters the queue of its pipe, and the core goes on; pipes of a core work side
// by side, each on one instruction after the other. A synchronous copy waits for what its core computed, and holds the core up until it
// is done. Syncs wait for pipes, barriers for cores. Copies off chip share the bandwidth of the device, and that of their cluster, in
// equal parts; the latency of one passes while the one before it flows.
void make_timeline(LaunchProfile *profile);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_REPLAY_H_
