// Several threads concurrently call all operators with shared handles and descriptors, create and
// destroy objects, change the number of threads, set the interrupt check and fork. Results are
// right, and ThreadSanitizer reports nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "problems.h"

using namespace objects;
using namespace problems;

namespace {

constexpr int kRounds = 3;

std::atomic<bool> stop{false};

int never() { return 0; }

// Until the others are done.
void change_settings() {
  for (int i = 0; !stop; ++i) {
    CHECK_EQ(mluopsExtSetNumThreads(1 + i % 5), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluopsExtSetInterruptCheck(i % 2 == 0 ? never : nullptr), MLUOP_STATUS_SUCCESS);
    CHECK(mluopsExtGetNumThreads() >= 1);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  mluopsExtSetInterruptCheck(nullptr);
}

// AddressSanitizer of GCC 12 forks without its allocator's locks, so a child may wait for a lock
// that a thread of its parent held.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kChildrenCompute = false;
#else
constexpr bool kChildrenCompute = harness::kChildrenCompute;
#endif

// The child computes, and ends.
void fork_now_and_then() {
  const Handle handle;
  const ProblemPointer problem = one_of("ways_100", 0);
  CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
  const std::vector<char> wanted = problem->results();
  while (!stop) {
    const pid_t child = fork();
    if (child == 0) {
      if (!kChildrenCompute) _exit(0);
      _exit(problem->call(handle) == MLUOP_STATUS_SUCCESS && problem->results() == wanted ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// Each object is destroyed once, although two threads try.
void make_and_destroy() {
  for (int i = 0; i < 200; ++i) {
    std::vector<mluOpTensorDescriptor_t> descs(20);
    for (auto &desc : descs) CHECK_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    std::atomic<int> destroyed{0};
    const auto destroy = [&] {
      for (auto &desc : descs) destroyed += mluOpDestroyTensorDescriptor(desc) == MLUOP_STATUS_SUCCESS;
    };
    std::thread other(destroy);
    destroy();
    other.join();
    // A concurrent creation may reuse the address, and the second thread would destroy the new
    // object; so no other thread creates here.
    CHECK_EQ(destroyed.load(), 20);
    CHECK_EQ(mluOpDestroyTensorDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
    CHECK(mluopsExtGetLastReason()[0] != '\0');
  }
}

void call_all(mluOpHandle_t handle, const std::vector<std::vector<char>> &wanted) {
  const std::vector<ProblemPointer> own = all_of("ways_100");
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i]->scrub();
      CHECK_EQ(own[i]->call(handle), MLUOP_STATUS_SUCCESS);
      if (own[i]->results() != wanted[i]) harness::report(__FILE__, __LINE__, own[i]->name + " was wrong");
      CHECK(own[i]->intact());
    }
  }
}

}  // namespace

TEST(all_operations_concurrently) {
  const Handle shared;
  std::vector<std::vector<char>> wanted;
  for (const ProblemPointer &problem : all_of("ways_100")) {
    CHECK_EQ(problem->call(shared), MLUOP_STATUS_SUCCESS);
    wanted.push_back(problem->results());
  }
  stop = false;
  std::vector<std::thread> others;
  others.emplace_back(change_settings);
  others.emplace_back(fork_now_and_then);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { call_all(shared, wanted); });
  for (std::thread &caller : callers) caller.join();
  stop = true;
  for (std::thread &other : others) other.join();
}

TEST(descriptors_are_shared) {
  const Handle handle;
  const Descriptor desc({2, 3, 4, 5}, MLUOP_DTYPE_FLOAT), shifts({2, 1}, MLUOP_DTYPE_INT32);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<float> from(120, 1.0f);
      const std::vector<std::int32_t> steps(2, 0);
      for (int call = 0; call < 200; ++call) {
        std::vector<float> to(120);
        CHECK_EQ(mluOpTinShiftForward(handle, desc, from.data(), shifts, steps.data(), desc, to.data()),
                 MLUOP_STATUS_SUCCESS);
        CHECK(to == from);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(objects_are_made_and_destroyed) { make_and_destroy(); }

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
