// Exceptions of kernels: they end with the kernel, as findings.
#ifndef MLUSIM_MACHINE_EXCEPTION_H_
#define MLUSIM_MACHINE_EXCEPTION_H_

namespace mlusim {

// What a C++ runtime keeps of a thread: the exceptions whose handlers run, and how many others are on their way. All cores run on one
// thread, and each has its own.
struct Exceptions {
  void *handled = nullptr;
  unsigned int thrown = 0;
};

// Where a C++ runtime keeps them for this thread; null is that of this library.
using ExceptionsOf = void *(*)();

// Makes these the exceptions of this thread, and returns those that it had.
Exceptions change_exceptions(ExceptionsOf runtime, const Exceptions &next);

// On a core: ends the launch because the kernel did what `message` says, a complete sentence.
[[noreturn]] void end_kernel(const char *message, const void *pc);

// Makes std::terminate() on a core end its launch. Elsewhere it goes on to the handler that was there before.
void ensure_terminate_handler();

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_EXCEPTION_H_
