// Queues and notifiers.
#include "cnrt.h"

#include <climits>
#include <cmath>
#include <thread>

#include "harness.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

// ---- Queues -------------------------------------------------------------------------------------

TEST(a_queue_keeps_its_order) {
  constexpr unsigned kSteps = 300;
  const OwnedQueue queue;
  const Device<unsigned> memory(1);
  std::vector<unsigned> seen(kSteps), wanted(kSteps);
  CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtSuccess);
  for (unsigned i = 0; i < kSteps; ++i) {
    launch(queue, [](unsigned *value, unsigned step) { *value = *value * 3 + step; }, memory.data, i);
    CHECK_EQ(cnrtMemcpyAsync_V3(&seen[i], memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
  }
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  unsigned value = 0;
  for (unsigned i = 0; i < kSteps; ++i) {
    value = value * 3 + i;
    wanted[i] = value;
  }
  CHECK(seen == wanted);
}

TEST(a_queue_works_while_the_host_goes_on) {
  const OwnedQueue queue;
  const Device<int> memory(1);
  int seen = 0, five = 5;
  cnrtGetLastError();
  Gate gate(queue);
  CHECK_EQ(cnrtMemcpyAsync(memory.data, &five, 4, queue, cnrtMemcpyHostToDev), cnrtSuccess);
  launch(queue, [](int *value) { *value += 1; }, memory.data);
  CHECK_EQ(cnrtMemcpyAsync_V2(&seen, memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtErrorNotReady);
  CHECK_EQ(cnrtGetLastError(), cnrtSuccess);
  CHECK_EQ(seen, 0);
  five = 6;  // the copy has not happened yet
  gate.open();
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(seen, 7);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtSuccess);
}

TEST(default_queues) {
  const auto legacy = reinterpret_cast<cnrtQueue_t>(2), mine = reinterpret_cast<cnrtQueue_t>(1);
  std::atomic<int> calls{0};
  {
    Gate gate(mine);
    CHECK_EQ(cnrtQueueQuery(mine), cnrtErrorNotReady);
    std::thread([&] {
      CHECK_EQ(cnrtQueueQuery(mine), cnrtSuccess);  // another one
      call_from(mine, [&] { ++calls; });
    }).join();
    gate.open();
    CHECK_EQ(cnrtQueueSync(mine), cnrtSuccess);
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(calls.load(), 1);  // although its thread had ended
  Gate gate(nullptr);
  CHECK_EQ(cnrtQueueQuery(legacy), cnrtErrorNotReady);
  gate.open();
  CHECK_EQ(cnrtQueueSync(legacy), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(nullptr), cnrtSuccess);
  for (const cnrtQueue_t queue : {cnrtQueue_t{nullptr}, mine, legacy}) {
    int priority = -1;
    CHECK_EQ(cnrtQueueGetPriority(queue, &priority), cnrtSuccess);
    CHECK_EQ(priority, 7);
    CHECK_EQ(cnrtQueueDestroy(queue), cnrtErrorInvalidResourceHandle);
  }
}

TEST(priorities_decide_who_is_first) {
  const OwnedQueue stopper, low(7), high(0);
  int priority = -1;
  CHECK_EQ(cnrtQueueGetPriority(high, &priority), cnrtSuccess);
  CHECK_EQ(priority, 0);
  std::string order;
  {
    const BusyDevice busy(stopper);
    for (int i = 0; i < 3; ++i) {
      launch(low, [](std::string *text) { *text += 'l'; }, &order);
      launch(high, [](std::string *text) { *text += 'h'; }, &order);
    }
  }
  CHECK_EQ(order, "hhhlll");
  cnrtQueue_t queue = nullptr;
  for (const int bad : {-1, 8, INT_MIN, INT_MAX}) {
    CHECK_EQ(cnrtQueueCreateWithPriority(&queue, 0, bad), cnrtErrorArgsInvalid);
  }
  CHECK_EQ(cnrtQueueCreateWithPriority(&queue, 1, 0), cnrtErrorArgsInvalid);
}

TEST(queues_of_one_priority_take_turns) {
  const OwnedQueue stopper, first, second;
  std::string order;
  {
    const BusyDevice busy(stopper);
    for (int i = 0; i < 3; ++i) launch(first, [](std::string *text) { *text += '1'; }, &order);
    for (int i = 0; i < 3; ++i) launch(second, [](std::string *text) { *text += '2'; }, &order);
  }
  CHECK_EQ(order, "121212");
}

TEST(destroying_a_queue_waits_for_its_work) {
  cnrtQueue_t queue = nullptr;
  CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  bool done = false;
  call_from(queue, [&done] {
    sleep_ms(20);
    done = true;
  });
  CHECK_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  CHECK(done);
  CHECK_EQ(cnrtQueueDestroy(queue), cnrtErrorInvalidResourceHandle);
}

TEST(strange_handles_are_refused) {
  const Device<char> memory(64);
  const OwnedNotifier notifier;
  const OwnedQueue living;
  cnrtQueue_t destroyed = nullptr;
  CHECK_EQ(cnrtQueueCreate(&destroyed), cnrtSuccess);
  CHECK_EQ(cnrtQueueDestroy(destroyed), cnrtSuccess);
  cnrtQueue_t another = nullptr;
  CHECK_EQ(cnrtQueueCreate(&another), cnrtSuccess);
  CHECK(another != destroyed);
  int on_host = 0, priority = 0;
  for (void *strange : {static_cast<void *>(destroyed), static_cast<void *>(&on_host), static_cast<void *>(memory.data),
                        static_cast<void *>(notifier.handle), reinterpret_cast<void *>(3), reinterpret_cast<void *>(-1),
                        static_cast<void *>(reinterpret_cast<char *>(living.handle) + 1)}) {
    const auto queue = static_cast<cnrtQueue_t>(strange);
    for (const cnrtRet_t error :
         {cnrtQueueDestroy(queue), cnrtQueueGetPriority(queue, &priority), cnrtQueueQuery(queue), cnrtQueueSync(queue),
          cnrtPlaceNotifier(notifier, queue), cnrtQueueWaitNotifier(notifier, queue, 0),
          cnrtMemcpyAsync(memory.data, &on_host, 4, queue, cnrtMemcpyHostToDev),
          cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtMemFreeAsync(memory.data, queue),
          cnrtInvokeHostFunc(queue, [](void *) {}, nullptr)}) {
      CHECK_EQ(error, cnrtErrorInvalidResourceHandle);
    }
    cnrtGetLastError();
    launch(queue, [] {});
    CHECK_EQ(cnrtGetLastError(), cnrtErrorInvalidResourceHandle);
  }
  for (void *strange :
       {static_cast<void *>(living.handle), static_cast<void *>(&on_host), reinterpret_cast<void *>(1)}) {
    const auto wrong = static_cast<cnrtNotifier_t>(strange);
    for (const cnrtRet_t error : {cnrtNotifierDestroy(wrong), cnrtQueryNotifier(wrong), cnrtWaitNotifier(wrong),
                                  cnrtPlaceNotifier(wrong, living)}) {
      CHECK_EQ(error, cnrtErrorInvalidResourceHandle);
    }
  }
  CHECK_EQ(cnrtQueueDestroy(another), cnrtSuccess);
}

TEST(functions_of_the_host_must_not_wait) {
  const OwnedQueue queue, other;
  const OwnedNotifier notifier;
  Device<int> memory(1);
  void *memory_to_free = nullptr;
  CHECK_EQ(cnrtMalloc(&memory_to_free, 8), cnrtSuccess);
  int value = 0;
  std::vector<cnrtRet_t> errors, fine;
  const Gate *gate = nullptr;
  call_from(queue, [&] {
    Gate never(other);  // this function is in its way
    gate = &never;
    fine.push_back(cnrtPlaceNotifier(notifier, other));
    errors.push_back(cnrtQueueSync(other));
    errors.push_back(cnrtSyncDevice());
    errors.push_back(cnrtDeviceReset());
    errors.push_back(cnrtWaitNotifier(notifier));
    errors.push_back(cnrtMemcpy(&value, memory.data, 4, cnrtMemcpyDevToHost));
    errors.push_back(cnrtMemset(memory.data, 0, 4));
    errors.push_back(cnrtFree(memory_to_free));
    errors.push_back(cnrtQueueDestroy(other));
    errors.push_back(cnrtInvokeKernel(reinterpret_cast<void *>(sleep_ms), kOne, cnrtFuncTypeBlock, nullptr, 0, other));
    fine.push_back(cnrtMemsetAsync(memory.data, 1, 4, other));
    fine.push_back(cnrtQueryNotifier(notifier) == cnrtErrorNotReady ? cnrtSuccess : cnrtErrorUnknown);
    fine.push_back(cnrtMemFreeAsync(memory_to_free, other));
  });
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(errors.size(), 9u);
  for (const cnrtRet_t error : errors) CHECK_EQ(error, cnrtErrorOpsNotPermitted);
  for (const cnrtRet_t error : fine) CHECK_EQ(error, cnrtSuccess);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 0x01010101);
  CHECK_EQ(cnrtFree(memory_to_free), cnrtErrorArgsInvalid);  // it was
}

TEST(memory_of_a_queue) {
  const OwnedQueue queue;
  const mlusimCounters before = counters();
  void *pointer = nullptr;
  std::vector<int> host(100);
  CHECK_EQ(cnrtMemAllocAsync(&pointer, 400, queue), cnrtSuccess);
  {
    const Gate gate(queue);
    CHECK_EQ(cnrtMemsetAsync(pointer, 3, 400, queue), cnrtSuccess);
    CHECK_EQ(cnrtMemcpyAsync(host.data(), pointer, 400, queue, cnrtMemcpyDevToHost), cnrtSuccess);
    CHECK_EQ(cnrtMemFreeAsync(pointer, queue), cnrtSuccess);
    CHECK_EQ(cnrtMemsetAsync(pointer, 4, 400, queue), cnrtSuccess);  // lives still, but will not then
    CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
  }
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorArgsInvalid);
  CHECK(says("cnrtMemsetAsync: pointer: expected 400 bytes of device memory"));
  CHECK_EQ(counters().live_allocations, before.live_allocations);
  CHECK_EQ(host[99], 0x03030303);
  CHECK_EQ(cnrtMemAllocAsync(&pointer, 400, reinterpret_cast<cnrtQueue_t>(&host)), cnrtErrorInvalidResourceHandle);
}

