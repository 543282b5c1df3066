// The thread pool of the CPU target: fork-join, started when first needed, safe across fork(), never joined at exit.
#ifndef MLUOPS_CPU_POOL_H_
#define MLUOPS_CPU_POOL_H_

#include <cstdint>

#include "cpu/call.h"

namespace mluops {

// `slot` is a number below that of the threads, which no two calls that run at the same time share.
using RangeFunction = void (*)(void *context, int slot, std::int64_t begin, std::int64_t end);

// Makes the pool, without threads.
void prepare_pool();

// Calls function(context, slot, begin, end) for pieces that cover [0, count), each of about `grain` indices or more, and returns
// when all are done. The caller takes part. Which thread runs a piece, and where pieces are cut, is not defined: a result must not
// depend on it. Yet a thread begins where it began the last time, so that it finds in its caches what it left there. Inside
// such a call a nested one runs serially. The function must not throw. When the call of the operator is interrupted, the pieces that
// nobody has begun are left out: whatever the pieces were to produce is incomplete then.
void run_parallel(std::int64_t count, std::int64_t grain, RangeFunction function, void *context);

// The same one index at a time, with slots below `slots`.
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
