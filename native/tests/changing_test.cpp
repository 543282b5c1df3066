// Changes during a call: of the number of threads, on which results must not depend, and of inputs, after which results
// may be wrong but every access stays inside the tensors.
//
// The linker's --wrap installs hooks before and after every parallel phase of a kernel, and after every read of the
// number of threads.
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
  for (const ProblemPointer &problem : every_way(400)) {
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

// How rows change: far outside, shifted, all equal, or permuted.
void change_rows(int how, std::int32_t *rows, std::int64_t count, const Sparse &way) {
  for (std::int64_t l = 0; l < count; ++l) {
    std::int32_t *row = rows + l * 4;
    switch (how) {
      case 0:
        for (int i = 0; i < 4; ++i) row[i] = l % 2 == 0 ? INT32_MAX : INT32_MIN;
        break;
      case 1:
        for (int i = 0; i < 4; ++i) row[i] = 0;
        break;
      case 2:
        for (int i = 0; i < 3; ++i) row[i + 1] = way.space[i] - 1;
        break;
      default:
        for (int i = 0; i < 3; ++i) row[i + 1] = static_cast<std::int32_t>((l * 7919 + i * 31) % way.space[i]);
    }
  }
}

}  // namespace

// The rows change at each point between two phases in turn, and are restored at the next point or never.
TEST(rows_change_between_phases) {
  const Handle handle;
  for (const int threads : {1, 3}) {
    const int before = mluopsExtGetNumThreads();
    mluopsExtSetNumThreads(threads);
    for (const Sparse &way : sparse_ways(5000)) {
      const ProblemPointer problem = get_indice_pairs(way);
      Argument &rows = problem->argument(0);
      const std::vector<std::int32_t> good(rows.as<std::int32_t>(), rows.as<std::int32_t>() + way.rows * 4);
      int points = 0;
      between_phases = [&] { ++points; };
      CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
      const int all = points;
      CHECK(all > 4);
      for (int how = 0; how < 4; ++how) {
        for (int n = 1; n <= all; ++n) {
          const int lasts = (how + n + threads / 2) % 2 == 0 ? 1 : all;
          points = 0;
          between_phases = [&] {
            ++points;
            if (points == n) change_rows(how, rows.as<std::int32_t>(), way.rows, way);
            if (points == n + lasts) std::copy(good.begin(), good.end(), rows.as<std::int32_t>());
          };
          problem->scrub();
          const mluOpStatus_t status = problem->call(handle);
          CHECK(status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM);
          if (!problem->intact()) {
            harness::report(__FILE__, __LINE__,
                            problem->name + " wrote beside its tensors, point " + std::to_string(n));
          }
          std::copy(good.begin(), good.end(), rows.as<std::int32_t>());
        }
      }
      between_phases = nullptr;
      CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
    }
    mluopsExtSetNumThreads(before);
  }
}

namespace {

// Calls while another thread alternates a value of `argument` with `bad`.
void call_while_it_changes(const Problem &problem, Argument &argument, std::int32_t bad, int calls) {
  const std::int64_t count = argument.memory.bytes() / 4;
  std::int32_t *values = argument.as<std::int32_t>();
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
  for (int i = 0; i < calls; ++i) {
    const mluOpStatus_t status = problem.call(handle);
    CHECK(status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM);
    CHECK(problem.intact());
  }
  stop = true;
  changer.join();
}

constexpr std::int32_t kBad[] = {INT32_MAX, INT32_MIN, 1 << 30, 0};

}  // namespace

TEST(indices_change_during_a_call) {
  for (const std::int32_t bad : kBad) {
    for (const bool forward : {true, false}) {
      for (const std::int64_t channels : {1, 20}) {
        const ProblemPointer problem = three_interpolate(forward, channels, 300, 20000);
        call_while_it_changes(*problem, problem->argument(1), bad, 20);
      }
      const ProblemPointer problem = tin_shift(forward, 5, 64, 40);
      call_while_it_changes(*problem, problem->argument(1), bad, 300);
    }
  }
}

TEST(boxes_and_argmax_change_during_a_call) {
  for (const std::int32_t bad : kBad) {  // as floats: NaN, -0, 2
    for (const bool forward : {true, false}) {
      for (const std::int64_t boxes : {1, 20000}) {
        const ProblemPointer problem = border_align(forward, 30, 40, boxes, 2, 10);
        call_while_it_changes(*problem, problem->argument(0), bad, boxes == 1 ? 2000 : 10);
        if (!forward) call_while_it_changes(*problem, problem->argument(2), bad, boxes == 1 ? 2000 : 10);
      }
    }
  }
}

TEST(rows_change_during_a_call) {
  for (const Sparse &way : sparse_ways(5000)) {
    const ProblemPointer problem = get_indice_pairs(way);
    for (const std::int32_t bad : {0, 1, 2}) call_while_it_changes(*problem, problem->argument(0), bad, 15);
  }
}

namespace {

// How pairs change: all far outside, all equal, descending, or one of them outside.
void change_pairs(int how, std::int32_t *pairs, std::int64_t sides, std::int64_t rows) {
  for (std::int64_t side = 0; side < sides; ++side) {
    for (std::int64_t l = 0; l < rows; ++l) {
      const bool outside = how == 0 || (how == 3 && l == rows / 2);
      const std::int64_t row = how == 1 ? rows / 2 : how == 2 ? rows - 1 - l : l;
      pairs[side * rows + l] = outside ? (l % 2 == 0 ? INT32_MAX : INT32_MIN) : static_cast<std::int32_t>(row);
    }
  }
}

}  // namespace

TEST(pairs_change_between_phases) {
  constexpr std::int64_t kRows = 3000;
  const Handle handle;
  for (const int threads : {1, 3}) {
    const int before = mluopsExtGetNumThreads();
    mluopsExtSetNumThreads(threads);
    for (const bool ascending : {true, false}) {
      for (const int direction : {0, 1, 2}) {
        const ProblemPointer problem = indice_convolution(direction, ascending, kRows, 16, 20);
        Argument &pairs = problem->argument(2);
        const std::int64_t count = pairs.memory.bytes() / 4;
        const std::vector<std::int32_t> good(pairs.as<std::int32_t>(), pairs.as<std::int32_t>() + count);
        int points = 0;
        between_phases = [&] { ++points; };
        CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
        const int all = points;
        CHECK(all >= (direction == 2 ? 4 : 8));
        for (int how = 0; how < 4; ++how) {
          for (int n = 1; n <= all; ++n) {
            points = 0;
            between_phases = [&] {
              if (++points == n) change_pairs(how, pairs.as<std::int32_t>(), count / kRows, kRows);
            };
            problem->scrub();
            const mluOpStatus_t status = problem->call(handle);
            CHECK(status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM);
            CHECK(problem->intact());
            std::copy(good.begin(), good.end(), pairs.as<std::int32_t>());
          }
        }
        between_phases = nullptr;
        CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
      }
    }
    mluopsExtSetNumThreads(before);
  }
}

TEST(pairs_change_during_a_call) {
  for (const std::int32_t bad : kBad) {
    for (const bool ascending : {true, false}) {
      for (const int direction : {0, 1, 2}) {
        const ProblemPointer problem = indice_convolution(direction, ascending, 2000, 8, 8);
        call_while_it_changes(*problem, problem->argument(2), bad, 30);
      }
    }
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
