// Makes fork() safe: in the child every lock is free, and the data that it guards is consistent.
#ifndef MLUSIM_BASE_FORK_H_
#define MLUSIM_BASE_FORK_H_

#include <mutex>

namespace mlusim {

// A mutex that fork() holds while it copies the process. It must never be destroyed. Holders must
// be quick, because fork() waits for them.
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

// Functions called around a fork: before it takes the mutexes, and after it released them. They can
// be set once.
struct ForkHooks {
  void (*before)();
  void (*after_in_parent)();
  void (*after_in_child)();
};
void set_fork_hooks(const ForkHooks &hooks);

}  // namespace mlusim

#endif  // MLUSIM_BASE_FORK_H_
