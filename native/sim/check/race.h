// Finds accesses to the same bytes that nothing orders, of which at least one writes.
//
// Two questions are asked of each access. Within its core: does another unit, that no sync has waited for, still work on the
// bytes (pipes.h)? And for GDRAM and SRAM: was there an access of another run that does not happen before this one, by a
// barrier or a lock that both took part in (stamps.h)? Runs of different jobs are never ordered. Atomics do not conflict with
// each other.
#ifndef MLUSIM_CHECK_RACE_H_
#define MLUSIM_CHECK_RACE_H_

#include "machine/observer.h"

namespace mlusim {

Observer &race_checker();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_RACE_H_
