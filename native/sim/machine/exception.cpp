#include "machine/exception.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "machine/cxx_runtime.h"
#include "machine/trap.h"
#include "mlusim/exception.h"

namespace mlusim {
namespace {

std::terminate_handler g_previous = nullptr;

// Returns the exception object that is being handled.
const void *current_object() {
  const std::exception_ptr pointer = std::current_exception();
  const void *object = nullptr;
  static_assert(sizeof pointer == sizeof object, "a pointer to the exception is all that it holds");
  std::memcpy(&object, &pointer, sizeof object);
  return object;
}

void replace_all(std::string *text, const char *part, const char *by) {
  for (std::size_t at = text->find(part); at != std::string::npos; at = text->find(part)) {
    text->replace(at, std::strlen(part), by);
  }
}

std::string name_of_type(const char *type) {
  if (type == nullptr) return "an exception of another language";
  const std::unique_ptr<char, void (*)(void *)> readable(abi::__cxa_demangle(type, nullptr, nullptr, nullptr),
                                                         std::free);
  std::string name = readable != nullptr ? readable.get() : type;
  for (const char *version : {"__cxx11::", "__1::"})
    replace_all(&name, version, "");  // inline namespaces that no source spells out
  // Made from a type by std::throw_with_nested(), of libstdc++ and of libc++.
  for (const std::string nested : {"std::_Nested_exception<", "std::__nested<"})
    if (name.compare(0, nested.size(), nested) == 0) name = name.substr(nested.size(), name.size() - nested.size() - 1);
  replace_all(&name, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  return name;
}

std::string text_of(const char *type, const char *what) {
  std::string text = name_of_type(type);
  if (what != nullptr && *what != '\0' && text != what) text += std::string(": ") + what;
  return text;
}

// Ends the launch of a core; without memory for the text, the finding has none.
[[noreturn]] void end_by(const char *did, const char *type, const char *what, const void *place) {
  FindingText text = {"machine", "exception"};
  text.pc = place;
  try {
    text.message = did + text_of(type, what);
  } catch (const std::bad_alloc &) {
    text.message.clear();
  }
  trap(std::move(text));
}

[[noreturn]] void on_terminate() {
  end_by_terminate();
  if (g_previous != nullptr) g_previous();
  std::abort();
}

}  // namespace

Exceptions change_exceptions(ExceptionsOf runtime, const Exceptions &next) {
  // The ABI defines the first fields of this structure:
  // https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html
  void *const state = runtime != nullptr ? runtime() : abi::__cxa_get_globals();
  Exceptions present;
  std::memcpy(&present.handled, state, sizeof present.handled);
  char *const count = static_cast<char *>(state) + sizeof present.handled;
  std::memcpy(&present.thrown, count, sizeof present.thrown);
  std::memcpy(state, &next.handled, sizeof next.handled);
  std::memcpy(count, &next.thrown, sizeof next.thrown);
  return present;
}

void end_kernel(const char *message, const void *pc) {
  FindingText text = {"machine", "exception"};
  text.pc = pc;
  try {
    text.message = message;
  } catch (const std::bad_alloc &) {
    text.message.clear();
  }
  trap(std::move(text));
}

void ensure_terminate_handler() {
  if (std::get_terminate() != on_terminate) g_previous = std::set_terminate(on_terminate);
}

}  // namespace mlusim

using namespace mlusim;

void mlusim_keep_exceptions_of(void *(*runtime)(void)) {
  if (Core *core = current_core()) core->exceptions_of = runtime;
}

const void *mlusim_throw_place(void) { return current_core() != nullptr ? throw_place(current_object()) : nullptr; }

void mlusim_exception_text(const char *type, const char *what, char *text, size_t size) {
  try {
    std::snprintf(text, size, "%s", text_of(type, what).c_str());
  } catch (const std::bad_alloc &) {
    std::snprintf(text, size, "%s", what != nullptr ? what : "an exception");
  }
}

void mlusim_end_by_exception(const char *type, const char *what, const void *place) {
  end_by("an exception leaves the kernel: ", type, what, place);
}

void mlusim_end_by_terminate(const char *type, const char *what, const void *place) {
  if (current_core() == nullptr) return;
  if (type == nullptr) end_kernel("std::terminate was called", place);
  end_by("std::terminate was called for an exception: ", type, what, place);
}
