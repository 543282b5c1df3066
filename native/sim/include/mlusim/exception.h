// Exceptions that leave a kernel or a host function. The library that threw them catches them,
// because the C++ runtime of another library may not know their types.
#ifndef MLUSIM_EXCEPTION_H_
#define MLUSIM_EXCEPTION_H_

#include <cxxabi.h>

#include <cstddef>
#include <exception>
#include <typeinfo>

#include "mlusim.h"

extern "C" {
// In a handler: returns the place of the throw, as a return address; null if unknown.
MLUSIM_API const void *mlusim_throw_place(void);
// Writes "std::runtime_error: text" for a type name from `std::type_info::name`; null stands for an
// unknown part.
MLUSIM_API void mlusim_exception_text(const char *type, const char *what, char *text, size_t size);
// On a core: its kernel belongs to a library with another C++ runtime, which has this function.
MLUSIM_API void mlusim_keep_exceptions_of(void *(*runtime)(void));
// In a handler, when the thread is about to end. Returns on a thread that nobody waits for.
MLUSIM_API void mlusim_refuse_end_of_thread(void);
// On a core: ends its launch with a finding about an exception.
[[noreturn]] MLUSIM_API void mlusim_end_by_exception(const char *type, const char *what, const void *place);
// The same after std::terminate(); a null type means that there was no exception. Returns on the
// host.
MLUSIM_API void mlusim_end_by_terminate(const char *type, const char *what, const void *place);
}

#if defined(__cpp_exceptions) && !defined(__GLIBCXX__)
extern "C" void *__cxa_get_globals();
#endif

// Kernels are compiled with hooks for checkers, which would report the memory of an exception as
// foreign.
#define MLUSIM_UNCHECKED __attribute__((no_sanitize("thread")))

namespace mlusim {

// The description of an exception that remains after its handler.
struct Thrown {
  const char *type = nullptr;  // from `std::type_info::name`
  const void *place = nullptr;
  int depth = 0;  // of nested exceptions
  char what[512] = {};
  bool has_what = false;

  // Fills the description, in a handler.
  MLUSIM_UNCHECKED void take(const char *text) {
#ifdef __cpp_exceptions
    const std::type_info *const known = abi::__cxa_current_exception_type();
    if (known != nullptr) type = known->name();
    place = mlusim_throw_place();
#endif
    has_what = text != nullptr;
    if (has_what) append(text);
  }
  MLUSIM_UNCHECKED void append(const char *text) {
    std::size_t length = 0;
    while (what[length] != '\0') ++length;
    while (*text != '\0' && length + 1 < sizeof what) what[length++] = *text++;
    what[length] = '\0';
  }
  const char *text() const { return has_what ? what : nullptr; }
};

#ifdef __cpp_exceptions
inline void take_nested(const std::nested_exception &error, Thrown *thrown);
#endif

// Calls `call`; returns false if an exception ended it, with the description in `*thrown`.
template <typename Call>
MLUSIM_UNCHECKED bool call_and_catch(const Call &call, [[maybe_unused]] Thrown *thrown) {
#ifdef __cpp_exceptions
  try {
    call();
    return true;
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) {  // the end of a thread
    mlusim_refuse_end_of_thread();
    throw;
#endif
  } catch (const std::exception &error) {
    thrown->take(error.what());
#ifdef __cpp_rtti
    if (const auto *nested = dynamic_cast<const std::nested_exception *>(&error)) take_nested(*nested, thrown);
#endif
  } catch (const std::nested_exception &error) {
    thrown->take("");
    take_nested(error, thrown);
  } catch (const char *text) {
    thrown->take(text);
  } catch (...) {
    thrown->take(nullptr);
  }
  return false;
#else
  call();
  return true;
#endif
}

#ifdef __cpp_exceptions
// Adds the text of the exception that this one nests.
MLUSIM_UNCHECKED inline void take_nested(const std::nested_exception &error, Thrown *thrown) {
  constexpr int kMostNested = 4;
  Thrown cause;
  cause.depth = thrown->depth + 1;
  if (cause.depth > kMostNested || error.nested_ptr() == nullptr) return;
  call_and_catch([&error] { error.rethrow_nested(); }, &cause);
  char text[sizeof cause.what];
  mlusim_exception_text(cause.type, cause.text(), text, sizeof text);
  const bool alone = thrown->what[0] == '\0';
  thrown->append(alone ? "nested: " : " (nested: ");
  thrown->append(text);
  if (!alone) thrown->append(")");
}
#endif

// Calls a kernel on a core.
template <typename Call>
void call_kernel(const Call &call) {
#if defined(__cpp_exceptions) && !defined(__GLIBCXX__)
  mlusim_keep_exceptions_of(__cxa_get_globals);
#endif
  Thrown thrown;
  if (!call_and_catch(call, &thrown)) mlusim_end_by_exception(thrown.type, thrown.text(), thrown.place);
}

// Runs in the handler of std::terminate(). Returns on the host.
inline void end_by_terminate() {
  Thrown thrown;
#ifdef __cpp_exceptions
  if (std::current_exception() != nullptr) call_and_catch([] { throw; }, &thrown);
#endif
  mlusim_end_by_terminate(thrown.type, thrown.text(), thrown.place);
}

#ifndef __GLIBCXX__
// A C++ runtime other than libmlusim's needs a handler of its own.
struct TerminateHandler {
  static inline const std::terminate_handler before = std::set_terminate([] {
    end_by_terminate();
    before();
  });
};
[[maybe_unused]] inline const std::terminate_handler &terminate_handler_before = TerminateHandler::before;
#endif

}  // namespace mlusim

#undef MLUSIM_UNCHECKED

#endif  // MLUSIM_EXCEPTION_H_
