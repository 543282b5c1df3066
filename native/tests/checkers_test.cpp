// The other checkers, the choice of checkers, and what they cost.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "check/checks.h"
#include "check/init.h"
#include "check/pipes.h"
#include "check/race.h"
#include "check/sync.h"
#include "harness.h"
#include "machine/model.h"
#include "machine/trap.h"
#include "mlusim.h"
#include "scene.h"

using namespace scene;

// ---- Init ---------------------------------------------------------------------------------------

TEST(memory_of_a_run_starts_undefined) {
  Scene scene(mlusim::init_checker());
  Core &first = scene.begin_block();
  char *nram = first.nram.begin + 4096;
  scene.store(first, nram, 1);
  scene.load(first, nram, 2);
  CHECK_EQ(scene.found(), "");
  scene.load(first, nram + 2, 3);  // a part of it was written
  CHECK_EQ(scene.found(), "");
  scene.load(first, nram + 6, 6);
  CHECK_EQ(scene.found(), "scalar-load");
  CHECK_EQ(scene.last().offset, std::int64_t{4096 + 6});
  CHECK_EQ(scene.last().size, std::uint64_t{4});
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
  CHECK_EQ(scene.last().offset, std::int64_t{8192 + 100});
  CHECK_EQ(scene.last().size, std::uint64_t{68});
  scene.copy(core, core.sram.begin + 2048, nram + 1024, 16, 5);  // SRAM may receive undefined bytes
  CHECK_EQ(scene.found(), "");
  CHECK_EQ(mlusimSetRules("init/shared-copy=fail"), 0);
  scene.copy(core, core.sram.begin + 2048, nram + 1024, 16, 6);
  CHECK_EQ(scene.found(), "shared-copy");
  CHECK_EQ(mlusimSetRules(""), 0);
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
  CHECK_EQ(scene.last().offset, std::int64_t{60});
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

// ---- Memory -------------------------------------------------------------------------------------

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

// ---- Sync ---------------------------------------------------------------------------------------

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

// ---- Choice of checkers -------------------------------------------------------------------------

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

// Without shadow memory no write of a kernel is recorded, so that all memory counts as written.
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

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
