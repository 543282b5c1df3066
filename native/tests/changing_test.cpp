// Changes during a call: of the number of threads, on which results must not depend, and of inputs,
// after which results may be wrong but every access stays inside the tensors.
//
// The linker's --wrap installs hooks before and after every parallel phase of a kernel, and after
// every read of the number of threads.
#include <thread>

#include "cpu/pool.h"
#include "problems.h"

namespace {

// Called between phases, if set.
std::function<void()> between_phases;
// Called after each read of the number of threads.
void (*after_thread_count)(int count) = nullptr;

void point() {
  if (between_phases != nullptr) between_phases();
}

}  // namespace

// Mangled names.
#define MLUOPS_WRAPPED(result, name, parameters) \
  extern "C" result __real_##name parameters;    \
  extern "C" result __wrap_##name parameters;    \
  result __wrap_##name parameters

MLUOPS_WRAPPED(void, _ZN6mluops12run_parallelEllPFvPvillES0_,
               (std::int64_t count, std::int64_t grain, mluops::RangeFunction function, void *context)) {
  point();
  __real__ZN6mluops12run_parallelEllPFvPvillES0_(count, grain, function, context);
  point();
}

MLUOPS_WRAPPED(void, _ZN6mluops12run_in_slotsEllPFvPvillES0_,
               (std::int64_t count, std::int64_t slots, mluops::RangeFunction function, void *context)) {
  point();
  __real__ZN6mluops12run_in_slotsEllPFvPvillES0_(count, slots, function, context);
  point();
}

MLUOPS_WRAPPED(int, _ZN6mluops12thread_countEv, ()) {
  const int count = __real__ZN6mluops12thread_countEv();
  if (after_thread_count != nullptr) after_thread_count(count);
  return count;
}

// New memory holds invalid indices, so that using them before initialisation is detected.
MLUOPS_WRAPPED(void *, aligned_alloc, (std::size_t alignment, std::size_t size)) {
  void *memory = __real_aligned_alloc(alignment, size);
  if (memory != nullptr) std::memset(memory, 0x7f, size);
  return memory;
}

using namespace objects;
using namespace problems;

// A second read gives another number, unless the call keeps the first one.
TEST(a_call_uses_one_number_of_threads) {
  static std::atomic<int> first{0}, others{0};
  const Handle handle;
  const int before = mluopsExtGetNumThreads();
  for (const ProblemPointer &problem : all_of("ways_400")) {
    CHECK_EQ(mluopsExtSetNumThreads(1), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
    const std::vector<char> wanted = problem->results();
    for (const int start : {1, 8}) {
      problem->scrub();
      mluopsExtSetNumThreads(start);
      first = others = 0;
      after_thread_count = [](int count) {
        if (first == 0) first = count;
        if (count != first) ++others;
        mluopsExtSetNumThreads(count == 1 ? 8 : 1);
      };
      CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
      after_thread_count = nullptr;
      if (others != 0) harness::report(__FILE__, __LINE__, problem->name + " used several numbers of threads");
      CHECK(problem->results() == wanted);
    }
  }
  mluopsExtSetNumThreads(before);
}

namespace {

// How the integers of an array change: far outside, all zero, each as the largest one was, or in
// the opposite order.
template <typename T>
void change(int how, const std::vector<T> &good, T *values) {
  const T most = *std::max_element(good.begin(), good.end());
  const std::size_t count = good.size();
  for (std::size_t i = 0; i < count; ++i) {
    const T far = i % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    const T all[] = {far, T{0}, most, good[count - 1 - i]};
    values[i] = all[how];
  }
}

// The integers of an argument change at each point between two phases in turn, and are restored at
// the next point or never.
template <typename T>
int change_between_phases(Problem &problem, Argument &argument, mluOpHandle_t handle, int threads) {
  T *const values = reinterpret_cast<T *>(argument.memory->data());
  const std::vector<T> good(values, values + argument.memory->bytes() / static_cast<std::int64_t>(sizeof(T)));
  int points = 0;
  between_phases = [&] { ++points; };
  CHECK_EQ(problem.call(handle), MLUOP_STATUS_SUCCESS);
  const int all = points;
  for (int how = 0; how < 4; ++how) {
    for (int n = 1; n <= all; ++n) {
      const int lasts = (how + n + threads / 2) % 2 == 0 ? 1 : all;
      points = 0;
      between_phases = [&] {
        ++points;
        if (points == n) change(how, good, values);
        if (points == n + lasts) std::copy(good.begin(), good.end(), values);
      };
      problem.scrub();
      const mluOpStatus_t status = problem.call(handle);
      CHECK(status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM);
      if (!problem.intact()) {
        harness::report(__FILE__, __LINE__, problem.name + " wrote beside its tensors, point " + std::to_string(n));
      }
      std::copy(good.begin(), good.end(), values);
    }
  }
  between_phases = nullptr;
  CHECK_EQ(problem.call(handle), MLUOP_STATUS_SUCCESS);
  return all;
}

}  // namespace

TEST(integers_change_between_phases) {
  const Handle handle;
  const int before = mluopsExtGetNumThreads();
  int points = 0, changed = 0;
  for (const int threads : {1, 3}) {
    mluopsExtSetNumThreads(threads);
    for (const ProblemPointer &problem : all_of("ways_100")) {
      for (Argument *argument : problem->inputs()) {
        if (!argument->holds_integers()) continue;
        points += argument->item_size == 8 ? change_between_phases<std::int64_t>(*problem, *argument, handle, threads)
                                           : change_between_phases<std::int32_t>(*problem, *argument, handle, threads);
        ++changed;
      }
    }
  }
  mluopsExtSetNumThreads(before);
  CHECK(changed > 0 && points > 2 * changed);
}

namespace {

// Calls for a moment while another thread alternates a value of `argument` with `bad`.
void call_while_it_changes(const Problem &problem, Argument &argument, std::int32_t bad) {
  constexpr std::chrono::milliseconds kMoment(40);
  const std::int64_t count = argument.memory->bytes() / 4;
  auto *const values = reinterpret_cast<std::int32_t *>(argument.memory->data());
  const std::vector<std::int32_t> good(values, values + count);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (std::int64_t i = 0; !stop; i = (i + 1) % count) {
      __atomic_store_n(values + i, bad, __ATOMIC_RELAXED);
      const std::int64_t before = (i + count - std::min<std::int64_t>(count - 1, 50)) % count;
      __atomic_store_n(values + before, good[static_cast<std::size_t>(before)], __ATOMIC_RELAXED);
    }
  });
  const Handle handle;
  const auto end = std::chrono::steady_clock::now() + kMoment;
  do {
    const mluOpStatus_t status = problem.call(handle);
    CHECK(status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM);
    CHECK(problem.intact());
  } while (std::chrono::steady_clock::now() < end);
  stop = true;
  changer.join();
  std::copy(good.begin(), good.end(), values);
}

constexpr std::int32_t kBad[] = {INT32_MAX, INT32_MIN, 1 << 30, 0};

}  // namespace

// Floats too: some are positions. As floats the values are NaN, -0, 2 and 0.
TEST(inputs_change_during_a_call) {
  for (const ProblemPointer &problem : all_of("ways_100")) {
    for (Argument *argument : problem->inputs()) {
      if (argument->item_size % 4 != 0) continue;
      for (const std::int32_t bad : kBad) call_while_it_changes(*problem, *argument, bad);
    }
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
