// Queues of the simulated MLU are independent: what holds one up, a function of the host, is in the
// way of no other.
#include <vector>

#include "sim_runtime.h"

// What the compiler puts before a scalar access of a kernel.
extern "C" void __tsan_write4(void *address);

TEST(a_function_of_the_host_holds_up_its_queue_only) {
  const OwnedQueue held, other;
  Gate gate(held);
  Device<int> memory(4);
  memory.set({1, 2, 3, 4});
  int seen = 0;
  launch(other, [](int *values) { values[3] += 10; }, memory.data);
  CHECK_EQ(cnrtMemcpyAsync(&seen, memory.data + 3, 4, other, cnrtMemcpyDevToHost), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK_EQ(seen, 14);
  CHECK_EQ(memory.get()[3], 14);
  CHECK_EQ(cnrtQueueQuery(held), cnrtErrorNotReady);
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  gate.open();
}

TEST(functions_of_many_queues_run_at_the_same_time) {
  constexpr int kQueues = 20;
  std::atomic<int> running{0};
  std::vector<std::unique_ptr<OwnedQueue>> queues;
  // Each waits until all of them run.
  for (int i = 0; i < kQueues; ++i) {
    queues.push_back(std::make_unique<OwnedQueue>());
    call_from(*queues.back(), [&running] {
      ++running;
      while (running < kQueues) std::this_thread::yield();
    });
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(running.load(), kQueues);
}

TEST(a_function_runs_between_the_kernels_of_its_queue) {
  const OwnedQueue queue;
  const Device<int> memory(1);
  std::vector<int> seen(50);
  for (int i = 0; i < 50; ++i) {
    launch(queue, [](int *value, int number) { *value = number; }, memory.data, i);
    CHECK_EQ(cnrtMemcpyAsync(&seen[static_cast<std::size_t>(i)], memory.data, 4, queue, cnrtMemcpyDevToHost),
             cnrtSuccess);
    call_from(queue, [&seen, i] { seen[static_cast<std::size_t>(i)] *= 2; });
  }
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  for (int i = 0; i < 50; ++i) CHECK_EQ(seen[static_cast<std::size_t>(i)], 2 * i);
}

TEST(a_failed_queue_drops_functions_of_the_host) {
  const OwnedQueue queue;
  bool called = false;
  launch_crash(queue);
  set_from(queue, &called);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK(!called);
  call_from(queue, [&called] { called = true; });
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(called);
}

// ---- Memory that is freed while a queue is held up ----------------------------------------------

TEST(freed_memory_stays_for_work_that_was_queued_before) {
  const mlusimCounters before = counters();
  const OwnedQueue held, other;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  int seen = 0;
  {
    Gate gate(held);
    CHECK_EQ(cnrtMemsetAsync(pointer, 5, 4, held), cnrtSuccess);
    CHECK_EQ(cnrtMemcpyAsync(&seen, pointer, 4, held, cnrtMemcpyDevToHost), cnrtSuccess);
    CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
    CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
    // For the host, and for work that is queued now, it is gone.
    CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
    CHECK(says("was freed before"));
    CHECK_EQ(cnrtMemsetAsync(pointer, 6, 4, held), cnrtErrorArgsInvalid);
    CHECK_EQ(cnrtMemcpy(&seen, pointer, 4, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
    void *another = nullptr;
    CHECK_EQ(cnrtMalloc(&another, 4), cnrtSuccess);
    CHECK(another != pointer);
    CHECK_EQ(cnrtFree(another), cnrtSuccess);
  }
  CHECK_EQ(cnrtQueueSync(held), cnrtSuccess);
  CHECK_EQ(seen, 0x05050505);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
}

TEST(a_kernel_queued_after_a_free_is_found_to_use_it) {
  const OwnedQueue held, other;
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_MEMORY), 0);
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  int *const value = static_cast<int *>(pointer);
  const auto write_checked = [](int *target) {
    __tsan_write4(target);
    *target = 1;
  };
  {
    Gate gate(held);
    launch(held, write_checked, value);
    CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
    launch(other, write_checked, value);
    CHECK_EQ(cnrtQueueSync(other), cnrtErrorKernelTrap);
    CHECK(std::strstr(mlusimGetReport(), "use-after-free") != nullptr);
  }
  CHECK_EQ(cnrtQueueSync(held), cnrtSuccess);  // was queued before
  CHECK_EQ(mlusimSetChecks(0), 0);
}

TEST(a_free_waits_for_what_the_device_does) {
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  for (int i = 0; i < 20; ++i)
    launch(
        queue,
        [](int *value) {
          sleep_ms(1);
          *value = 1;
        },
        static_cast<int *>(pointer));
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
}

TEST(the_child_of_a_fork_has_nothing_that_was_to_be_freed) {
  const mlusimCounters before = counters();
  const OwnedQueue held;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 4), cnrtSuccess);
  Gate gate(held);
  CHECK_EQ(cnrtMemsetAsync(pointer, 1, 4, held), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  const int status = status_of_child([&before] {
    CHECK_EQ(counters().live_allocations, before.live_allocations);
    const OwnedQueue queue;
    int calls = 0;
    call_from(queue, [&calls] { ++calls; });
    CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
    CHECK_EQ(calls, 1);
  });
  CHECK_EQ(status, 0);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
