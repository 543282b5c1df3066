// The checkers of the simulated device, fed with events by hand: what is ordered, what is defined, and what an access costs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "check/checks.h"
#include "check/init.h"
#include "check/pipes.h"
#include "check/race.h"
#include "check/stamps.h"
#include "check/sync.h"
#include "harness.h"
#include "machine/core.h"
#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "machine/observer.h"
#include "machine/trap.h"
#include "mlusim.h"

namespace {

using mlusim::Agent;
using mlusim::Core;
using mlusim::Kind;
using mlusim::Observer;
using mlusim::Region;
using mlusim::Space;
using mlusim::Wait;

const void *place(int number) { return reinterpret_cast<const void *>(static_cast<std::uintptr_t>(0x1000 + number)); }

// A launch of one checker, with the cores of the first two clusters. Each method is something that a core does.
class Scene {
 public:
  explicit Scene(Observer &observer) : observer_(observer) {
    mlusim::ensure_memory();
    mlusim::ensure_init_shadow();
    mlusim::begin_findings("kernel");
    mlusim::g_observers.list[0] = &observer;
    mlusim::g_observers.count = 1;
    mlusim::g_observers.init = true;
    observer_.launch_begin(info_);
  }
  ~Scene() {
    observer_.launch_end(info_);
    mlusim::g_observers = {};
    for (void *memory : allocated_) mlusim::heap_free(memory);
  }
  Scene(const Scene &) = delete;
  Scene &operator=(const Scene &) = delete;

  // A job of two clusters with four cores and a memory core each, or of one core.
  void begin_union() {
    const std::size_t first = cores_.size();
    for (int at = 0; at < 10; ++at) add_core(at, static_cast<int>(first));
    for (std::size_t i = first; i < cores_.size(); ++i) observer_.run_begin(*cores_[i]);
  }
  Core &begin_block() {
    Core &core = add_core(0, static_cast<int>(cores_.size()));
    observer_.run_begin(core);
    return core;
  }
  void end_job() {
    for (const auto &core : cores_) {
      if (!core->finished) observer_.run_end(*core);
      core->finished = true;
    }
    job_ = cores_.size();
  }

  Core &core(int number) { return *cores_[job_ + static_cast<std::size_t>(number)]; }

  char *allocate(std::size_t bytes) {
    allocated_.push_back(mlusim::heap_allocate(bytes));
    return static_cast<char *>(allocated_.back());
  }

  void access(const Core &core, Agent agent, Kind kind, const Region &region, int pc, const char *name) {
    const Space space = core.nram.holds(region.base) ? Space::kNram : mlusim::locate(region.base).space;
    observer_.access({core, agent, kind, space, region, name, place(pc)});
  }
  void load(const Core &core, const void *address, int pc, std::size_t bytes = 4) {
    access(core, mlusim::kScalar, Kind::kRead, Region::plain(address, bytes), pc, "scalar load");
  }
  void store(const Core &core, const void *address, int pc, std::size_t bytes = 4) {
    access(core, mlusim::kScalar, Kind::kWrite, Region::plain(address, bytes), pc, "scalar store");
    char *const stored = static_cast<char *>(const_cast<void *>(address));
    if (mlusim::locate(address).space != Space::kHost) ++*stored;  // another value than before
  }
  void atomic(const Core &core, const void *address, int pc, std::size_t bytes = 4) {
    access(core, mlusim::kCompute, Kind::kAtomic, Region::plain(address, bytes), pc, "__bang_atomic_add");
  }
  void compute(const Core &core, const void *source, const void *target, std::size_t bytes, int pc) {
    access(core, mlusim::kCompute, Kind::kRead, Region::plain(source, bytes), pc, "__bang_add");
    access(core, mlusim::kCompute, Kind::kWrite, Region::plain(target, bytes), pc, "__bang_add");
  }
  void copy(const Core &core, const Region &target, const Region &source, int pc, Agent agent = mlusim::kCompute) {
    const char *name = agent == mlusim::kCompute ? "__memcpy" : "__memcpy_async";
    access(core, agent, Kind::kRead, source, pc, name);
    access(core, agent, Kind::kWrite, target, pc, name);
  }
  void copy(const Core &core, const void *target, const void *source, std::size_t bytes, int pc,
            Agent agent = mlusim::kCompute) {
    copy(core, Region::plain(target, bytes), Region::plain(source, bytes), pc, agent);
  }
  void sync(const Core &core, unsigned agents = mlusim::kWaitAll) { observer_.sync(core, agents, nullptr); }
  void barrier(const std::vector<int> &numbers) {
    std::vector<Core *> members;
    for (const int number : numbers) {
      members.push_back(&core(number));
      sync(core(number));
    }
    observer_.barrier(Wait::kAll, members.data(), static_cast<int>(members.size()));
  }
  void lock(const Core &core) { observer_.lock_taken(core, 1); }
  void unlock(const Core &core) { observer_.lock_released(core, 1); }

