#include "runtime/thread_state.h"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>
#include <memory>
#include <new>

namespace mlusim {
namespace {

struct Start : ThreadState {
  void *(*run)(void *) = nullptr;
  void *argument = nullptr;
};

// The states of threads that serve queues; null for those of the program.
pthread_key_t serving_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    // When all else of the thread has ended.
    pthread_key_create(&made, [](void *state) { delete static_cast<Start *>(static_cast<ThreadState *>(state)); });
    return made;
  }();
  return key;
}

[[maybe_unused]] const pthread_key_t g_made_early = serving_key();  // a low key needs no memory to be set

void *run_thread(void *argument) {
  auto *start = static_cast<Start *>(argument);
  pthread_setspecific(serving_key(), static_cast<ThreadState *>(start));
  return start->run(start->argument);
}

}  // namespace

ThreadState &thread_state() {
  void *serving = pthread_getspecific(serving_key());
  if (serving != nullptr) return *static_cast<ThreadState *>(serving);
  static thread_local ThreadState state;
  return state;
}

bool start_thread(Role role, void *(*run)(void *), void *argument) {
  std::unique_ptr<Start> start(new (std::nothrow) Start);
  pthread_attr_t attributes;
  if (start == nullptr || pthread_attr_init(&attributes) != 0) return false;
  start->role = role;
  start->run = run;
  start->argument = argument;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t others, before;
  sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&others, fault);
  pthread_sigmask(SIG_SETMASK, &others, &before);  // signals belong to the threads of the program
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run_thread, start.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) static_cast<void>(start.release());  // the thread's now
  return started;
}

}  // namespace mlusim
