// Threads, forks and the end of the process.
#include "cnrt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "harness.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

TEST(queues_of_many_threads) {
  constexpr int kThreads = 4, kLaunches = 1000;
  const mlusimCounters before = counters();
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      for (int i = 0; i < kLaunches; ++i) {
        const OwnedQueue queue(i % 8);
        const OwnedNotifier notifier;
        Device<int> memory(1 + static_cast<std::size_t>(i) % 50);
        int seen = 0;
        CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtSuccess);
        launch(queue, [](int *value, int term) { *value += term; }, memory.data, number * kLaunches + i);
        CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
        CHECK_EQ(cnrtMemcpyAsync(&seen, memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
        CHECK_EQ(i % 2 == 0 ? cnrtQueueSync(queue) : cnrtSyncDevice(), cnrtSuccess);
        CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);
        CHECK_EQ(seen, number * kLaunches + i);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  const mlusimCounters after = counters();
  CHECK_EQ(after.launches, before.launches + kThreads * kLaunches);
  CHECK_EQ(after.live_queues, before.live_queues);
  CHECK_EQ(after.live_notifiers, before.live_notifiers);
  CHECK_EQ(after.live_allocations, before.live_allocations);
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  CHECK(std::distance(begin(tasks), end(tasks)) <= 4);  // queues have no threads
}

TEST(errors_reach_the_thread_that_waits) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      const OwnedQueue queue;
      for (int i = 0; i < 50; ++i) {
        const bool crashes = (i + number) % 2 == 0;
        if (crashes) launch_crash(queue);
        if (!crashes) launch(queue, [] {});
        CHECK_EQ(cnrtQueueSync(queue), crashes ? cnrtErrorKernelTrap : cnrtSuccess);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(one_queue_for_many_threads) {
  const OwnedQueue queue;
  const Device<int> memory(1);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        launch(queue, [](int *value) { *value += 1; }, memory.data);
        if (i % 10 == 0) CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 2000);
}

TEST(of_many_destroyers_one_succeeds) {
  std::vector<cnrtQueue_t> queues(500);
  for (cnrtQueue_t &queue : queues) CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  std::atomic<int> destroyed{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (const cnrtQueue_t queue : queues) destroyed += cnrtQueueDestroy(queue) == cnrtSuccess;
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(destroyed.load(), 500);
}

TEST(the_child_of_a_fork_has_a_working_device) {
  const OwnedQueue queue, stopped;
  const OwnedNotifier notifier;
  Device<int> memory(1);
  memory.set({5});
  bool lost = false;
  Gate gate(stopped);
  call_from(stopped, [&lost] { lost = true; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, stopped), cnrtSuccess);
  const int status = status_of_child([&] {
    CHECK_EQ(cnrtQueueSync(stopped), cnrtSuccess);  // queued work is dropped, and the wait returns
    CHECK(!lost);
    CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
    CHECK_EQ(memory.get()[0], 5);
    for (int i = 0; i < 100; ++i) {
      launch(i % 2 == 0 ? queue : stopped, [](int *value) { *value += 1; }, memory.data);
      CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
    }
    CHECK_EQ(memory.get()[0], 105);
    launch_crash(queue);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
    void *pointer = nullptr;
    CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
    CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  });
  CHECK_EQ(status, 0);
  gate.open();
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK(lost);  // here it was not
  CHECK_EQ(memory.get()[0], 5);
}

TEST(forks_while_other_threads_use_the_device) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([&stop] {
      const OwnedQueue queue;
      while (!stop) {
        const OwnedNotifier notifier;
        const Device<int> memory(1000);
        CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4000, queue), cnrtSuccess);
        launch(queue, [](int *values) { values[999] = 1; }, memory.data);
        CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
        CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const int status = status_of_child([] {
      const OwnedQueue queue;
      Device<int> memory(10);
      memory.set(std::vector<int>(10, 1));
      launch(queue, [](int *values) { values[3] = 2; }, memory.data);
      CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
      CHECK_EQ(memory.get()[3], 2);
    });
    CHECK_EQ(status, 0);
  }
  stop = true;
  for (std::thread &thread : threads) thread.join();
}

TEST(a_function_of_the_host_may_fork) {
  constexpr int kExit = 5;
  const OwnedQueue queue;
  int status = -1;
  call_from(queue, [&status] {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      // In the child this thread goes on as the device's.
      call_from(nullptr, [] { _exit(kExit); });
      return;
    }
    waitpid(child, &status, 0);
  });
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == kExit);
}

TEST(the_process_ends_while_the_device_works) {
  const auto ends_with = [](const std::function<void()> &work) {
    const auto start = std::chrono::steady_clock::now();
    const int status = status_of_child([&work] {
      work();
      std::exit(harness::failures == 0 ? 0 : 1);
    });
    CHECK_EQ(status, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ends_with([] { CHECK_EQ(cnrtSyncDevice(), cnrtSuccess); });
  ends_with([] {
    for (int i = 0; i < 1000; ++i) launch(nullptr, [] { sleep_ms(1); });
  });
  // A kernel that does not end.
  const double seconds = ends_with([] {
    launch(nullptr, [] {
      for (;;) sleep_ms(1);
    });
    sleep_ms(20);
  });
  CHECK(seconds < 20);
  // Static objects may use the runtime while they are destroyed.
  ends_with([] {
    static Device<int> memory(1);
    static const OwnedQueue queue;
    launch(queue, [](int *value) { *value = 1; }, memory.data);
  });
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
