// The interrupt check: when it is called, and the effect of an interruption.
//
// The linker's --wrap replaces the library's clock. The tests can make it run so fast that the
// check is called at every opportunity, and interrupt a call at each of these points in turn.
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "problems.h"
#include "team.h"

extern "C" int __real_clock_gettime(clockid_t clock, struct timespec *now);
extern "C" int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

namespace {

std::atomic<bool> fast_clock{false};
std::atomic<long> fast_seconds{0};

}  // namespace

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
  const int result = __real_clock_gettime(clock, now);
  if (fast_clock && clock == CLOCK_MONOTONIC_COARSE) now->tv_sec += ++fast_seconds;
  return result;
}

using namespace objects;
using namespace problems;

namespace {

// The interrupt check of these tests.
std::thread::id caller;
std::atomic<int> asked{0}, end_at{0}, elsewhere{0};

std::clock_t ended;  // CPU time of the process at the interruption

int check() {
  if (std::this_thread::get_id() != caller) ++elsewhere;
  if (++asked != end_at) return 0;
  ended = std::clock();
  return 1;
}

// Sets the check and a number of threads during a test.
struct Checked {
  explicit Checked(int threads) : before(mluopsExtGetNumThreads()) {
    caller = std::this_thread::get_id();
    elsewhere = 0;
    CHECK_EQ(mluopsExtSetNumThreads(threads), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluopsExtSetInterruptCheck(check), MLUOP_STATUS_SUCCESS);
  }
  ~Checked() {
    fast_clock = false;
    CHECK_EQ(elsewhere.load(), 0);
    CHECK_EQ(mluopsExtSetInterruptCheck(nullptr), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluopsExtSetNumThreads(before), MLUOP_STATUS_SUCCESS);
  }
  const int before;
};

// Calls while the n-th check interrupts; never if that is 0.
mluOpStatus_t call(const Problem &problem, mluOpHandle_t handle, int n) {
  asked = 0;
  end_at = n;
  return problem.call(handle);
}

void check_ended(const Problem &problem, mluOpStatus_t status) {
  if (status != MLUOP_STATUS_EXECUTION_FAILED) harness::report(__FILE__, __LINE__, problem.name + " was not ended");
  CHECK_EQ(std::string(mluopsExtGetLastReason()), problem.function + ": interrupted");
  if (!problem.intact()) harness::report(__FILE__, __LINE__, problem.name + " wrote beside its tensors");
}

}  // namespace

// Tests about thirty of the points, including the first ones.
static void end_at_every_point(int threads) {
  const Handle handle;
  const Checked checked(threads);
  for (const ProblemPointer &problem : all_of("ways_400")) {
    fast_clock = false;
    CHECK_EQ(call(*problem, handle, 0), MLUOP_STATUS_SUCCESS);
    const std::vector<char> wanted = problem->results();
    fast_clock = true;
    problem->scrub();
    CHECK_EQ(call(*problem, handle, 0), MLUOP_STATUS_SUCCESS);
    CHECK(problem->results() == wanted);
    const int points = asked;
    // With several threads the number varies, since another thread may do all the work of a phase.
    for (int n = 1; n <= points; n += n < 12 ? 1 : points / 16 + 1) {
      problem->scrub();
      const mluOpStatus_t status = call(*problem, handle, n);
      if (threads == 1 || status != MLUOP_STATUS_SUCCESS) check_ended(*problem, status);
      CHECK(problem->intact());
    }
    problem->scrub();
    CHECK_EQ(call(*problem, handle, 0), MLUOP_STATUS_SUCCESS);
    CHECK(problem->results() == wanted);
  }
}

TEST(a_call_ends_at_every_point_with_one_thread) { end_at_every_point(1); }
TEST(a_call_ends_at_every_point_with_several_threads) { end_at_every_point(4); }
TEST(a_call_ends_at_every_point_with_a_team) {
  const team::Set teams(team::run, 3);
  end_at_every_point(3);
  CHECK(team::calls > 0);
}

// Reading the clock would dominate their time.
TEST(short_calls_do_not_look_at_the_clock) {
  const Handle handle;
  const Checked checked(1);
  fast_clock = true;
  fast_seconds = 0;
  for (const ProblemPointer &problem : all_of("one_phase")) {
    CHECK_EQ(call(*problem, handle, 1), MLUOP_STATUS_SUCCESS);
    if (fast_seconds != 0) harness::report(__FILE__, __LINE__, problem->name + " looked at the clock");
    fast_seconds = 0;
  }
}

TEST(every_phase_ends_the_call) {
  const Handle handle;
  const Checked checked(1);
  fast_clock = true;
  for (const ProblemPointer &problem : all_of("phases")) {
    CHECK_EQ(call(*problem, handle, 0), MLUOP_STATUS_SUCCESS);
    const int points = asked;
    if (points < 4) harness::report(__FILE__, __LINE__, problem->name + ": " + std::to_string(points) + " points");
    for (int n = 1; n <= points; n += points / 12 + 1) {
      problem->scrub();
      check_ended(*problem, call(*problem, handle, n));
      CHECK_EQ(asked.load(), n);
    }
  }
}