// ---- Notifiers ----------------------------------------------------------------------------------

TEST(a_notifier_is_reached_in_order) {
  const OwnedQueue queue;
  const OwnedNotifier notifier;
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);  // never placed
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  std::atomic<bool> done{false};
  Gate gate(queue);
  call_from(queue, [&done] { done = true; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
  Gate second(queue);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorNotReady);
  gate.open();
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  CHECK(done);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtErrorNotReady);
  CHECK_EQ(cnrtPlaceNotifierWithFlags(notifier, queue, 1), cnrtSuccess);  // the earlier place is forgotten
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorNotReady);
  CHECK_EQ(cnrtPlaceNotifierWithFlags(notifier, queue, 2), cnrtErrorArgsInvalid);
  second.open();
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
}

TEST(a_queue_that_waits_does_not_stop_others) {
  const OwnedQueue first, waiting, free;
  cnrtNotifier_t notifier = nullptr;
  CHECK_EQ(cnrtNotifierCreate(&notifier), cnrtSuccess);
  std::string order;
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 0), cnrtSuccess);  // never placed: nothing to wait for
  call_from(waiting, [&order] { order += 'a'; });
  CHECK_EQ(cnrtQueueSync(waiting), cnrtSuccess);
  const OwnedNotifier start;
  std::atomic<bool> open{false};
  call_from(free, [&open] {
    while (!open) std::this_thread::yield();
  });
  CHECK_EQ(cnrtPlaceNotifier(start, free), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(start, first, 0), cnrtSuccess);
  call_from(first, [&order] { order += 'b'; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, first), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 1), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 2), cnrtErrorArgsInvalid);
  call_from(waiting, [&order] { order += 'c'; });
  CHECK_EQ(cnrtNotifierDestroy(notifier), cnrtSuccess);  // what waits for it still does
  const OwnedQueue last(0);
  call_from(last, [&order] { order += 'x'; });
  CHECK_EQ(cnrtQueueSync(last), cnrtSuccess);
  open = true;
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(order, "axbc");
}

