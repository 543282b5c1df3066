// Device memory: where allocations lie, what is known of freed ones, and what is given back.
#include "machine/heap.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <thread>

#include "harness.h"
#include "machine/memory.h"
#include "machine/model.h"

using namespace mlusim;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGap = 256;

// An empty heap of that many MiB, opened for the test.
class Fresh {
 public:
  explicit Fresh(std::int64_t mebibytes, bool quarantine = false) {
    mlusimDeviceModel model = device();
    model.memory_mib = mebibytes;
    set_device(model);
    ensure_memory();
    heap_set_quarantine(quarantine);
    open_heap();
  }
  Fresh(const Fresh &) = delete;
  Fresh &operator=(const Fresh &) = delete;
  ~Fresh() {
    close_heap();
    heap_set_quarantine(false);
    heap_reset();
    release_memory();
  }
};

char *allocate(std::size_t bytes) { return static_cast<char *>(heap_allocate(bytes)); }

std::uint64_t number_of(const void *address) {
  Allocation allocation;
  return heap_find(address, &allocation) && allocation.begin == address ? allocation.number : 0;
}

bool freed(const void *address) {
  Allocation allocation;
  return heap_find(address, &allocation) && !allocation.live && allocation.begin == address;
}

// How much of the pages that lie within the bytes has memory behind it.
std::size_t resident_bytes(const char *begin, std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::size_t pages = (reinterpret_cast<std::uintptr_t>(begin) + bytes - first) / page;
  std::vector<unsigned char> present(pages);
  CHECK_EQ(mincore(reinterpret_cast<void *>(first), pages * page, present.data()), 0);
  return page * static_cast<std::size_t>(std::count(present.begin(), present.end(), 1));
}

// Sizes of programs: mostly small, some large.
std::size_t random_size(std::mt19937 &random) {
  const auto bits = random() % 19;
  return 1 + random() % (std::size_t{1} << bits);
}

// Checks an allocation against the others that live.
void check_apart(const std::map<char *, std::size_t> &live, char *begin, std::size_t bytes) {
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(begin) % kGap, 0u);
  const auto next = live.upper_bound(begin);
  if (next != live.end()) CHECK(begin + bytes + kGap <= next->first);
  if (next != live.begin()) {
    const auto previous = std::prev(next);
    CHECK(previous->first + previous->second + kGap <= begin);
  }
  CHECK(begin >= heap_range().begin + kGap && begin + bytes + kGap <= heap_range().end);
}

void run_at_random(bool quarantine) {
  const Fresh heap(64, quarantine);
  std::mt19937 random(quarantine ? 2 : 1);
  std::map<char *, std::size_t> live;
  std::uint64_t bytes_live = 0;
  for (int step = 0; step < 60000; ++step) {
    if (step % 7 == 3) heap_set_quarantine(quarantine != (random() % 64 == 0));
    if (random() % 100 < 52 && live.size() < 800) {
      const std::size_t bytes = random_size(random);
      char *begin = allocate(bytes);
      if (begin == nullptr) continue;  // the device is full
      check_apart(live, begin, bytes);
      live[begin] = bytes;
      bytes_live += bytes;
      begin[0] = begin[bytes - 1] = 1;
    } else if (!live.empty()) {
      auto entry = live.lower_bound(heap_range().begin + random() % (64 * kMiB));
      if (entry == live.end()) entry = live.begin();
      bytes_live -= entry->second;
      CHECK(heap_free(entry->first) == Freed::kDone);
      CHECK(!heap_holds(entry->first, 1));
      live.erase(entry);
    }
    const HeapTotals totals = heap_totals();
    CHECK_EQ(totals.live_allocations, live.size());
    CHECK_EQ(totals.live_bytes, bytes_live);
  }
  for (const auto &entry : live) {
    CHECK(heap_holds(entry.first, entry.second));
    CHECK(!heap_holds(entry.first, entry.second + 1));
    CHECK(heap_free(entry.first) == Freed::kDone);
  }
  CHECK_EQ(heap_free_bytes(0), 64 * kMiB);
  // Nothing is lost to fragments: one allocation can have it all.
  char *all = allocate(64 * kMiB);
  CHECK(all != nullptr);
}

}  // namespace

TEST(random_life_with_fast_reuse) { run_at_random(false); }

TEST(random_life_in_quarantine) { run_at_random(true); }

