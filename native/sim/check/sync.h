// Finds asynchronous copies that no sync waits for; the end of a task completes them. The machine
// itself finds barriers that never complete.
#ifndef MLUSIM_CHECK_SYNC_H_
#define MLUSIM_CHECK_SYNC_H_

#include "machine/observer.h"

namespace mlusim {

Observer &sync_checker();

}  // namespace mlusim

#endif  // MLUSIM_CHECK_SYNC_H_