TEST(work_goes_on_while_a_queue_waits) {
  const OwnedQueue slow, waiting, other;
  const OwnedNotifier notifier;
  const Device<int> memory(1);
  int steps = 0;
  // A chain through two queues, a hundred times; `other` works in between.
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  for (int i = 0; i < 100; ++i) {
    launch(slow, [](int *value, int step) { *value += *value == 2 * step; }, memory.data, i);
    CHECK_EQ(cnrtPlaceNotifier(notifier, slow), cnrtSuccess);
    CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 0), cnrtSuccess);
    launch(waiting, [](int *value, int step) { *value += *value == 2 * step + 1; }, memory.data, i);
    CHECK_EQ(cnrtPlaceNotifier(notifier, waiting), cnrtSuccess);
    CHECK_EQ(cnrtQueueWaitNotifier(notifier, slow, 0), cnrtSuccess);
    call_from(other, [&steps] { ++steps; });
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 200);
  CHECK_EQ(steps, 100);
}

TEST(times_between_notifiers) {
  const OwnedQueue queue, other;
  const OwnedNotifier start, end, elsewhere;
  float milliseconds = -1, microseconds = -1;
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorIllegalState);
  CHECK_EQ(cnrtPlaceNotifier(start, queue), cnrtSuccess);
  CHECK_EQ(cnrtWaitNotifier(start), cnrtSuccess);
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorIllegalState);
  {
    const Gate gate(queue);
    CHECK_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
    CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorNotReady);
    CHECK_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtErrorNotReady);
    sleep_ms(30);
  }
  CHECK_EQ(cnrtPlaceNotifier(elsewhere, other), cnrtSuccess);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(milliseconds, -1.0f);
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtSuccess);
  CHECK(milliseconds >= 29.0f && milliseconds < 20000.0f);
  CHECK(microseconds >= 29000.0f && microseconds < 20e6f);
  CHECK(std::abs(milliseconds * 1000 - microseconds) < 20000);
  CHECK_EQ(cnrtNotifierElapsedTime(end, start, &milliseconds), cnrtSuccess);
  CHECK(milliseconds <= -29.0f);
  CHECK_EQ(cnrtNotifierElapsedTime(start, elsewhere, &milliseconds), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(start, elsewhere, &microseconds), cnrtErrorArgsInvalid);
}

TEST(notifiers_without_times) {
  const OwnedQueue queue;
  const OwnedNotifier plain, no_software(CNRT_NOTIFIER_DISABLE_TIMING_SW), none(CNRT_NOTIFIER_DISABLE_TIMING_ALL);
  float time = 0;
  for (const cnrtNotifier_t notifier : {plain.handle, no_software.handle, none.handle}) {
    CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
    CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  }
  CHECK_EQ(cnrtNotifierElapsedTime(plain, no_software, &time), cnrtErrorOpsNotPermitted);
  CHECK_EQ(cnrtNotifierElapsedTime(none, plain, &time), cnrtErrorOpsNotPermitted);
  CHECK_EQ(cnrtNotifierDuration(plain, no_software, &time), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(plain, none, &time), cnrtErrorOpsNotPermitted);
  cnrtNotifier_t notifier = nullptr;
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, CNRT_NOTIFIER_INTERPROCESS), cnrtErrorNotSupport);
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, 16), cnrtErrorArgsInvalid);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
