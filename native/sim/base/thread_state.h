// The state that the simulator keeps for each thread.
//
// If a library is loaded at run time, the loader allocates its thread-local variables when a thread
// first uses them, and ends the process if memory is short. Each thread therefore has only a few
// words, which belong to its storage from the start. Texts lie on the heap; a thread that cannot
// allocate them works without.
#ifndef MLUSIM_BASE_THREAD_STATE_H_
#define MLUSIM_BASE_THREAD_STATE_H_

#include <cstddef>
#include <cstdint>

#include "cnrt.h"
#include "mlusim/host_call.h"

namespace mlusim {

// The part that a thread plays in running queues.
enum class Role {
  kHost,      // none: it belongs to the program
  kDevice,    // it is the device
  kFunctions  // it runs functions of the host
};

// The number of the host's work in the order of queueing: it follows all other work.
constexpr std::uint64_t kHostUser = UINT64_MAX - 1;

constexpr std::size_t kExplanationBytes = 512;

// The texts kept for a thread; they live until the thread ends.
struct ThreadTexts {
  char explanation[kExplanationBytes];
  char *report;  // from malloc
};

struct ThreadState {
  Role role = Role::kHost;
  cnrtRet_t last_error = cnrtSuccess;
  int device_uses = 0;
  int device = 0;                       // the number of its device
  std::uint64_t heap_user = kHostUser;  // the number of the work that this thread does
  ThreadTexts *texts = nullptr;         // null until the first one
  HostCall host_call = {};
  const void *handing_on = nullptr;  // the frame that hands a signal on to the handler of somebody else
  const char *called = nullptr;      // the function that a program called, if one of another name does its work
};

ThreadState &thread_state();

// Returns the texts of this thread; null if memory for them is short.
ThreadTexts *thread_texts();

// Starts a thread that is never joined; false if the system has no memory or refuses the thread.
bool start_thread(Role role, void *(*run)(void *), void *argument);

}  // namespace mlusim

#endif  // MLUSIM_BASE_THREAD_STATE_H_