  // Rules that were broken since the last call, separated by blanks.
  std::string found() {
    // What a store changes is looked at when other accesses follow.
    for (int i = 0; i < 2; ++i) {
      observer_.access({*cores_.back(), mlusim::kScalar, Kind::kRead, Space::kNram, Region{}, "scalar load", nullptr});
    }
    mlusimClearFindings();
    mlusim::end_findings(false);
    mlusim::begin_findings("kernel");
    std::string rules;
    for (std::uint64_t i = 0; i < mlusimGetFindingCount(); ++i) {
      mlusimGetFinding(i, &last_);
      rules += (rules.empty() ? "" : " ") + std::string(last_.rule);
    }
    return rules;
  }
  const mlusimFinding &last() const { return last_; }

 private:
  Core &add_core(int place_in_job, int first) {
    cores_.push_back(std::make_unique<Core>());
    Core &core = *cores_.back();
    const int per_cluster = 5;
    core.place = place_in_job;
    core.cluster = place_in_job / per_cluster;
    const bool mpu = place_in_job % per_cluster == per_cluster - 1;
    core.core_id = mpu ? mlusim::kMpuCoreId : place_in_job % per_cluster;
    core.number = mpu ? -1 : core.cluster * 4 + core.core_id;
    core.sram = mlusim::sram_of(core.cluster);
    core.stack = mlusim::stack_of(core.place);
    if (!mpu) {
      core.nram = mlusim::nram_of(core.number);
      core.wram = mlusim::wram_of(core.number);
    }
    core.task_id = first + place_in_job;
    core.serial = static_cast<std::uint32_t>(cores_.size() - 1);
    core.finished = false;
    return core;
  }

  Observer &observer_;
  mlusim::LaunchInfo info_ = {"kernel", 8, 1, 1, 8, 2, 10};
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<void *> allocated_;
  std::size_t job_ = 0;  // the first core of the running job
  mlusimFinding last_ = {};
};

Region rows(const void *base, std::size_t bytes, std::int64_t stride, std::int64_t count) {
  Region region = Region::plain(base, bytes);
  region.stride0 = stride;
  region.count0 = count;
  return region;
}

}  // namespace

// ---- Race: between runs -------------------------------------------------------------------------------------------------

TEST(two_cores_write_one_place) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory + 40, 1);
  scene.store(scene.core(1), memory + 40, 2);
  CHECK_EQ(scene.found(), "between-cores");
  CHECK_EQ(scene.last().task, 1);
  CHECK_EQ(scene.last().address, reinterpret_cast<std::uintptr_t>(memory + 40));
  scene.store(scene.core(2), memory + 44, 3);  // the other half of the cell
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(3), memory + 46, 4, 2);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(readers_do_not_race) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  for (int number = 0; number < 10; ++number) {
    scene.load(scene.core(number), memory, 1);
    scene.copy(scene.core(number), scene.core(number).sram.begin + 4096 * number, memory, 4096, 2);
  }
  CHECK_EQ(scene.found(), "");
  scene.store(scene.core(5), memory, 3);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(atomics_race_with_others_only) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  for (int number = 0; number < 4; ++number) scene.atomic(scene.core(number), memory, 1, 128);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(0), memory + 100, 2);
  CHECK_EQ(scene.found(), "between-cores");
  scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  scene.store(scene.core(0), memory + 64, 3);
  CHECK_EQ(scene.found(), "");
  scene.atomic(scene.core(1), memory + 64, 4, 8);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(a_barrier_orders_those_who_pass_it) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory, 1);
  scene.store(scene.core(5), memory + 8, 2);
  scene.barrier({0, 1, 2, 3, 4});
  scene.load(scene.core(1), memory, 3);
  scene.store(scene.core(0), memory, 4 /* core 1 reads it */);
  CHECK_EQ(scene.found(), "between-cores");
  scene.load(scene.core(6), memory + 8, 5);  // of another cluster, and no barrier passed
  CHECK_EQ(scene.found(), "between-cores");
  scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  scene.store(scene.core(7), memory, 6);
  scene.store(scene.core(8), memory + 8, 7);
  CHECK_EQ(scene.found(), "");
}

