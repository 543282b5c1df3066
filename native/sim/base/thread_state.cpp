#include "base/thread_state.h"

#include <pthread.h>
#include <signal.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <new>

namespace mlusim {
namespace {

thread_local ThreadState state __attribute__((tls_model("initial-exec"))) = {};

// Serves threads that first need texts when memory has run out: the text may report exactly that.
struct Reserve {
  std::atomic<bool> taken;
  ThreadTexts texts;
};
Reserve g_reserves[32];

ThreadTexts *take_reserve() {
  for (Reserve &reserve : g_reserves) {
    if (!reserve.taken.exchange(true, std::memory_order_acquire)) return &reserve.texts;
  }
  return nullptr;
}

void give_back(void *given) {
  auto *texts = static_cast<ThreadTexts *>(given);
  std::free(texts->report);
  texts->report = nullptr;
  for (Reserve &reserve : g_reserves) {
    if (texts == &reserve.texts) return reserve.taken.store(false, std::memory_order_release);
  }
  std::free(texts);
}

// The key whose destructor frees the texts of a thread that ends.
struct Key {
  pthread_key_t key = 0;
  bool made = false;
};

const Key &texts_key() {
  static const Key key = [] {
    Key made;
    made.made = pthread_key_create(&made.key, [](void *texts) {
                  state.texts = nullptr;  // later destructors of this thread may ask for texts again
                  give_back(texts);
                }) == 0;
    return made;
  }();
  return key;
}

[[maybe_unused]] const Key &g_made_early = texts_key();  // a low key needs no memory to be set

struct Start {
  Role role;
  void *(*run)(void *);
  void *argument;
};

void *run_thread(void *argument) {
  const Start start = *static_cast<Start *>(argument);
  delete static_cast<Start *>(argument);
  state.role = start.role;
  return start.run(start.argument);
}

}  // namespace

ThreadState &thread_state() { return state; }

ThreadTexts *thread_texts() {
  if (state.texts != nullptr) return state.texts;
  const Key &key = texts_key();
  auto *made = static_cast<ThreadTexts *>(std::malloc(sizeof(ThreadTexts)));
#ifdef __SANITIZE_ADDRESS__
  // At the exit of a forked child LeakSanitizer does not see the storage of threads that it could
  // not stop.
  if (made != nullptr) __lsan_ignore_object(made);
#endif
  if (made == nullptr) made = take_reserve();
  if (made == nullptr) return nullptr;
  made->explanation[0] = '\0';
  made->report = nullptr;
  if (!key.made || pthread_setspecific(key.key, made) != 0) {
    give_back(made);
    return nullptr;
  }
  state.texts = made;
  return made;
}

bool start_thread(Role role, void *(*run)(void *), void *argument) {
  Start *const start = new (std::nothrow) Start{role, run, argument};
  pthread_attr_t attributes;
  if (start == nullptr || pthread_attr_init(&attributes) != 0) {
    delete start;
    return false;
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t others, before;
  sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&others, fault);
  pthread_sigmask(SIG_SETMASK, &others, &before);  // signals belong to the threads of the program
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run_thread, start) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!started) delete start;
  return started;
}

}  // namespace mlusim
