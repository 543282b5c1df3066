// What makes fork() safe: the child finds every lock free and everything that they guard whole.
#ifndef MLUSIM_BASE_FORK_H_
#define MLUSIM_BASE_FORK_H_

#include <mutex>

namespace mlusim {

// A mutex that a fork holds while it happens. It must never be destroyed, and is for short work only: a fork waits for it.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex &) = delete;
  ForkMutex &operator=(const ForkMutex &) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkHandlers;
  std::mutex mutex_;
  ForkMutex *next_ = nullptr;
};

// Called around a fork: before all mutexes are taken, and after all were given back. They can be set once.
struct ForkHooks {
  void (*before)();
  void (*after_in_parent)();
  void (*after_in_child)();
};
void set_fork_hooks(const ForkHooks &hooks);

}  // namespace mlusim

#endif  // MLUSIM_BASE_FORK_H_