TEST(barriers_hand_on_what_others_knew) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory, 1);
  scene.barrier({0, 1});
  scene.barrier({1, 2});
  scene.store(scene.core(2), memory, 2);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(0), memory, 3);
  CHECK_EQ(scene.found(), "between-cores");
}

// What is remembered of a place: not only the latest access, if later ones of others can conflict with an earlier one.
TEST(an_ordered_reader_does_not_hide_a_writer) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory, 1);
  scene.barrier({0, 1});
  scene.load(scene.core(1), memory, 2);
  scene.load(scene.core(0), memory, 3);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(2), memory, 4);  // races with the writer only
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(a_writer_of_a_part_does_not_hide_the_rest) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory, 1, 8);
  scene.barrier({0, 1, 2});
  scene.store(scene.core(1), memory, 2, 4);
  scene.load(scene.core(2), memory + 4, 3);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(3), memory + 4, 4);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(an_atomic_does_not_hide_a_reader) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.load(scene.core(0), memory, 1);
  scene.barrier({0, 1});
  scene.atomic(scene.core(1), memory, 2);
  CHECK_EQ(scene.found(), "");
  scene.atomic(scene.core(2), memory, 3);  // races with the reader only
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(both_halves_of_a_cell_are_remembered) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.load(scene.core(3), memory, 1);
  scene.barrier({0, 3});
  scene.load(scene.core(0), memory, 2);
  scene.load(scene.core(0), memory + 4, 3);
  scene.barrier({2, 3});
  scene.store(scene.core(2), memory, 4);  // knows of core 3, not of core 0
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(a_whole_block_is_compared_with_its_cells) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  for (const int at : {0, 100, 252}) {
    scene.store(scene.core(0), memory + at, 1);
    scene.store(scene.core(1), memory, 2, 256);
    CHECK_EQ(scene.found(), "between-cores");
    scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

TEST(a_reader_of_a_whole_block_does_not_hide_a_writer) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory + 100, 1);
  scene.load(scene.core(0), memory, 2, 1024);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(1), memory + 100, 3);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(blocks_are_not_mixed_up_between_launches) {
  char *memory = static_cast<char *>(mlusim::heap_allocate(4096));
  for (const int other : {512, 256, 0, 1024}) {
    Scene scene(mlusim::race_checker());
    scene.begin_union();
    scene.store(scene.core(0), memory + other, 1);
    scene.store(scene.core(1), memory + (other == 0 ? 512 : 0), 2);
    CHECK_EQ(scene.found(), "");
  }
  mlusim::heap_free(memory);
}

TEST(a_lock_hands_on_what_was_known) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory, 1);
  scene.barrier({0, 1});
  scene.lock(scene.core(1));
  scene.unlock(scene.core(1));
  scene.lock(scene.core(2));
  scene.load(scene.core(2), memory, 2);
  CHECK_EQ(scene.found(), "");
}

TEST(a_lock_orders_what_it_protects) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  for (int number = 0; number < 4; ++number) {
    scene.lock(scene.core(number));
    scene.load(scene.core(number), memory, 1);
    scene.store(scene.core(number), memory, 2);
    scene.unlock(scene.core(number));
  }
  CHECK_EQ(scene.found(), "");
  scene.store(scene.core(3), memory, 3);  // after the lock was given back
  scene.lock(scene.core(0));
  scene.load(scene.core(0), memory, 4);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(a_lock_does_not_wait_for_copies) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &first = scene.core(0);
  Core &second = scene.core(1);
  scene.lock(first);
  scene.copy(first, memory, first.nram.begin + 1024, 256, 1, mlusim::kIo);
  scene.sync(first);
  scene.unlock(first);
  scene.lock(second);
  scene.copy(second, memory, second.nram.begin + 1024, 256, 2, mlusim::kIo);
  scene.unlock(second);
  CHECK_EQ(scene.found(), "");
  scene.lock(first);
  scene.load(first, memory + 16, 3);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(a_copy_that_outlasts_a_lock) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &first = scene.core(0);
  scene.lock(first);
  scene.copy(first, memory, first.nram.begin + 1024, 256, 1, mlusim::kIo);
  scene.unlock(first);
  scene.barrier({0, 1});
  scene.store(scene.core(1), memory, 2);
  CHECK_EQ(scene.found(), "");
}

