// The race checker: between cores, jobs and launches, and within a core.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "check/pipes.h"
#include "check/race.h"
#include "check/stamps.h"
#include "harness.h"
#include "mlusim.h"
#include "scene.h"

using namespace scene;

// ---- Race: between runs -------------------------------------------------------------------------

TEST(two_cores_write_one_place) {
  Scene scene(mlusim::race_checker());
  char *memory = scene.allocate(4096);
  scene.begin_union();
  scene.store(scene.core(0), memory + 40, 1);
  scene.store(scene.core(1), memory + 40, 2);
  CHECK_EQ(scene.found(), "between-cores");
  CHECK_EQ(scene.last().task, 1);
  CHECK_EQ(scene.last().offset, std::int64_t{40});
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

// What is remembered of a place: not only the latest access, if later ones of others can conflict
// with an earlier one.
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
    CHECK_EQ(scene.last().offset, std::int64_t{border} - 1);
    scene.barrier({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

// ---- Race: within a core ------------------------------------------------------------------------

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

// A store that nothing orders is a finding only if it changes the value.
TEST(stores_of_equal_values) {
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

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
