// The thread pool: every index once, nested calls, many callers, changing numbers of threads,
// teams, fork.
#include "cpu/pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "cpu/process.h"
#include "harness.h"
#include "team.h"

namespace {

using Counters = std::vector<std::atomic<int>>;

// How often each index was visited by one parallel_for.
void visit(std::int64_t count, std::int64_t grain, Counters *visits) {
  auto body = [&](std::int64_t begin, std::int64_t end) {
    CHECK(begin >= 0 && begin < end && end <= count);
    for (std::int64_t i = begin; i < end; ++i) ++(*visits)[static_cast<std::size_t>(i)];
  };
  mluops::parallel_for(count, grain, body);
}

bool each_once(std::int64_t count, std::int64_t grain) {
  Counters visits(static_cast<std::size_t>(count > 0 ? count : 0));
  visit(count, grain, &visits);
  for (const auto &visited : visits) {
    if (visited != 1) return false;
  }
  return true;
}

struct Threads {
  explicit Threads(int count) : before(mluops::thread_count()) { mluops::set_thread_count(count); }
  ~Threads() { mluops::set_thread_count(before); }
  const int before;
};

// Forks, runs `work` in the child and returns its exit code; -1 if it hangs.
template <typename Work>
int in_child(const Work &work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(!harness::kChildrenCompute || work() ? 0 : 1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST(every_index_is_visited_once) {
  for (const int threads : {1, 2, 3, 8, 64}) {
    const Threads set(threads);
    for (const std::int64_t count : {1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 10007}) {
      for (const std::int64_t grain : {-1, 0, 1, 2, 7, 100, 20000}) CHECK(each_once(count, grain));
    }
  }
}

TEST(nothing_to_do_calls_nothing) {
  const Threads set(4);
  auto body = [](std::int64_t, std::int64_t) { CHECK(!"called"); };
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    mluops::parallel_for(count, 1, body);
  }
}

TEST(one_piece_below_the_grain) {
  const Threads set(8);
  int calls = 0;  // not atomic: one piece runs on the calling thread
  auto body = [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    CHECK_EQ(end - begin, std::int64_t{100});
  };
  mluops::parallel_for(100, 100, body);
  CHECK_EQ(calls, 1);
}

TEST(a_nested_call_runs_on_its_own_thread) {
  const Threads set(4);
  std::atomic<int> visited{0}, elsewhere{0};
  auto outer = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::thread::id here = std::this_thread::get_id();
      auto inner = [&](std::int64_t from, std::int64_t to) {
        if (std::this_thread::get_id() != here) ++elsewhere;
        visited += static_cast<int>(to - from);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time enough for others to join
      };
      mluops::parallel_for(32, 1, inner);
    }
  };
  for (int round = 0; round < 10; ++round) mluops::parallel_for(2, 1, outer);
  CHECK_EQ(visited.load(), 10 * 2 * 32);
  CHECK_EQ(elsewhere.load(), 0);
  CHECK(each_once(1000, 1));  // the caller does not count as nested afterwards
}

namespace {

// Whether three pieces are worked on at the same time.
bool three_at_once() {
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  auto body = [&](std::int64_t, std::int64_t) {
    if (++inside == 3) together = true;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!together && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    --inside;
  };
  mluops::parallel_for(3, 1, body);
  return together;
}

}  // namespace

TEST(several_threads_take_part) {
  const Threads set(3);
  CHECK(three_at_once());
}

TEST(no_more_threads_than_asked_for) {
  const Threads set(2);
  std::atomic<int> inside{0}, most{0};
  auto body = [&](std::int64_t, std::int64_t) {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --inside;
  };
  for (int round = 0; round < 20; ++round) mluops::parallel_for(64, 1, body);
  CHECK(most <= 2);
}