TEST(jobs_are_not_ordered) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  Core &first = scene.begin_block();
  scene.store(first, memory, 1);
  scene.store(first, memory + 512, 2);
  scene.end_job();
  Core &second = scene.begin_block();
  scene.store(second, memory, 3);
  CHECK_EQ(scene.found(), "between-jobs");
  scene.store(second, memory + 256, 4);
  CHECK_EQ(scene.found(), "");
}

TEST(sram_is_new_for_every_job) {
  Scene scene(mlusim::race_checker());
  scene.begin_union();
  char *sram = scene.core(0).sram.begin + 1024;
  scene.store(scene.core(0), sram, 1);
  scene.end_job();
  scene.begin_union();
  scene.store(scene.core(1), sram, 2);
  CHECK_EQ(scene.found(), "");
  scene.load(scene.core(2), sram, 3);
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(launches_are_ordered) {
  char *memory = nullptr;
  for (int launch = 0; launch < 3; ++launch) {
    Scene scene(mlusim::race_checker());
    if (memory == nullptr) memory = static_cast<char *>(mlusim::heap_allocate(4096));
    scene.begin_union();
    scene.copy(scene.core(launch), memory, scene.core(launch).nram.begin + 1024, 4096, 1);
    scene.store(scene.core(launch), memory + 100, 2);
    CHECK_EQ(scene.found(), "");
  }
  mlusim::heap_free(memory);
}

// Blocks that all cores treat alike, in parts, and as a whole again.
TEST(interleaved_rows_do_not_race) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(1 << 20);
  scene.begin_union();
  for (const int bytes : {4, 12, 100, 252, 256, 260, 1000}) {
    for (int number = 0; number < 4; ++number) {
      Core &core = scene.core(number);
      const Region target = rows(memory + number * bytes, static_cast<std::size_t>(bytes), 4 * bytes, 64);
      const Region source = rows(core.nram.begin + 1024, static_cast<std::size_t>(bytes), bytes, 64);
      scene.copy(core, target, source, 1);
    }
    CHECK_EQ(scene.found(), "");
    scene.copy(scene.core(4), scene.core(4).sram.begin + 4096, memory, static_cast<std::size_t>(bytes) * 256, 2);
    CHECK_EQ(scene.found(), "between-cores");
    scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    scene.copy(scene.core(5), memory, scene.core(5).nram.begin + 1024, static_cast<std::size_t>(bytes) * 256, 3);
    CHECK_EQ(scene.found(), "");
    scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

TEST(an_overlap_of_one_byte_is_found) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(1 << 16);
  scene.begin_union();
  for (const int border : {1, 7, 8, 255, 256, 257, 1000, 4096}) {
    scene.store(scene.core(0), memory, 1, static_cast<std::size_t>(border));
    scene.store(scene.core(1), memory + border, 2, 5000);
    CHECK_EQ(scene.found(), "");
    scene.load(scene.core(2), memory + border - 1, 3, 1);
    CHECK_EQ(scene.found(), "between-cores");
    CHECK_EQ(scene.last().address, reinterpret_cast<std::uintptr_t>(memory + border - 1));
    scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

// ---- Race: within a core ------------------------------------------------------------------------------------------------

TEST(a_copy_in_flight) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 1024;
  scene.copy(core, nram, memory, 512, 1, mlusim::kIo);
  scene.load(core, nram + 512, 2);
  scene.compute(core, nram + 1024, nram + 2048, 512, 3);
  CHECK_EQ(scene.found(), "");
  scene.load(core, nram + 508, 4);
  CHECK_EQ(scene.found(), "copy-in-flight");
  scene.compute(core, nram, nram + 2048, 512, 5);
  CHECK_EQ(scene.found(), "copy-in-flight");
  scene.store(core, memory, 6);
  CHECK_EQ(scene.found(), "copy-in-flight");
  scene.load(core, memory, 7);  // both read
  scene.sync(core, mlusim::kWaitMove | mlusim::kWaitCompute);
  CHECK_EQ(scene.found(), "");
  scene.load(core, nram, 8);
  CHECK_EQ(scene.found(), "copy-in-flight");
  scene.sync(core, mlusim::kWaitIo);
  scene.load(core, nram, 9);
  CHECK_EQ(scene.found(), "");
}

TEST(copies_of_one_pipe_are_in_order) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 1024;
  scene.copy(core, nram, memory, 512, 1, mlusim::kIo);
  scene.copy(core, memory + 1024, nram, 512, 2, mlusim::kIo);
  scene.copy(core, nram, memory + 2048, 512, 3, mlusim::kIo);
  CHECK_EQ(scene.found(), "");
  scene.copy(core, nram + 4096, nram, 512, 4, mlusim::kMove);
  CHECK_EQ(scene.found(), "copy-in-flight");
}

TEST(compute_before_an_asynchronous_copy) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 1024;
  scene.compute(core, nram, nram + 512, 512, 1);
  scene.copy(core, memory, nram + 512, 512, 2, mlusim::kIo);
  CHECK_EQ(scene.found(), "unsynced-compute");
  scene.sync(core);
  scene.compute(core, nram, nram + 512, 512, 3);
  scene.copy(core, memory, nram, 512, 4, mlusim::kIo);  // both read
  CHECK_EQ(scene.found(), "");
  scene.sync(core, mlusim::kWaitIo);
  scene.copy(core, nram, memory, 512, 5, mlusim::kIo);  // what compute may still read
  CHECK_EQ(scene.found(), "unsynced-compute");
  scene.sync(core, mlusim::kWaitIo | mlusim::kWaitCompute);
  scene.compute(core, nram, nram + 512, 512, 6);
  scene.copy(core, memory, nram + 512, 512, 7);  // a synchronous one waits for compute
  scene.copy(core, memory + 1024, nram + 512, 512, 8, mlusim::kIo);
  scene.store(core, nram + 2048, 9);
  scene.copy(core, memory + 2048, nram + 2048, 512, 10, mlusim::kIo);  // scalar is never late
  CHECK_EQ(scene.found(), "");
}