TEST(what_an_address_belongs_to) {
  const Fresh heap(16);
  char *first = allocate(1000);
  char *second = allocate(10);
  Allocation found;
  CHECK(heap_holds(first, 1000) && heap_holds(first + 999, 1) && heap_holds(first, 0));
  CHECK(!heap_holds(first, 1001) && !heap_holds(first + 1000, 1) && !heap_holds(first - 1, 1));
  CHECK(!heap_holds(first + 1, SIZE_MAX) && !heap_holds(nullptr, 1) && !heap_holds(&found, 1));
  CHECK(heap_find(first + 500, &found) && found.begin == first && found.bytes == 1000 && found.live);
  const std::uint64_t number = found.number;
  CHECK(heap_find(first + 1001, &found) && found.begin == first);
  CHECK(heap_find(second - 1, &found) && found.begin == second && found.number == number + 1);
  CHECK(heap_find(second + 10 + 4000, &found) && found.begin == second);
  CHECK(!heap_find(second + 10 + 5000, &found));
  CHECK(!heap_find(nullptr, &found) && !heap_find(&found, &found));
}

TEST(what_cannot_be_freed) {
  const Fresh heap(16);
  int on_host = 0;
  char *begin = allocate(1000);
  CHECK(heap_free(begin + 1) == Freed::kUnknown);
  CHECK(heap_free(begin + 256) == Freed::kUnknown);
  CHECK(heap_free(nullptr) == Freed::kUnknown);
  CHECK(heap_free(&on_host) == Freed::kUnknown);
  CHECK(heap_free(begin) == Freed::kDone);
  CHECK(heap_free(begin) == Freed::kTwice);
  CHECK(freed(begin));
}

TEST(memory_of_the_device_is_limited) {
  const Fresh heap(16);
  CHECK(heap_allocate(0) == nullptr);
  CHECK(heap_allocate(16 * kMiB + 1) == nullptr);
  CHECK(heap_allocate(SIZE_MAX) == nullptr && heap_allocate(SIZE_MAX - 255) == nullptr);
  for (int round = 0; round < 100; ++round) {
    char *halves[] = {allocate(8 * kMiB), allocate(8 * kMiB)};
    CHECK(halves[0] != nullptr && halves[1] != nullptr);
    CHECK_EQ(heap_free_bytes(0), 0u);
    CHECK(heap_allocate(1) == nullptr);
    CHECK(heap_free(halves[round % 2]) == Freed::kDone && heap_free(halves[1 - round % 2]) == Freed::kDone);
    heap_set_quarantine(round % 3 == 0);
  }
}

TEST(freed_places_come_back_last_first) {
  const Fresh heap(16);
  char *first = allocate(5000);
  char *second = allocate(5000);
  second[4999] = 77;
  heap_free(first);
  heap_free(second);
  CHECK(allocate(600) != first);  // of another size
  CHECK_EQ(static_cast<void *>(allocate(5001)), static_cast<void *>(second));
  CHECK_EQ(second[4999], 77);  // its pages were kept
  CHECK_EQ(static_cast<void *>(allocate(4999)), static_cast<void *>(first));
}

TEST(in_quarantine_freed_places_rest) {
  const Fresh heap(16, true);
  char *begin = allocate(5000);
  const std::uint64_t number = number_of(begin);
  heap_free(begin);
  for (int i = 0; i < 1000; ++i) {
    char *other = allocate(5000);
    CHECK(other != begin);
    heap_free(other);
  }
  CHECK(freed(begin) && heap_free(begin) == Freed::kTwice);
  // Not for ever: what is remembered has a limit.
  CHECK_EQ(number_of(begin), number);
  for (int i = 0; i < 20000; ++i) heap_free(heap_allocate(100));
  CHECK(number_of(begin) != number);
}

TEST(leaving_the_quarantine_makes_places_reusable) {
  const Fresh heap(16, true);
  char *begin = allocate(5000);
  heap_free(begin);
  heap_set_quarantine(false);
  CHECK_EQ(static_cast<void *>(allocate(5000)), static_cast<void *>(begin));
  heap_free(begin);
  heap_set_quarantine(true);
  CHECK(allocate(5000) != begin);
}

TEST(the_version_tells_of_changes) {
  const Fresh heap(16);
  const std::uint64_t start = heap_version();
  char *begin = allocate(1);
  const std::uint64_t with = heap_version();
  CHECK(with != start);
  heap_free(begin + 1);
  CHECK_EQ(heap_version(), with);
  heap_free(begin);
  CHECK(heap_version() != with);
}

