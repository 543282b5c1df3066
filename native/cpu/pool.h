// The thread pool of the CPU target: fork-join, started on first use, safe across fork(), not
// joined at exit.
#ifndef MLUOPS_CPU_POOL_H_
#define MLUOPS_CPU_POOL_H_

#include <cstdint>

#include "cpu/call.h"

namespace mluops {

// `slot` is below the number of threads and unique among calls that run concurrently.
using RangeFunction = void (*)(void *context, int slot, std::int64_t begin, std::int64_t end);

// Creates the pool, without threads.
void prepare_pool();

// Calls of the main thread with this number of threads use the team instead of the pool's threads;
// NULL for none. A team has no effect in the child of a fork, not even if the library was loaded
// there.
void set_team(mluopsExtTeam team, int threads);

// Calls function(context, slot, begin, end) for pieces that cover [0, count), each of about `grain`
// indices or more, and returns when all are done. The caller takes part. The assignment of pieces
// to threads and the cuts are unspecified, so results must not depend on them. A thread starts with
// the same part in each call, whose data may still be in its caches. Nested calls run serially. The
// function must not throw. If the call is interrupted, pieces that have not started are skipped and
// the output is incomplete.
void run_parallel(std::int64_t count, std::int64_t grain, RangeFunction function, void *context);

// The same, one index at a time, with slots below `slots`.
void run_in_slots(std::int64_t count, std::int64_t slots, RangeFunction function, void *context);

template <typename Body>
inline void parallel_for(std::int64_t count, std::int64_t grain, Body &body) {
  run_parallel(
      count, grain,
      [](void *context, int, std::int64_t begin, std::int64_t end) { (*static_cast<Body *>(context))(begin, end); },
      &body);
}

}  // namespace mluops

#endif  // MLUOPS_CPU_POOL_H_