TEST(repeated_compute_is_remembered_once) {
  mlusim::Pipes pipes;
  Core core;
  std::vector<char> memory(1 << 20);
  const Region busy = Region::plain(memory.data(), 64);
  const Region other = Region::plain(memory.data() + 4096, 64);
  for (int i = 0; i < 100000; ++i) {
    const Region many = Region::plain(memory.data() + 8192 + i % 5000 * 64, 64);
    pipes.add({core, mlusim::kCompute, Kind::kWrite, Space::kNram, i < 90000 ? many : busy, "__bang_add", nullptr});
  }
  CHECK(pipes.conflict({core, mlusim::kIo, Kind::kRead, Space::kNram, busy, "__memcpy_async", nullptr}) != nullptr);
  CHECK(pipes.conflict({core, mlusim::kIo, Kind::kRead, Space::kNram, other, "__memcpy_async", nullptr}) == nullptr);
  CHECK(pipes.conflict({core, mlusim::kScalar, Kind::kRead, Space::kNram, busy, "scalar load", nullptr}) == nullptr);
}

// ---- Init ---------------------------------------------------------------------------------------------------------------

TEST(memory_of_a_run_starts_undefined) {
  Scene scene(mlusim::init_checker());
  Core &first = scene.begin_block();
  char *nram = first.nram.begin + 4096;
  scene.store(first, nram, 1);
  scene.load(first, nram, 2);
  CHECK_EQ(scene.found(), "");
  scene.load(first, nram + 2, 3);
  CHECK_EQ(scene.found(), "scalar-load");
  CHECK_EQ(scene.last().address, reinterpret_cast<std::uintptr_t>(nram + 4));
  CHECK_EQ(scene.last().size, std::uint64_t{2});
  scene.end_job();
  Core &second = scene.begin_block();
  scene.load(second, nram, 4);
  CHECK_EQ(scene.found(), "scalar-load");
  CHECK_EQ(scene.last().size, std::uint64_t{4});
  scene.load(second, nram + 4, 5);  // what was found in the run before is found again
  CHECK_EQ(scene.found(), "scalar-load");
}