TEST(without_a_check_nothing_is_interrupted) {
  const Handle handle;
  {
    const Checked checked(2);
    fast_clock = true;
  }
  fast_clock = true;
  asked = 0;
  end_at = 1;
  for (const ProblemPointer &problem : all_of("ways_400")) CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
  fast_clock = false;
  CHECK_EQ(asked.load(), 0);
}

// ---- Calls that would take seconds or hours -----------------------------------------------------

namespace {

// Each call is interrupted at the first check. CPU time, since other processes may run meanwhile.
template <typename Function>
void ends_soon(const char *function, const Function &operation) {
  for (const int threads : {1, 4}) {
    const Checked checked(threads);
    double took = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {  // the pages of a result may be new
      asked = 0;
      end_at = 1;
      CHECK_EQ(operation(), MLUOP_STATUS_EXECUTION_FAILED);
      took = static_cast<double>(std::clock() - ended) / CLOCKS_PER_SEC;
      if (took < 0.5 * threads) break;
    }
    CHECK_EQ(std::string(mluopsExtGetLastReason()), std::string(function) + ": interrupted");
    if (took >= 0.5 * threads) {
      harness::report(__FILE__, __LINE__, std::string(function) + " went on for " + std::to_string(took) + " s");
    }
  }
}

}  // namespace

TEST(endless_calls_end_soon) {
  const Handle handle;
  for (std::size_t i = 0; i < file_of("endless").size(); ++i) {  // one at a time, for the address space
    const ProblemPointer problem = one_of("endless", i);
    ends_soon(problem->function.c_str(), [&] { return problem->call(handle); });
    if (!problem->intact()) harness::report(__FILE__, __LINE__, problem->name + " wrote beside its tensors");
  }
}

// ---- Acts of a check ----------------------------------------------------------------------------

TEST(a_check_may_call_operators) {
  static Problem *inner = nullptr;
  static mluOpHandle_t inner_handle = nullptr;
  static int depth = 0, good = 0;
  const Handle handle, other;
  const ProblemPointer outer = one_of("phases", 1), nested = one_of("ways_400", 0);
  CHECK_EQ(outer->call(handle), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(nested->call(other), MLUOP_STATUS_SUCCESS);
  const std::vector<char> wanted = outer->results(), nested_wanted = nested->results();
  inner = nested.get();
  inner_handle = other;
  for (const int threads : {1, 4}) {
    const Checked checked(threads);
    fast_clock = true;
    good = 0;
    mluopsExtSetInterruptCheck([] {
      if (depth > 0) return 0;
      ++depth;
      good += inner->call(inner_handle) == MLUOP_STATUS_SUCCESS;
      --depth;
      return 0;
    });
    outer->scrub();
    nested->scrub();
    CHECK_EQ(outer->call(handle), MLUOP_STATUS_SUCCESS);
    CHECK(good > 0);
    CHECK(outer->results() == wanted);
    CHECK(nested->results() == nested_wanted);
  }
}

namespace {

// The child of a fork lacks the call's worker threads: the call ends there, and later calls work.
void fork_in_a_check() {
  static bool forked;
  static pid_t child;
  forked = false;
  child = -1;
  const Handle handle;
  const ProblemPointer problem = one_of("phases", 1);
  CHECK_EQ(problem->call(handle), MLUOP_STATUS_SUCCESS);
  const std::vector<char> wanted = problem->results();
  const Checked checked(4);
  fast_clock = true;
  std::fflush(nullptr);
  mluopsExtSetInterruptCheck([] {
    if (!forked) child = fork();
    forked = true;
    return 0;
  });
  problem->scrub();
  const mluOpStatus_t status = problem->call(handle);
  mluopsExtSetInterruptCheck(nullptr);
  if (child == 0) {
    const bool ended = status == MLUOP_STATUS_EXECUTION_FAILED;
    if (!harness::kChildrenCompute) _exit(ended ? 0 : 1);
    _exit(ended && problem->call(handle) == MLUOP_STATUS_SUCCESS && problem->results() == wanted ? 0 : 1);
  }
  CHECK_EQ(status, MLUOP_STATUS_SUCCESS);
  CHECK(problem->results() == wanted);
  int ended = -1;
  CHECK(child > 0 && waitpid(child, &ended, 0) == child);
  CHECK_EQ(ended, 0);
}

}  // namespace

TEST(a_check_may_fork) { fork_in_a_check(); }
TEST(a_check_may_fork_in_a_team) {
  const team::Set teams(team::run, 4);
  fork_in_a_check();
  CHECK(team::calls > 0);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
