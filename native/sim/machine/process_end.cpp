// The checked longjmp of hardened builds forbids jumps on the stack of a core.
#undef _FORTIFY_SOURCE

#include "machine/process_end.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/thread_state.h"
#include "machine/core.h"
#include "machine/exception.h"
#include "machine/fiber.h"
#include "mlusim/exception.h"
#include "mlusim_source.h"

namespace mlusim {
namespace {

// Returns the stack pointer that a jump restores. The C library stores it mangled: xor with a
// secret, then rotated. A buffer whose stack pointer is known reveals the secret.
const char *target_of(const jmp_buf here, const char *stack_here, const __jmp_buf_tag *there) {
#if defined(__x86_64__)
  constexpr int kStackPointer = 6, kRotated = 17;
#else
  constexpr int kStackPointer = 13, kRotated = 0;
#endif
  const auto mangled = [](const __jmp_buf_tag *buffer) {
    return static_cast<std::uint64_t>(buffer->__jmpbuf[kStackPointer]);
  };
  std::uint64_t difference = mangled(here) ^ mangled(there);
  if (kRotated != 0) difference = difference >> kRotated | difference << (64 - kRotated);
  return reinterpret_cast<const char *>(reinterpret_cast<std::uint64_t>(stack_here) ^ difference);
}

// The message that the C library keeps for debuggers; see its abort_msg_s.
struct FatalMessage {
  unsigned int size;
  char text[1];
};

}  // namespace

void tell_end(const char *kernel, const char *did) {
  const char *const name = kernel != nullptr ? kernel : thread_state().host_call.name;
  if (name == nullptr) return;
  char text[400];
  const char *const kind = kernel != nullptr ? "kernel" : "host function";
  const int length = std::snprintf(text, sizeof text, "mlusim: the %s %.200s %s: the process ends\n", kind, name, did);
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

const char *fatal_text() {
  static auto *const message = static_cast<FatalMessage *const *>(dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
  return message != nullptr && *message != nullptr ? (*message)->text : nullptr;
}

}  // namespace mlusim

using namespace mlusim;

namespace {

// Ends a kernel that called a function with this code. On the host it reports the call and returns.
void leave(const char *function, int code, const void *pc) {
  char text[120];
  if (current_core() != nullptr) {
    std::snprintf(text, sizeof text, "the kernel called %s(%d), which would end the process", function, code);
    end_kernel(text, pc);
  }
  std::snprintf(text, sizeof text, "called %s(%d)", function, code);
  tell_end(nullptr, text);
  thread_state().host_call.name = nullptr;  // the end is reported already
}

// Ends the process because a host function misused its caller's thread.
[[noreturn]] void end_host(const char *did) {
  tell_end(nullptr, did);
  thread_state().host_call.name = nullptr;  // the end is reported already
  std::abort();
}

void refuse_end_of_thread(const void *pc) {
  if (current_core() != nullptr) end_kernel("the kernel called pthread_exit, which would end the device's thread", pc);
  // The function runs on the caller's thread, and the caller waits for an answer.
  if (thread_state().host_call.name != nullptr) end_host("called pthread_exit on a thread that is not its own");
}

}  // namespace

void mlusim_change_host_call(const HostCall *next, HostCall *before) {
  ensure_host_handlers();
  HostCall &known = thread_state().host_call;
  *before = known;
  known = *next;
}

// The names that mlusim/process.h gives these functions.
extern "C" {

[[noreturn]] MLUSIM_API void mlusim_abort() {
  if (current_core() != nullptr) {
    end_kernel("the kernel called abort, which would end the process", __builtin_return_address(0));
  }
  std::abort();  // the handler of the signal reports the rest
}

[[noreturn]] MLUSIM_API void mlusim_exit(int code) {
  leave("exit", code, __builtin_return_address(0));
  std::exit(code);
}

[[noreturn]] MLUSIM_API void mlusim__exit(int code) {
  leave("_exit", code, __builtin_return_address(0));
  _exit(code);
}

[[noreturn]] MLUSIM_API void mlusim__Exit(int code) {
  leave("_Exit", code, __builtin_return_address(0));
  std::_Exit(code);
}

[[noreturn]] MLUSIM_API void mlusim_quick_exit(int code) {
  leave("quick_exit", code, __builtin_return_address(0));
  std::quick_exit(code);
}

[[noreturn]] MLUSIM_API void mlusim_pthread_exit(void *value) {
  refuse_end_of_thread(__builtin_return_address(0));
  pthread_exit(value);
}

void mlusim_refuse_end_of_thread(void) { refuse_end_of_thread(nullptr); }

MLUSIM_API int mlusim_fork() {
  if (current_core() != nullptr) {
    end_kernel("the kernel called fork, which would copy the process", __builtin_return_address(0));
  }
  return fork();
}

[[noreturn]] MLUSIM_API void mlusim_longjmp(__jmp_buf_tag *place, int value) {
  const char *const frame = static_cast<const char *>(__builtin_frame_address(0));
  const char *stack_here = nullptr;
#if defined(__x86_64__)
  asm volatile("mov %%rsp, %0" : "=r"(stack_here));
#else
  asm volatile("mov %0, sp" : "=r"(stack_here));
#endif
  jmp_buf here;
  if (_setjmp(here) != 0) __builtin_unreachable();
  const char *const target = target_of(here, stack_here, place);
  const Core *const core = current_core();
  const HostCall &call = thread_state().host_call;
  if (core != nullptr && (target < frame || target > core->stack.end)) {
    end_kernel("the kernel called longjmp to a function that has ended or is not its own", __builtin_return_address(0));
  }
  if (core == nullptr && call.name != nullptr && (target < frame || target > static_cast<const char *>(call.frame))) {
    end_host("called longjmp to a function that has ended or is not its own");
  }
  siglongjmp(place, value);
}

}  // extern "C"