TEST(sram_of_a_job_starts_undefined) {
  Scene scene(mlusim::init_checker());
  scene.begin_union();
  char *sram = scene.core(5).sram.begin + 4096;
  scene.store(scene.core(6), sram, 1);
  scene.load(scene.core(5), sram, 2);
  CHECK_EQ(scene.found(), "");
  scene.end_job();
  scene.begin_union();
  scene.load(scene.core(7), sram, 3);
  CHECK_EQ(scene.found(), "scalar-load");
}

TEST(a_fill_has_no_source) {
  Scene scene(mlusim::init_checker());
  char *memory = scene.allocate(4096);
  Core &core = scene.begin_block();
  scene.access(core, mlusim::kCompute, Kind::kRead, Region::plain(core.nram.begin + 4096, 64), 1, "__bang_add");
  scene.access(core, mlusim::kCompute, Kind::kWrite, Region::plain(memory, 64), 2, "__gdramset");
  CHECK_EQ(scene.found(), "");
}

TEST(undefined_bytes_that_leave_the_core) {
  Scene scene(mlusim::init_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 8192;
  scene.store(core, nram, 1, 100);
  scene.copy(core, memory, nram, 100, 2);
  scene.copy(core, nram + 512, nram, 400, 3);  // within the core
  CHECK_EQ(scene.found(), "");
  scene.copy(core, memory, nram + 40, 128, 4);
  CHECK_EQ(scene.found(), "copy");
  CHECK_EQ(scene.last().address, reinterpret_cast<std::uintptr_t>(nram + 100));
  CHECK_EQ(scene.last().size, std::uint64_t{68});
  scene.copy(core, core.sram.begin + 2048, nram + 1024, 16, 5);  // through SRAM they may go
  CHECK_EQ(scene.found(), "");
  CHECK_EQ(mlusimSetRules("init/shared-copy=fail"), 0);
  scene.copy(core, core.sram.begin + 2048, nram + 1024, 16, 6);
  CHECK_EQ(scene.found(), "shared-copy");
  CHECK_EQ(mlusimSetRules(""), 0);
}

// Of a store that nothing orders it is looked at whether it changes anything.
TEST(stores_of_what_is_there) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(64);
  std::memset(memory, 0, 64);
  scene.begin_union();
  const auto store = [&](int core, char value, int pc) {
    scene.access(scene.core(core), mlusim::kScalar, Kind::kWrite, Region::plain(memory, 4), pc, "scalar store");
    memory[0] = value;
  };
  store(0, 1, 1);
  store(1, 1, 2);
  CHECK_EQ(scene.found(), "");
  store(2, 2, 3);
  CHECK_EQ(scene.found(), "between-cores");
  store(3, 2, 4);
  store(3, 3, 5);  // the first changes nothing, the second does
  CHECK_EQ(scene.found(), "between-cores");
}

