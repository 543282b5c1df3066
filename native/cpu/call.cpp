#include "cpu/call.h"

#include <time.h>

#include <algorithm>

#include "cases/call.h"
#include "core/reason.h"
#include "cpu/settings.h"

namespace mluops {
namespace {

// In the initial TLS block, which exists as soon as the thread does. Lazily allocated TLS would
// abort the process when memory is exhausted.
thread_local ThreadState state __attribute__((tls_model("initial-exec"))) = {};

std::atomic<int> chosen_threads{0};  // 0: the environment or the system decides
std::atomic<mluopsExtInterruptCheck> interrupt_check{nullptr};

// The coarse clock is accurate to a few milliseconds and cheap to read.
std::int64_t milliseconds() {
#if defined(CLOCK_MONOTONIC_COARSE)
  constexpr clockid_t kClock = CLOCK_MONOTONIC_COARSE;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec now;
  if (clock_gettime(kClock, &now) != 0) return 0;
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

}  // namespace

ThreadState &thread_state() { return state; }

int thread_count() { return state.call != nullptr ? state.call->threads() : chosen_thread_count(); }

int chosen_thread_count() {
  const int count = chosen_threads.load(std::memory_order_relaxed);
  return count != 0 ? count : settings().threads;
}

void set_thread_count(int count) { chosen_threads.store(count, std::memory_order_relaxed); }

// Callers may set it before every call, so an unchanged value is not stored again.
void set_interrupt_check(mluopsExtInterruptCheck check) {
  if (interrupt_check.load(std::memory_order_relaxed) != check) interrupt_check.store(check);
}

bool interruptible() { return interrupt_check.load(std::memory_order_relaxed) != nullptr; }

bool interrupted() {
  Call *const call = state.call;
  if (call == nullptr) return false;
  return call->ended() || (state.owner && call->poll_interrupt());
}

// Calls made by an interrupt check inside a parallel job run on this thread alone.
Call::Call() : before_(state), threads_(state.inside_job ? 1 : chosen_thread_count()) {
  state.call = this;
  state.owner = true;
  about_to_launch();
}

Call::~Call() {
  state.call = before_.call;
  state.owner = before_.owner;
}

bool Call::poll_interrupt() {
  const mluopsExtInterruptCheck check = interrupt_check.load(std::memory_order_acquire);
  if (check == nullptr) return false;
  const std::int64_t now = milliseconds();
  if (due_ == 0) due_ = now + kInterruptMilliseconds;
  if (now < due_) return false;
  if (check() != 0) ended_.store(true, std::memory_order_relaxed);
  due_ = milliseconds() + kInterruptMilliseconds;
  return ended();
}

mluOpStatus_t Call::status(mluOpStatus_t status, const char *function) const {
  return ended() ? fail(MLUOP_STATUS_EXECUTION_FAILED, function, "interrupted") : status;
}

void Call::interrupt_all() {
  for (Call *call = state.call; call != nullptr; call = call->before_.call) {
    call->ended_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace mluops
