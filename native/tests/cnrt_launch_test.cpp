// Launches, and the errors of queued work.
#include "cnrt.h"

#include <climits>
#include <cstdlib>
#include <exception>

#include "harness.h"
#include "machine/memory.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

// ---- Launches -----------------------------------------------------------------------------------

TEST(tasks_of_a_launch) {
  const Device<int> memory(24);
  const mlusimCounters before = counters();
  CHECK_EQ(cnrtMemset(memory.data, 0, 96), cnrtSuccess);
  mlusim::mlusim_launch(
      "count", &mlusim::mlusim_unit, {4, 3, 2}, cnrtFuncTypeBlock, nullptr,
      [](int *counts) { counts[taskIdX + 4 * (taskIdY + 3 * taskIdZ)] += taskDim; }, memory.data);
  CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  for (const int count : memory.get()) CHECK_EQ(count, 24);
  CHECK_EQ(counters().launches, before.launches + 1);
  CHECK_EQ(counters().tasks, before.tasks + 24);
}

TEST(launches_that_are_refused) {
  struct Argument {
    Argument() { ++living(); }
    Argument(const Argument &) { ++living(); }
    ~Argument() { --living(); }
    static std::atomic<int> &living() {
      static std::atomic<int> count{0};
      return count;
    }
  };
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  const auto with = [&queue](cnrtDim3_t dim, int type) {
    cnrtGetLastError();
    mlusim::mlusim_launch(
        "refused", &mlusim::mlusim_unit, dim, number<cnrtFunctionType_t>(type), queue, [](const Argument &) {},
        Argument());
    return cnrtGetLastError();
  };
  for (const int type : {-1, 0, 2, 3, 5, 7, 12, 128, INT_MAX}) CHECK_EQ(with(kOne, type), cnrtErrorArgsInvalid);
  CHECK_EQ(with({0, 1, 1}, cnrtFuncTypeBlock), cnrtErrorArgsInvalid);
  CHECK(says("refused"));
  CHECK_EQ(with({1, 0, 1}, cnrtFuncTypeBlock), cnrtErrorArgsInvalid);
  CHECK_EQ(with({3, 1, 1}, cnrtFuncTypeUnion1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().launches, before.launches);
  CHECK_EQ(with({2, 1, 1}, cnrtFuncTypeBlock), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().launches, before.launches + 1);
  CHECK_EQ(Argument::living().load(), 0);
}

namespace {

void add_wrapper(void **arguments) { **static_cast<int **>(arguments[0]) += *static_cast<int *>(arguments[1]); }

}  // namespace

TEST(launch_by_function_pointer) {
  const Device<int> memory(1);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  int *target = memory.data;
  int amount = 5;
  void *arguments[] = {&target, &amount};
  const void *kernel = reinterpret_cast<void *>(add_wrapper);
  const OwnedQueue queue;
  CHECK_EQ(cnrtInvokeKernel(kernel, {3, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 15);
  CHECK_EQ(cnrtInvokeKernel(kernel, kOne, cnrtFuncTypeBlock, arguments, 1, queue), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtInvokeKernel(kernel, {0, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtErrorArgsInvalid);
  CHECK(says("launch of (function without a name)"));  // the linker does not know it
  for (const auto &[function, name] :
       {std::make_pair(reinterpret_cast<void *>(std::abort), "launch of abort: "),
        std::make_pair(reinterpret_cast<void *>(std::terminate), "launch of std::terminate(): ")}) {
    CHECK_EQ(cnrtInvokeKernel(function, {0, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtErrorArgsInvalid);
    CHECK(says(name));
  }
  CHECK_EQ(cnrtInvokeKernel(kernel, kOne, cnrtFuncTypeBlock, arguments, 0, reinterpret_cast<cnrtQueue_t>(&amount)),
           cnrtErrorInvalidResourceHandle);
}

// ---- Errors of queued work ----------------------------------------------------------------------

TEST(an_error_is_returned_once_and_drops_what_follows) {
  const OwnedQueue queue, other;
  const Device<int> memory(2);
  CHECK_EQ(cnrtMemset(memory.data, 0, 8), cnrtSuccess);
  const mlusimCounters before = counters();
  cnrtGetLastError();
  {
    const Gate gate(queue);
    launch_crash(queue);
    launch(queue, [](int *value) { value[0] += 1; }, memory.data);
    launch(other, [](int *value) { value[1] += 1; }, memory.data);
    CHECK_EQ(cnrtPeekAtLastError(), cnrtSuccess);
  }
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK(says("test_kernel") && says("mlusimGetReport"));
  CHECK(std::strstr(mlusimGetReport(), "test_kernel") != nullptr);
  CHECK_EQ(cnrtGetLastError(), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(memory.get() == std::vector<int>({0, 1}));
  launch(queue, [](int *value) { value[0] += 1; }, memory.data);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(memory.get() == std::vector<int>({1, 1}));
  CHECK_EQ(counters().failed_launches, before.failed_launches + 1);
  CHECK_EQ(counters().launches, before.launches + 3);
}

TEST(who_returns_the_error_of_a_queue) {
  const Device<int> memory(1);
  int value = 0;
  const auto failed_copy = [&] { return cnrtMemcpy(&value, memory.data, 4, cnrtMemcpyDevToHost); };
  launch_crash(nullptr);
  CHECK_EQ(failed_copy(), cnrtErrorKernelTrap);
  CHECK_EQ(failed_copy(), cnrtSuccess);
  launch_crash(nullptr);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtErrorKernelTrap);
  {
    const OwnedQueue first, second;
    launch_crash(first);
    launch_crash(second);
    CHECK_EQ(failed_copy(), cnrtSuccess);  // on another queue
    CHECK_EQ(cnrtSyncDevice(), cnrtErrorKernelTrap);
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
    CHECK_EQ(cnrtQueueSync(first), cnrtSuccess);
    launch_crash(first);
    cnrtRet_t answer = cnrtErrorNotReady;
    while (answer == cnrtErrorNotReady) answer = cnrtQueueQuery(first);
    CHECK_EQ(answer, cnrtErrorKernelTrap);
    CHECK_EQ(cnrtQueueQuery(first), cnrtSuccess);
    launch_crash(first);  // and the queue is destroyed without a word about it
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(a_notifier_tells_of_failed_work_before_it) {
  const OwnedQueue queue, other;
  const OwnedNotifier before, after;
  std::atomic<bool> called{false};
  CHECK_EQ(cnrtPlaceNotifier(before, queue), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtPlaceNotifier(after, queue), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(after, other, 0), cnrtSuccess);
  call_from(other, [&called] { called = true; });
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK(called);
  CHECK_EQ(cnrtWaitNotifier(before), cnrtSuccess);
  CHECK_EQ(cnrtWaitNotifier(after), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueryNotifier(after), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
}

TEST(memory_is_freed_in_a_failed_queue_too) {
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtMemFreeAsync(pointer, queue), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
}

TEST(a_reset_ends_everything) {
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t notifier = nullptr;
  void *pointer = nullptr;
  CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  CHECK_EQ(cnrtNotifierCreate(&notifier), cnrtSuccess);
  CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtDeviceReset(), cnrtSuccess);
  const mlusimCounters after = counters();
  CHECK(after.live_allocations == 0 && after.live_bytes == 0 && after.live_queues == 0 && after.live_notifiers == 0);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  Device<int> memory(10);
  memory.set(std::vector<int>(10, 4));
  CHECK_EQ(memory.get()[9], 4);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
