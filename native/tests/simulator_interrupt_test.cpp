// The host wants a wait to end: kernels are stopped, queues give up what they hold, others go on.
#include "mlusim/sync.h"
#include "sim_runtime.h"

// What the compiler puts before a scalar access of a kernel.
extern "C" void __tsan_volatile_read4(void *address);

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> g_asked{0};
std::atomic<bool> g_wanted{false};

int check() {
  ++g_asked;
  return g_wanted.exchange(false) ? 1 : 0;
}

// As long as this lives, waits ask. After `milliseconds` they are told to stop, once.
class Interrupt {
 public:
  explicit Interrupt(int milliseconds) {
    g_asked = 0;
    CHECK_EQ(mlusimSetInterruptCheck(check), cnrtSuccess);
    thread_ = std::thread([milliseconds] {
      sleep_ms(milliseconds);
      g_wanted = true;
    });
  }
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;
  ~Interrupt() {
    thread_.join();
    g_wanted = false;
    CHECK_EQ(mlusimSetInterruptCheck(nullptr), cnrtSuccess);
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_ = Clock::now();
  std::thread thread_;
};

constexpr double kMostSeconds = 5.0;  // much more than it takes, much less than the kernels

void check_device() {
  Device<int> memory(10);
  memory.set(std::vector<int>(10, 4));
  launch(nullptr, [](int *values) { values[9] += 1; }, memory.data);
  CHECK_EQ(memory.get()[9], 5);
}

void check_finding() {
  CHECK(mlusimGetFindingCount() >= 1);
  mlusimFinding finding = {};
  CHECK_EQ(mlusimGetFinding(mlusimGetFindingCount() - 1, &finding), 0);
  CHECK_EQ(std::string(finding.checker), "machine");
  CHECK_EQ(std::string(finding.rule), "interrupted");
  CHECK(std::strstr(finding.message, "interrupted") != nullptr);
}

// Launches `kernel` and interrupts the wait for it.
template <typename Kernel>
void check_interrupted(Kernel kernel) {
  const OwnedQueue queue;
  bool called = false;
  launch(queue, kernel);
  set_from(queue, &called);  // dropped
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
    CHECK(interrupt.seconds() < kMostSeconds);
  }
  check_finding();
  CHECK(!called);
  launch(queue, [] {});
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  check_device();
}

}  // namespace

TEST(a_kernel_in_registers) {
  check_interrupted([] {
    for (volatile int spin = 0;; spin = spin + 1) {
    }
  });
}

TEST(a_kernel_that_sleeps) {
  check_interrupted([] {
    for (;;) sleep_ms(1);
  });
}

TEST(a_kernel_that_polls) {
  check_interrupted([] {
    static int never = 0;
    for (;;) __tsan_volatile_read4(&never);
  });
}

TEST(a_kernel_of_intrinsics) {
  check_interrupted([] {
    for (;;) __sync_compute();
  });
}

TEST(very_many_short_tasks) {
  const OwnedQueue queue;
  mlusim::mlusim_launch("test_kernel", &mlusim::mlusim_unit, {0x7fffffff, 1, 1}, cnrtFuncTypeBlock, queue, [] {});
  const Interrupt interrupt(20);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK(interrupt.seconds() < kMostSeconds);
  check_finding();
}

TEST(other_queues_go_on) {
  const OwnedQueue queue, other;
  Device<int> memory(1);
  memory.set({0});
  launch(queue, [] {
    for (;;) sleep_ms(1);
  });
  for (int i = 0; i < 10; ++i) launch(other, [](int *value) { ++*value; }, memory.data);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  }
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 10);
}

TEST(the_kernel_of_another_queue_is_not_ended) {
  const OwnedQueue queue, other;
  std::atomic<bool> open{false};
  Device<int> memory(1);
  memory.set({0});
  launch(
      other,
      [](std::atomic<bool> *opened, int *value) {
        while (!*opened) sleep_ms(1);
        *value = 7;
      },
      &open, memory.data);
  bool ran = false;
  launch(queue, [](bool *target) { *target = true; }, &ran);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorQueue);
    CHECK(says("was given up"));
    CHECK(interrupt.seconds() < kMostSeconds);
  }
  open = true;
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(!ran);
  CHECK_EQ(memory.get()[0], 7);
  launch(queue, [](bool *target) { *target = true; }, &ran);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(ran);
}

TEST(a_queue_that_a_function_of_the_host_holds) {
  const OwnedQueue queue;
  Gate gate(queue);
  int five = 5;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  CHECK_EQ(cnrtMemcpyAsync(pointer, &five, 4, queue, cnrtMemcpyHostToDev), cnrtSuccess);
  CHECK_EQ(cnrtMemFreeAsync(pointer, queue), cnrtSuccess);  // happens all the same
  const mlusimCounters before = counters();
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorQueue);
  }
  gate.open();
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations - 1);
}

TEST(a_queue_that_waits_for_another_one) {
  const OwnedQueue queue, held;
  const OwnedNotifier notifier;
  Gate gate(held);
  CHECK_EQ(cnrtPlaceNotifier(notifier, held), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, queue, 0), cnrtSuccess);
  bool ran = false;
  launch(queue, [](bool *target) { *target = true; }, &ran);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorQueue);
  }
  // It does not wait any more.
  launch(queue, [] {});
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(!ran);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorNotReady);
}

TEST(all_waits_ask) {
  const OwnedQueue queue;
  const OwnedNotifier notifier;
  Device<int> memory(1);
  int value = 0;
  const auto endless = [] {
    for (;;) sleep_ms(1);
  };
  launch(queue, endless);
  CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtWaitNotifier(notifier), cnrtErrorKernelTrap);
  }
  launch(nullptr, endless);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtMemcpy(&value, memory.data, 4, cnrtMemcpyDevToHost), cnrtErrorKernelTrap);
  }
  launch(queue, endless);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtSyncDevice(), cnrtErrorKernelTrap);
  }
  cnrtQueue_t doomed = nullptr;
  CHECK_EQ(cnrtQueueCreate(&doomed), cnrtSuccess);
  launch(doomed, endless);
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtQueueDestroy(doomed), cnrtErrorKernelTrap);
  }
  CHECK_EQ(cnrtQueueSync(doomed), cnrtErrorInvalidResourceHandle);
  check_device();
}

TEST(a_free_is_not_in_the_way) {
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  std::atomic<bool> open{false};
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  launch(
      queue,
      [](std::atomic<bool> *opened, int *value) {
        while (!*opened) sleep_ms(1);
        *value = 1;
      },
      &open, static_cast<int *>(pointer));
  {
    const Interrupt interrupt(20);
    CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  }
  CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
  open = true;
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
}

TEST(short_waits_do_not_poll) {
  const Interrupt interrupt(0);
  for (int i = 0; i < 20; ++i) {
    launch(nullptr, [] {});
    CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  }
  CHECK_EQ(g_asked.load(), 0);
}

TEST(a_wait_that_is_told_to_go_on_does) {
  const Interrupt interrupt(2000);
  launch(nullptr, [] { sleep_ms(330); });
  CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  CHECK(g_asked >= 2 && g_asked <= 10);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
