// What the runtime keeps for each thread.
//
// Thread-local variables of a library that was loaded later get their memory when a thread uses them for the first time, and the
// process is ended if there is none. So threads that serve queues bring their state with them when they start.
#ifndef MLUSIM_RUNTIME_THREAD_STATE_H_
#define MLUSIM_RUNTIME_THREAD_STATE_H_

#include <cstdint>

#include "cnrt.h"

namespace mlusim {

// What a thread of this process does for queues.
enum class Role {
  kHost,      // nothing: it belongs to the program
  kDevice,    // it is the device
  kFunctions  // it runs functions of the host
};

// The work of the host, in the order in which work is queued: later than any.
constexpr std::uint64_t kHostUser = UINT64_MAX - 1;

struct ThreadState {
  Role role = Role::kHost;
  cnrtRet_t last_error = cnrtSuccess;
  int device_uses = 0;
  std::uint64_t heap_user = kHostUser;  // the number of the work that it does
  char explanation[512] = "";
};

ThreadState &thread_state();

// Starts a thread that is never joined, with a state of its own; false if the system has no memory or no thread to give.
bool start_thread(Role role, void *(*run)(void *), void *argument);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_THREAD_STATE_H_
