// The queues behind the handles of the C interface.
#ifndef MLUSIM_RUNTIME_QUEUE_H_
#define MLUSIM_RUNTIME_QUEUE_H_

#include "runtime/scheduler.h"

namespace mlusim {

// Returns the queue of a handle, or of a number that stands for a default queue; null, with an
// error text, if there is none.
QueueRef queue_of(const char *function, cnrtQueue_t handle);

// Puts work into the queue, waits for it, and returns the queue's error.
cnrtRet_t do_in_queue(const QueueRef &queue, Task &&task);

std::uint64_t queue_count();

// Destroys the queues of the device.
void destroy_queues(int device);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_QUEUE_H_