// Thread of each slot, visits and slot of each index, and the first index of each slot.
struct Visits {
  explicit Visits(std::int64_t count)
      : indices(static_cast<std::size_t>(count)), visitors(static_cast<std::size_t>(count), -1) {}
  static void visit(void *context, int slot, std::int64_t begin, std::int64_t end) {
    Visits &visits = *static_cast<Visits *>(context);
    const std::size_t here = static_cast<std::size_t>(slot);
    CHECK(here < visits.busy.size() && !visits.busy[here].exchange(true));
    if (visits.first[here] < 0) visits.first[here] = begin;
    for (std::int64_t i = begin; i < end; ++i) {
      ++visits.indices[static_cast<std::size_t>(i)];
      visits.visitors[static_cast<std::size_t>(i)] = slot;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));  // time enough for others to join
    visits.busy[here] = false;
  }

  std::array<std::atomic<bool>, 100> busy{};
  std::vector<std::int64_t> first = std::vector<std::int64_t>(100, -1);
  Counters indices;
  std::vector<int> visitors;
};

TEST(slots_are_not_shared) {
  for (const int slots : {1, 2, 7, 64, 65, 100}) {
    const std::int64_t count = 240;
    Visits visits(count);
    mluops::run_in_slots(count, slots, Visits::visit, &visits);
    for (const auto &visited : visits.indices) CHECK_EQ(visited.load(), 1);
    for (std::size_t slot = static_cast<std::size_t>(slots); slot < visits.first.size(); ++slot) {
      CHECK_EQ(visits.first[slot], std::int64_t{-1});
    }
  }
}

TEST(a_slot_begins_where_it_began_before) {
  constexpr std::int64_t kPart = 80;
  for (int round = 0; round < 5; ++round) {
    Visits visits(3 * kPart);
    mluops::run_in_slots(3 * kPart, 3, Visits::visit, &visits);
    for (int slot = 0; slot < 3; ++slot) {
      // A late thread may find its part done by others.
      const auto own = visits.visitors.begin() + slot * kPart;
      const std::int64_t first = visits.first[static_cast<std::size_t>(slot)];
      if (std::count(own, own + kPart, slot) != 0) CHECK_EQ(first / kPart, std::int64_t{slot});
    }
  }
}

TEST(many_callers_at_once) {
  const Threads set(4);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 16; ++caller) {
    callers.emplace_back([caller] {
      for (int i = 0; i < 200; ++i) CHECK(each_once(1 + (caller * 131 + i * 17) % 500, 1 + i % 5));
    });
  }
  for (std::thread &caller : callers) caller.join();
}

TEST(number_of_threads_changes_during_calls) {
  const Threads set(2);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) mluops::set_thread_count(1 + i % 17);
  });
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([] {
      for (int i = 0; i < 500; ++i) CHECK(each_once(300, 1));
    });
  }
  for (std::thread &caller : callers) caller.join();
  stop = true;
  changer.join();
}

TEST(short_lived_callers) {
  const Threads set(3);
  for (int i = 0; i < 200; ++i) std::thread([] { CHECK(each_once(50, 1)); }).join();
}

TEST(a_team_takes_the_place_of_threads) {
  const Threads set(3);
  const team::Set teams(team::run, 3);
  for (const std::int64_t count : {2, 3, 8, 65, 10007}) CHECK(each_once(count, 1));
  CHECK_EQ(team::calls.load(), 5);
  CHECK_EQ(team::asked.load(), 3u);
  CHECK(each_once(100, 100));  // one piece
  CHECK_EQ(team::calls.load(), 5);
}

TEST(all_members_of_a_team_take_part) {
  const Threads set(3);
  const team::Set teams(team::run, 3);
  CHECK(three_at_once());
  CHECK_EQ(team::calls.load(), 1);
}

