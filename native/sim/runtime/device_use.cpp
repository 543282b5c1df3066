#include "runtime/device_use.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>

#include "base/thread_state.h"
#include "runtime/card_choice.h"

namespace mlusim {
namespace {

constexpr int kChanging = -1;

std::atomic<int> g_threads{0};  // the number of threads that use the device, or kChanging

// The child of a fork has no other thread.
void count_anew() { g_threads = thread_state().device_uses != 0 ? 1 : 0; }

[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, count_anew);

}  // namespace

void DeviceUse::begin() {
  if (thread_state().device_uses != 0) {
    ++thread_state().device_uses;
    return;
  }
  follow_libraries();
  ++thread_state().device_uses;
  int threads = g_threads.load(std::memory_order_relaxed);
  while (threads == kChanging || !g_threads.compare_exchange_weak(threads, threads + 1, std::memory_order_acquire)) {
    if (threads != kChanging) continue;
    sched_yield();
    threads = g_threads.load(std::memory_order_relaxed);
  }
}

void DeviceUse::end() {
  if (--thread_state().device_uses == 0) g_threads.fetch_sub(1, std::memory_order_release);
}

DeviceChange::DeviceChange() {
  int none = 0;
  alone_ = g_threads.compare_exchange_strong(none, kChanging, std::memory_order_acquire);
}

DeviceChange::~DeviceChange() {
  if (alone_) g_threads.store(0, std::memory_order_release);
}

}  // namespace mlusim
