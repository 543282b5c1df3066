// Exceptions that leave a kernel: they end its launch as findings.
#ifndef MLUSIM_MACHINE_EXCEPTION_H_
#define MLUSIM_MACHINE_EXCEPTION_H_

namespace mlusim {

// The state that a C++ runtime keeps for each thread: the exceptions being handled, and the number
// of uncaught ones. All cores run on one thread, so each core has a copy of its own.
struct Exceptions {
  void *handled = nullptr;
  unsigned int thrown = 0;
};

// Returns the place of that state for this thread; null stands for the function of this library's
// runtime.
using ExceptionsOf = void *(*)();

// Makes `next` the exceptions of this thread, and returns the previous ones.
Exceptions change_exceptions(ExceptionsOf runtime, const Exceptions &next);

// On a core: ends the launch because of an act of the kernel that `message`, a complete sentence,
// describes.
[[noreturn]] void end_kernel(const char *message, const void *pc);

// Makes std::terminate() on a core end its launch. Elsewhere the handler that was installed before
// is called.
void ensure_terminate_handler();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_EXCEPTION_H_
