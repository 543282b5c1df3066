// The simulator where host memory is scarce: the n-th allocation fails, for every n. Calls return
// errors, nothing crashes or hangs, and the device serves on.
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "sim_runtime.h"

extern "C" {
void __tsan_write4(void *address);
void *__real_mmap(void *address, std::size_t bytes, int protection, int flags, int file, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
}

namespace {

std::atomic<long> g_left{-1};  // allocations until one fails; negative: none does

bool fails_now() { return g_left >= 0 && g_left.fetch_sub(1) == 0; }

bool failed() { return g_left < 0; }

}  // namespace

void *operator new(std::size_t bytes) {
  void *memory = fails_now() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

extern "C" void *__wrap_mmap(void *address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails_now()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(address, bytes, protection, flags, file, offset);
}

extern "C" int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                     void *argument) {
  return fails_now() ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

namespace {

bool is_known(cnrtRet_t error) {
  return error == cnrtSuccess || error == cnrtErrorSysNoMem || error == cnrtErrorKernelTrap;
}

void check_known(cnrtRet_t error) {
  if (is_known(error)) return;
  g_left = -1;
  std::fprintf(stderr, "%s: %s\n", cnrtGetErrorName(error), mlusimGetLastError());
  CHECK(is_known(error));
}

// Everything once: memory, copies, kernels that end well, that crash and that are found out,
// functions, notifiers.
void use_everything(int *seen) {
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t notifier = nullptr;
  void *memory = nullptr;
  check_known(cnrtQueueCreate(&queue));
  check_known(cnrtNotifierCreate(&notifier));
  check_known(cnrtMalloc(&memory, 400));
  int *const values = static_cast<int *>(memory);
  if (queue != nullptr && values != nullptr) {
    check_known(cnrtMemsetAsync(values, 0, 400, queue));
    try {
      launch(queue, [](int *target) { target[3] = 1; }, values);
      launch(queue, [](int *target) { __tsan_write4(target + 200); }, values);
    } catch (const std::bad_alloc &) {  // of the arguments, in the program's own code
    }
    check_known(cnrtGetLastError());
    if (notifier != nullptr) check_known(cnrtPlaceNotifier(notifier, queue));
    check_known(cnrtInvokeHostFunc(queue, [](void *) {}, nullptr));
    check_known(cnrtMemcpyAsync(seen, values, 4, queue, cnrtMemcpyDevToHost));
    check_known(cnrtQueueSync(queue));
    if (notifier != nullptr) check_known(cnrtWaitNotifier(notifier));
  }
  while (memory != nullptr && cnrtFree(memory) == cnrtErrorSysNoMem) {
  }
  while (notifier != nullptr && cnrtNotifierDestroy(notifier) == cnrtErrorSysNoMem) {
  }
  while (queue != nullptr && cnrtQueueDestroy(queue) == cnrtErrorSysNoMem) {
  }
}

void check_device() {
  const OwnedQueue queue;
  Device<int> memory(10);
  memory.set(std::vector<int>(10, 4));
  launch(queue, [](int *values) { values[9] += 1; }, memory.data);
  bool called = false;
  set_from(queue, &called);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(memory.get()[9], 5);
  CHECK(called);
}

}  // namespace

// In children of forks, so that each starts with nothing: first without a device thread.
TEST(the_first_use) {
  for (long n = 0; n < 60; ++n) {
    const int status = status_of_child([n] {
      int seen = 0;
      g_left = n;
      use_everything(&seen);
      g_left = -1;
      cnrtSyncDevice();
      check_device();
    });
    CHECK_EQ(status, 0);
    if (status != 0) std::fprintf(stderr, "allocation %ld\n", n);
  }
}

TEST(every_allocation_in_turn) {
  for (const std::uint32_t checks : {0u, static_cast<std::uint32_t>(MLUSIM_CHECK_ALL)}) {
    CHECK_EQ(mlusimSetChecks(checks), 0);
    int seen = 0;
    use_everything(&seen);
    cnrtSyncDevice();
    const mlusimCounters before = counters();
    bool all = false;
    long n = 0;
    for (; n < 2000 && !all; ++n) {
      g_left = n;
      use_everything(&seen);
      all = !failed();
      g_left = -1;
      cnrtSyncDevice();
      if (n % 8 == 0) check_device();
    }
    CHECK(all && n > 10);
    const mlusimCounters after = counters();
    CHECK_EQ(after.live_allocations, before.live_allocations);
    CHECK_EQ(after.live_queues, before.live_queues);
    CHECK_EQ(after.live_notifiers, before.live_notifiers);
    check_device();
  }
  CHECK_EQ(mlusimSetChecks(0), 0);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