TEST(an_asynchronous_copy_is_judged_when_it_happens) {
  Scene scene(mlusim::init_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 8192;
  scene.copy(core, memory, nram, 64, 1, mlusim::kIo);
  std::memset(mlusim::init_shadow(nram), 0xff, 64);    // an earlier copy of the same pipe brings them
  std::memset(mlusim::init_shadow(memory), 0xff, 60);  // what the instruction does with the shadow, but for 4 bytes
  CHECK_EQ(scene.found(), "");
  scene.sync(core, mlusim::kWaitMove);
  CHECK_EQ(scene.found(), "");
  scene.sync(core, mlusim::kWaitIo);
  CHECK_EQ(scene.found(), "copy");
  CHECK_EQ(scene.last().address, reinterpret_cast<std::uintptr_t>(memory + 60));
  std::memset(mlusim::init_shadow(memory), 0, 64);  // of no concern any more
  scene.sync(core, mlusim::kWaitIo);
  CHECK_EQ(scene.found(), "");
}

TEST(atomics_take_and_change_defined_bytes) {
  Scene scene(mlusim::init_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 8192;
  std::memset(mlusim::init_shadow(memory), 0xff, 64);
  scene.store(core, nram, 1, 64);
  scene.access(core, mlusim::kCompute, Kind::kRead, Region::plain(nram, 64), 2, "__bang_atomic_add");
  scene.atomic(core, memory, 2, 64);
  CHECK_EQ(scene.found(), "");
  scene.access(core, mlusim::kCompute, Kind::kRead, Region::plain(nram + 8, 64), 3, "__bang_atomic_add");
  scene.atomic(core, memory, 3, 64);
  CHECK_EQ(scene.found(), "atomic");
  scene.atomic(core, memory + 32, 4, 64);
  CHECK_EQ(scene.found(), "atomic");
}

TEST(the_stack_counts_as_defined) {
  Scene scene(mlusim::init_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  Core &core = scene.core(0);
  scene.load(core, core.stack.begin + 64, 1);
  scene.copy(core, memory, core.stack.begin + 128, 64, 2);
  CHECK_EQ(scene.found(), "");
}

// ---- Memory -------------------------------------------------------------------------------------------------------------

namespace {

char *g_memory = nullptr;

void load_scalar(const Core &core, const char *address) {
  mlusim::observe(
      {core, mlusim::kScalar, Kind::kRead, Space::kGdram, Region::plain(address, 4), "scalar load", place(1)});
}

// A kernel whose memory is freed while it runs: what was right before is an error then.
void freed_meanwhile(const void *) {
  const Core &core = mlusim::self("kernel", place(1));
  load_scalar(core, g_memory);
  mlusim::heap_free(g_memory);
  load_scalar(core, g_memory);
}

}  // namespace

TEST(what_was_found_right_is_asked_again_when_memory_is_freed) {
  const std::uint32_t before = mlusimGetChecks();
  mlusimSetChecks(MLUSIM_CHECK_MEMORY);
  mlusim::prepare_memory(mlusim::checks());
  g_memory = static_cast<char *>(mlusim::heap_allocate(64));
  mlusim::Launch launch;
  launch.kernel = "freed_meanwhile";
  launch.invoke = freed_meanwhile;
  mlusimClearFindings();
  CHECK_EQ(mlusim::run_launch(launch), cnrtErrorKernelTrap);
  mlusimFinding finding = {};
  CHECK_EQ(mlusimGetFindingCount(), std::uint64_t{1});
  CHECK_EQ(mlusimGetFinding(0, &finding), 0);
  CHECK_EQ(std::string(finding.rule), "use-after-free");
  mlusimSetChecks(before);
}

// ---- Sync ---------------------------------------------------------------------------------------------------------------

TEST(copies_that_are_never_waited_for) {
  Scene scene(mlusim::sync_checker());
  Core &core = scene.begin_block();
  mlusim::PendingCopy copy;
  copy.target = Region::plain(core.nram.begin + 1024, 64);
  copy.source = Region::plain(core.nram.begin + 2048, 64);
  copy.name = "__memcpy_async";
  copy.target_space = Space::kNram;
  core.pending[mlusim::kIo].push_back(copy);
  core.pending[mlusim::kIo].push_back(copy);
  core.pending[mlusim::kMove].push_back(copy);  // has happened, in the order of the program
  scene.end_job();
  CHECK_EQ(scene.found(), "never-waited");  // one place
  CHECK_EQ(scene.last().count, std::uint64_t{2});
  scene.begin_block();
  scene.end_job();
  CHECK_EQ(scene.found(), "");
}

// ---- Which checkers -----------------------------------------------------------------------------------------------------

TEST(names_of_checkers) {
  std::uint32_t mask = 0;
  std::string unknown;
  CHECK(mlusim::parse_checks("memory, race", &mask, &unknown));
  CHECK_EQ(mask, 5u);
  CHECK(mlusim::parse_checks("all", &mask, &unknown));
  CHECK_EQ(mask, 31u);
  CHECK(mlusim::parse_checks("", &mask, &unknown));
  CHECK_EQ(mask, 0u);
  CHECK(mlusim::parse_checks("none", &mask, &unknown));
  CHECK_EQ(mask, 0u);
  CHECK(!mlusim::parse_checks("none, race", &mask, &unknown));
  CHECK(unknown == "none");
  CHECK(!mlusim::parse_checks("init,racing,sync", &mask, &unknown));
  CHECK_EQ(unknown, "racing");
  CHECK_EQ(mask, 10u);
}

TEST(checkers_are_chosen_by_name) {
  const std::uint32_t before = mlusimGetChecks();
  CHECK_EQ(mlusimSetChecksByName(" init , sync"), 0);
  CHECK_EQ(mlusimGetChecks(), 10u);
  CHECK_EQ(mlusimSetChecksByName("init,racing"), -1);
  CHECK(std::strstr(mlusimGetLastError(), "mlusimSetChecksByName: checks: expected ") != nullptr);
  CHECK(std::strstr(mlusimGetLastError(), "got 'racing'") != nullptr);
  CHECK_EQ(mlusimSetChecksByName(nullptr), -1);
  CHECK(std::strstr(mlusimGetLastError(), "expected a pointer, got NULL") != nullptr);
  CHECK_EQ(mlusimGetChecks(), 10u);
  CHECK_EQ(mlusimSetChecks(before), 0);
}

TEST(only_known_bits_are_accepted) {
  const std::uint32_t before = mlusimGetChecks();
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_INIT | MLUSIM_CHECK_SYNC), 0);
  CHECK_EQ(mlusimSetChecks(32), -1);
  CHECK_EQ(mlusimGetChecks(), 10u);
  mlusim::Observers observers;
  mlusim::ensure_memory();
  mlusim::choose_observers(&observers);
  CHECK_EQ(observers.count, 2);
  CHECK(observers.init);
  mlusimSetChecks(0);
  mlusim::choose_observers(&observers);
  CHECK(!observers.any() && !observers.init);
  mlusimSetChecks(before);
}

// Without a shadow nobody knows what kernels wrote, so that it counts as written.
TEST(what_was_not_watched_counts_as_initialised) {
  mlusim::ensure_memory();
  mlusim::ensure_init_shadow();
  mlusim::Observers observers;
  mlusimSetChecks(MLUSIM_CHECK_INIT);
  mlusim::choose_observers(&observers);
  constexpr std::size_t kSizes[] = {1, 64, 300, 5000, 100000, 3};
  std::vector<unsigned char *> memory;
  for (const std::size_t bytes : kSizes) memory.push_back(static_cast<unsigned char *>(mlusim::heap_allocate(bytes)));
  mlusim::choose_observers(&observers);
  for (unsigned char *begin : memory) CHECK_EQ(int{*mlusim::init_shadow(begin)}, 0);
  mlusimSetChecks(0);
  mlusim::choose_observers(&observers);
  mlusimSetChecks(MLUSIM_CHECK_INIT);
  mlusim::heap_free(memory[3]);
  mlusim::choose_observers(&observers);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const int expected = i == 3 ? 0 : 0xff;
    CHECK_EQ(int{*mlusim::init_shadow(memory[i])}, expected);
    CHECK_EQ(int{*mlusim::init_shadow(memory[i] + kSizes[i] - 1)}, expected);
    CHECK_EQ(int{*mlusim::init_shadow(memory[i] + kSizes[i])}, 0);
    if (i != 3) mlusim::heap_free(memory[i]);
  }
  mlusimSetChecks(0);
}

