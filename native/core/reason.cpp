#include "core/reason.h"

#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mluops {
namespace {

// The last reasons of the threads. Reporting that memory is exhausted must not allocate. In a
// library loaded at run time, large thread-local variables are allocated on first use, and a
// failure aborts the process: so a thread stores only a pointer, in its initial TLS block.
constexpr std::size_t kCapacity = 768;

thread_local char *reason __attribute__((tls_model("initial-exec"))) = nullptr;

// For threads whose first reason occurs when memory is exhausted.
struct Reserve {
  std::atomic<bool> taken;
  char text[kCapacity];
};
Reserve reserves[32];

void give_back(void *text) {
  for (Reserve &reserve : reserves) {
    if (text == reserve.text) return reserve.taken.store(false, std::memory_order_release);
  }
  std::free(text);
}

char *take_reserve() {
  for (Reserve &reserve : reserves) {
    if (!reserve.taken.exchange(true, std::memory_order_acquire)) return reserve.text;
  }
  return nullptr;
}

// Key whose destructor frees the buffer of a thread that ends.
pthread_key_t owned_text;
pthread_once_t key_is_made = PTHREAD_ONCE_INIT;
bool has_key = false;

// The thread's buffer; NULL if there is none.
char *buffer() {
  if (reason != nullptr) return reason;
  pthread_once(&key_is_made, [] { has_key = pthread_key_create(&owned_text, give_back) == 0; });
  char *made = static_cast<char *>(std::malloc(kCapacity));
  if (made == nullptr) made = take_reserve();
  if (made == nullptr) return nullptr;
  if (!has_key || pthread_setspecific(owned_text, made) != 0) {
    give_back(made);
    return nullptr;
  }
  made[0] = '\0';
  reason = made;
  return made;
}

}  // namespace

Text::Text(const char *text) { std::snprintf(data_, sizeof data_, "%s", text); }

Text Text::format(const char *pattern, ...) {
  Text text;
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text.data_, sizeof text.data_, pattern, arguments);
  va_end(arguments);
  return text;
}

mluOpStatus_t refuse(mluOpStatus_t status, const char *function, const char *argument, const Text &expected,
                     const Text &found) {
  if (char *const text = buffer()) {
    std::snprintf(text, kCapacity, "%s: %s: expected %s, got %s", function, argument, expected.c_str(), found.c_str());
  }
  return status;
}

mluOpStatus_t fail(mluOpStatus_t status, const char *function, const Text &sentence) {
  if (char *const text = buffer()) std::snprintf(text, kCapacity, "%s: %s", function, sentence.c_str());
  return status;
}

mluOpStatus_t out_of_memory(const char *function) { return fail(MLUOP_STATUS_ALLOC_FAILED, function, "out of memory"); }

const char *last_reason() { return reason != nullptr ? reason : ""; }

}  // namespace mluops
