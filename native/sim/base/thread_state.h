// What the simulator keeps for each thread.
//
// Where a library is loaded at run time, the memory of its thread-local variables is allocated when a thread first uses them, and the
// process is ended if there is none. So each thread has only a few words, in the memory that it has from its start; texts lie on the
// heap, and a thread that finds no memory there does without.
#ifndef MLUSIM_BASE_THREAD_STATE_H_
#define MLUSIM_BASE_THREAD_STATE_H_

#include <cstddef>
#include <cstdint>

#include "cnrt.h"
#include "mlusim/host_call.h"

namespace mlusim {

// What a thread of this process does for queues.
enum class Role {
  kHost,      // nothing: it belongs to the program
  kDevice,    // it is the device
  kFunctions  // it runs functions of the host
};

// The work of the host, in the order in which work is queued: later than any.
constexpr std::uint64_t kHostUser = UINT64_MAX - 1;

constexpr std::size_t kExplanationBytes = 512;

// Texts that a thread was given; they live until it ends.
struct ThreadTexts {
  char explanation[kExplanationBytes];
  char *report;  // from malloc
};

struct ThreadState {
  Role role = Role::kHost;
  cnrtRet_t last_error = cnrtSuccess;
  int device_uses = 0;
  std::uint64_t heap_user = kHostUser;  // the number of the work that it does
  ThreadTexts *texts = nullptr;         // null until the first one
  HostCall host_call = {};
};

ThreadState &thread_state();

// The texts of this thread; null if there is no memory for them.
ThreadTexts *thread_texts();

// Starts a thread that is never joined; false if the system has no memory or no thread to give.
bool start_thread(Role role, void *(*run)(void *), void *argument);

}  // namespace mlusim

#endif  // MLUSIM_BASE_THREAD_STATE_H_
