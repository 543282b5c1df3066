// Finds unordered accesses to the same bytes of which at least one writes.
//
// The checker asks two questions about each access. Within the core: does another unit still work
// on the bytes, with no sync between (pipes.h)? For GDRAM and SRAM: did another run access the
// bytes without happening before this access, by a barrier or lock that both took part in
// (stamps.h)? Runs of different jobs are never ordered. Atomics do not conflict with each other.
#ifndef MLUSIM_CHECK_RACE_H_
#define MLUSIM_CHECK_RACE_H_

#include "machine/observer.h"

namespace mlusim {

Observer &race_checker();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_RACE_H_