// ---- What it costs --------------------------------------------------------------------------------------------------------

namespace {

// Nanoseconds of one call of `work`, the best of several tries.
template <typename Work>
double nanoseconds(int calls, const Work &work) {
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work(i);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / calls);
  }
  return best;
}

}  // namespace

// Copies have a way of their own through the shadow: per byte they cost far less than scalar accesses.
TEST(copies_are_cheap) {
  Scene scene(mlusim::race_checker());
  constexpr std::size_t kBytes = 1 << 20;
  char *memory = scene.allocate(kBytes);
  scene.begin_union();
  Core &core = scene.core(0);
  char *nram = core.nram.begin + 1024;
  const double scalar = nanoseconds(100000, [&](int i) { scene.load(core, memory + i % 1000 * 4, 1); });
  const double private_scalar = nanoseconds(100000, [&](int i) { scene.load(core, nram + i % 1000 * 4, 1); });
  const double bulk = nanoseconds(10, [&](int) { scene.copy(core, memory, nram, kBytes, 2); }) / (kBytes / 8);
  const double parts = nanoseconds(10,
                                   [&](int i) {
                                     scene.copy(scene.core(i % 2), rows(memory, 60, 64, kBytes / 64),
                                                rows(nram, 60, 60, kBytes / 64), 3);
                                     scene.barrier({0, 1});
                                   }) /
                       (kBytes / 8);
  const double vector = nanoseconds(100000, [&](int i) { scene.compute(core, nram, nram + i % 8 * 512, 512, 4); });
  std::printf("  ns: scalar %.1f, of NRAM %.1f; per 8 bytes of a copy %.2f, of rows %.2f; vector instruction %.1f\n",
              scalar, private_scalar, bulk, parts, vector);
  CHECK(bulk < scalar / 10);
  CHECK(parts < scalar * 2);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
