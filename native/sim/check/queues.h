// Races between queues: work of two queues touches the same bytes of device memory, and neither the
// host nor a notifier orders the two. The device of this simulator runs one piece of work after the
// other, so that the values are right nevertheless; a card may run both at once.
#ifndef MLUSIM_CHECK_QUEUES_H_
#define MLUSIM_CHECK_QUEUES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "machine/copy.h"
#include "machine/observer.h"
#include "machine/trap.h"

namespace mlusim {

// A vector clock: by queue, the number of the latest work that is over.
using QueueClock = std::map<std::uint64_t, std::uint64_t>;

void join(QueueClock *into, const QueueClock &from);

// One piece of work of a queue: a launch, a copy or a fill.
struct QueuedWork {
  std::uint64_t queue = 0;
  std::uint64_t number = 0;                  // in its queue
  std::shared_ptr<const QueueClock> before;  // the work that is ordered before it; null: not known
};

// The functions below run on the device's thread.

// The accesses that follow belong to this work.
void begin_queue_work(const QueuedWork &work);

// Notes an access of the work to device memory.
void note_queue_access(Kind kind, const Region &region, const char *name, const void *pc);

// The work has made its accesses. Returns whether it races with earlier work of another queue; the
// finding is then in `*text`. `name` is that of the kernel or function.
bool end_queue_work(const std::string &name, FindingText *text);

// Forgets all earlier work, or that of a queue which is no more. On any thread.
void forget_queue_work();
void forget_queue_work(std::uint64_t queue);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_QUEUES_H_