TEST(members_of_a_team_have_slots_of_their_own) {
  const Threads set(6);
  const team::Set teams(team::run, 6);
  std::array<std::atomic<int>, 6> inside{};
  std::atomic<int> shared{0};
  for (int i = 0; i < 50; ++i) {
    mluops::run_in_slots(
        200, 4,
        [](void *context, int slot, std::int64_t, std::int64_t) {
          auto &[counts, bad] = *static_cast<std::pair<decltype(&inside), decltype(&shared)> *>(context);
          if (slot >= 4 || ++(*counts)[static_cast<std::size_t>(slot)] != 1) ++*bad;
          --(*counts)[static_cast<std::size_t>(slot)];
        },
        std::array<std::pair<decltype(&inside), decltype(&shared)>, 1>{{{&inside, &shared}}}.data());
  }
  CHECK_EQ(shared.load(), 0);
  CHECK_EQ(team::asked.load(), 6u);  // always the whole team
}

TEST(a_team_is_for_its_number_of_threads) {
  const team::Set teams(team::run, 3);
  for (const int threads : {1, 2, 4}) {
    const Threads set(threads);
    CHECK(each_once(10007, 1));
  }
  CHECK_EQ(team::calls.load(), 0);
}

TEST(a_team_may_be_the_caller_alone) {
  const Threads set(4);
  const team::Set teams(team::run_alone, 4);
  for (int i = 0; i < 20; ++i) CHECK(each_once(1000, 1));
  CHECK_EQ(team::calls.load(), 20);
}

TEST(only_the_main_thread_has_a_team) {
  const Threads set(3);
  const team::Set teams(team::run, 3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([] {
      for (int call = 0; call < 30; ++call) CHECK(each_once(1000, 3));
    });
  }
  for (int call = 0; call < 30; ++call) CHECK(each_once(1000, 3));
  for (std::thread &one : callers) one.join();
  CHECK_EQ(team::calls.load(), 30);
}

TEST(the_number_of_threads_of_a_team_is_checked) {
  for (const int threads : {0, -1, mluops::kMaxThreads + 1}) {
    CHECK_EQ(mluopsExtSetTeam(team::run, threads), MLUOP_STATUS_BAD_PARAM);
  }
  CHECK_EQ(mluopsExtSetTeam(nullptr, 0), MLUOP_STATUS_SUCCESS);
}

TEST(there_is_no_team_in_the_child_of_a_fork) {
  const Threads set(3);
  const team::Set teams(team::run, 3);
  CHECK(each_once(1000, 1));
  const int before = team::calls;
  CHECK(before > 0);
  CHECK_EQ(in_child([&] {
             if (!each_once(1000, 1) || mluopsExtSetTeam(team::run, 3) != MLUOP_STATUS_SUCCESS) return false;
             return each_once(1000, 1) && team::calls == before;
           }),
           0);
  CHECK(each_once(1000, 1));
  CHECK(team::calls > before);
}

TEST(a_process_knows_whether_a_fork_began_it) {
  CHECK(!mluops::begun_by_fork());
  CHECK_EQ(in_child([] { return mluops::begun_by_fork(); }), 0);
  CHECK(!mluops::begun_by_fork("7 (python3) S 1 7 7 0 -1 4194304 99 0"));
  CHECK(mluops::begun_by_fork("7 (python3) S 1 7 7 0 -1 4194368 99 0"));
  CHECK(!mluops::begun_by_fork("7 (a) R 1 2 3 4 5 64 (\n) S 1 7 7 0 -1 4194304 99 0"));
  for (const char *unknown : {"7 (python3) S 1 7 7 0 -1 0 0", "7 (python3) S 1 7", "7", ""}) {
    CHECK(mluops::begun_by_fork(unknown));
  }
}

TEST(fork_after_use) {
  const Threads set(4);
  CHECK(each_once(1000, 1));
  CHECK_EQ(in_child([] { return each_once(1000, 1) && each_once(7, 1); }), 0);
  CHECK_EQ(in_child([] { return in_child([] { return each_once(1000, 1); }) == 0; }), 0);
  CHECK(each_once(1000, 1));
}

TEST(fork_while_others_compute) {
  const Threads set(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!stop) CHECK(each_once(100, 1));
    });
  }
  for (int i = 0; i < 20; ++i) CHECK_EQ(in_child([] { return each_once(1000, 1); }), 0);
  stop = true;
  for (std::thread &caller : callers) caller.join();
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