TEST(the_extent_holds_all_and_forgets_with_a_reset) {
  const Fresh heap(256);
  char *begin = nullptr, *end = nullptr;
  heap_extent(&begin, &end);
  CHECK(begin == end);
  for (int i = 0; i < 20; ++i) {
    char *block = allocate(9 * kMiB);
    heap_extent(&begin, &end);
    CHECK(begin <= block && block + 9 * kMiB <= end && end <= heap_range().end);
    block[9 * kMiB - 1] = 1;  // it is open
  }
  heap_reset();
  heap_extent(&begin, &end);
  CHECK(begin == end);
  CHECK_EQ(heap_totals().live_allocations, 0u);
  CHECK_EQ(heap_free_bytes(0), 256 * kMiB);
  char *again = allocate(9 * kMiB);
  CHECK_EQ(again[9 * kMiB - 1], 0);
}

TEST(new_allocations_are_not_initialised) {
  const Fresh heap(64);
  CHECK(ensure_init_shadow());
  watch_shadow(true);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, 300 * 1024 + std::size_t{123}, 5 * kMiB}) {
    char *begin = allocate(bytes);
    std::memset(init_shadow(begin), 0xff, bytes);
    heap_free(begin);
    CHECK_EQ(static_cast<void *>(allocate(bytes)), static_cast<void *>(begin));
    const unsigned char *shadow = init_shadow(begin);
    CHECK_EQ(std::count(shadow, shadow + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
  }
  CHECK(!catch_up_with_shadow());
  watch_shadow(false);
}

TEST(a_shadow_without_observers_is_not_updated) {
  const Fresh heap(64);
  CHECK(!keep_shadow());
  CHECK(!catch_up_with_shadow());  // there is none yet
  CHECK(ensure_init_shadow());
  char *begin = allocate(5000);
  std::memset(init_shadow(begin), 0xff, 5000);
  catch_up_with_shadow();
  heap_free(begin);
  CHECK_EQ(static_cast<void *>(allocate(5000)), static_cast<void *>(begin));
  const unsigned char *shadow = init_shadow(begin);
  CHECK_EQ(std::count(shadow, shadow + 5000, 0xff), 5000);
  CHECK(catch_up_with_shadow());
  CHECK(!catch_up_with_shadow());
}

TEST(large_freed_memory_goes_back_to_the_system) {
  constexpr std::size_t kBytes = 200 * kMiB;
  for (const bool quarantine : {true, false}) {
    const Fresh heap(2048, quarantine);
    std::vector<char *> blocks(4);
    const auto resident = [&blocks] {
      std::size_t sum = 0;
      for (const char *block : blocks) sum += resident_bytes(block, kBytes);
      return sum;
    };
    for (char *&block : blocks) {
      block = allocate(kBytes);
      std::memset(block, 1, kBytes);
    }
    CHECK(resident() > 4 * kBytes - kMiB);
    for (char *block : blocks) heap_free(block);
    // Without quarantine up to half a gibibyte is kept for the next one.
    CHECK(resident() < (quarantine ? kMiB : 512 * kMiB));
  }
}

TEST(many_small_blocks_leave_nothing_behind) {
  for (const bool quarantine : {false, true}) {
    const Fresh heap(1024, quarantine);
    for (int i = 0; i < 400000; ++i) {
      char *block = allocate(static_cast<std::size_t>(100 + i % 3000));
      CHECK(block != nullptr && heap_free(block) == Freed::kDone);
    }
    char *begin = nullptr, *end = nullptr;
    heap_extent(&begin, &end);
    CHECK(end - begin <= static_cast<std::ptrdiff_t>(64 * kMiB));
  }
}

TEST(threads_share_the_heap) {
  const Fresh heap(256);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      std::mt19937 random(static_cast<unsigned>(number));
      for (int i = 0; i < 3000; ++i) {
        const std::size_t bytes = random_size(random);
        char *begin = allocate(bytes);
        if (begin == nullptr) continue;
        std::memset(begin, number, bytes);
        std::this_thread::yield();
        CHECK_EQ(std::count(begin, begin + bytes, number), static_cast<std::ptrdiff_t>(bytes));
        CHECK(heap_free(begin) == Freed::kDone);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(heap_totals().live_allocations, 0u);
}

TEST(a_fork_finds_the_heap_whole) {
  const Fresh heap(256);
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop) heap_free(heap_allocate(1000));
  });
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      char *begin = allocate(3000);
      if (begin == nullptr) _exit(1);
      begin[2999] = 1;
      _exit(heap_free(begin) == Freed::kDone ? 0 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
