#include "base/fork.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace mlusim {
namespace {

std::atomic<ForkMutex *> g_mutexes{nullptr};  // the newest first
ForkHooks g_hooks = {};
std::atomic<const ForkHooks *> g_active_hooks{nullptr};

// The mutexes that the current fork() holds.
ForkMutex *g_held = nullptr;
const ForkHooks *g_held_hooks = nullptr;

}  // namespace

struct ForkHandlers {
  static void before() {
    g_held_hooks = g_active_hooks;
    if (g_held_hooks != nullptr) g_held_hooks->before();
    while (!lock_all()) sched_yield();
  }

  // Takes all mutexes or none: a thread that holds one may be about to take another.
  static bool lock_all() {
    g_held = g_mutexes;
    for (ForkMutex *mutex = g_held; mutex != nullptr; mutex = mutex->next_) {
      if (mutex->mutex_.try_lock()) continue;
      for (ForkMutex *held = g_held; held != mutex; held = held->next_) held->mutex_.unlock();
      return false;
    }
    return true;
  }

  static void unlock_all() {
    for (ForkMutex *mutex = g_held; mutex != nullptr; mutex = mutex->next_) mutex->mutex_.unlock();
  }

  static void in_parent() {
    unlock_all();
    if (g_held_hooks != nullptr) g_held_hooks->after_in_parent();
  }

  static void in_child() {
    unlock_all();
    if (g_held_hooks != nullptr) g_held_hooks->after_in_child();
  }
};

ForkMutex::ForkMutex() {
  static const int registered = pthread_atfork(ForkHandlers::before, ForkHandlers::in_parent, ForkHandlers::in_child);
  (void)registered;
  next_ = g_mutexes;
  while (!g_mutexes.compare_exchange_weak(next_, this)) {
  }
}

void set_fork_hooks(const ForkHooks &hooks) {
  g_hooks = hooks;
  g_active_hooks = &g_hooks;
}

}  // namespace mlusim
