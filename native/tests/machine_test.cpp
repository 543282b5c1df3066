// The simulated machine below CNRT: jobs, builtin variables, arrays, barriers, deadlocks, crashes,
// time limits. The kernels here are plain functions, so scalar accesses go unseen.
#include <cstdint>
#include <cstdlib>

#include "harness.h"
#include "machine/array.h"
#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/model.h"
#include "machine/trap.h"
#include "mlusim.h"
#include "mlusim_source.h"

namespace {

using mlusim::Core;
using mlusim::Wait;

Core &here() { return mlusim::self("test", __builtin_return_address(0)); }
void barrier(Wait kind, const char *name) { mlusim::wait_at_barrier(here(), kind, name, __builtin_return_address(0)); }

mlusim::Launch launch_of(void (*invoke)(const void *), unsigned x, unsigned y, cnrtFunctionType_t type) {
  mlusim::Launch launch;
  launch.kernel = "kernel";
  launch.dim = {x, y, 1};
  launch.type = type;
  launch.invoke = invoke;
  return launch;
}

cnrtRet_t run(void (*invoke)(const void *), unsigned x, unsigned y, cnrtFunctionType_t type) {
  mlusimClearFindings();
  return mlusim::run_launch(launch_of(invoke, x, y, type));
}

std::string only_rule() {
  mlusimFinding finding;
  if (mlusimGetFindingCount() != 1 || mlusimGetFinding(0, &finding) != 0) return mlusimGetReport();
  return std::string(finding.checker) + "/" + finding.rule;
}

void use(const char *model) {
  mlusim::heap_reset();
  mlusim::release_memory();
  mlusim::set_device(*mlusim::find_model(model));
}

// What each run of a kernel saw.
struct Seen {
  int task, x, y, z, dim, core, cores, cluster, clusters;
};
std::vector<Seen> g_seen;

void note(const void *) {
  g_seen.push_back({taskId, taskIdX, taskIdY, taskIdZ, taskDim, coreId, coreDim, clusterId, clusterDim});
}

int g_counter;
int g_most;

// Between two barriers all cores are in the same step.
void step_together(const void *) {
  for (int step = 0; step < 5; ++step) {
    if (g_counter / 20 != step && g_counter / 20 != step + 1) ++g_most;
    ++g_counter;
    barrier(Wait::kAll, "__sync_all");
  }
}

void skip_barrier(const void *) {
  if (taskId != 2 || here().is_mpu()) barrier(Wait::kAll, "__sync_all");
}

void memory_core_ends(const void *) {
  if (here().is_mpu()) return;
  barrier(Wait::kCluster, "__sync_cluster");
}

void cores_only(const void *) {
  if (here().is_mpu()) return;
  barrier(Wait::kAllCores, "__sync_all_ipu");
  barrier(Wait::kClusterCores, "__sync_all_ipu_within_cluster");
  ++g_counter;
}

void take_other_ways(const void *) {
  if (coreId == 1) {
    barrier(Wait::kCluster, "__sync_cluster");
  } else {
    barrier(Wait::kAll, "__sync_all");
  }
}

// What these do wrong is meant.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
void dereference_null(const void *) {
  if (taskId == 3) *reinterpret_cast<volatile int *>(8) = 1;
}

volatile int g_zero = 0;
__attribute__((no_sanitize("undefined"))) void divide_by_zero(const void *) { g_counter = 1000 / g_zero; }

int recurse(volatile char *from, int depth) {
  volatile char room[512];
  room[0] = static_cast<char>(depth);
  return recurse(room, depth + 1) + room[0] + from[0];
}
void overflow_stack(const void *) {
  volatile char first = 0;
  g_counter = recurse(&first, 0);
}
#pragma GCC diagnostic pop

void spin(const void *) {
  while (g_zero == 0) {
  }
}

void spin_on_intrinsics(const void *) {
  while (g_zero == 0) here();
}

void lock_in_turn(const void *) {
  Core &core = here();
  mlusim::take_lock(core, 1, nullptr);
  const int before = g_counter;
  mlusim::yield_core(core);
  g_counter = before + 1;
  mlusim::release_lock(core, 1, nullptr);
}

void unlock_only(const void *) { mlusim::release_lock(here(), 1, nullptr); }

void wait_for_held_lock(const void *) { mlusim::take_lock(here(), 7, nullptr); }

}  // namespace

MLUSIM_ARRAY(mlusim_nram, "", buffer, int[16]);
static constexpr int mlusim_initial_table[] = {1, 2, 3, 4};
MLUSIM_ARRAY_INIT(mlusim_nram, "", table, int[4]);
MLUSIM_ARRAY(mlusim_sram, "", shared, int[4]);

namespace {

void use_arrays(const void *) {
  static constexpr int mlusim_initial_local[] = {7, 8};
  MLUSIM_LOCAL_ARRAY_INIT(mlusim_nram, local, int[2]);
  const Core &core = here();
  if (core.is_mpu()) {
    barrier(Wait::kCluster, "__sync_cluster");
    return;
  }
  buffer[15] = taskId;
  table[0] += 10;
  local[1] += 1;
  if (coreId == 0) shared[3] = 100 + taskId;
  barrier(Wait::kCluster, "__sync_cluster");
  g_counter += buffer[15] == taskId && table[0] == 11 && local[1] == 9 && shared[3] == 100 + taskId / 4 * 4 &&
               sizeof(buffer) == 64 && mlusim::locate(buffer).owner == core.number;
}

TEST(every_task_runs_once_with_its_numbers) {
  use("MLU370-X8");
  for (int round = 0; round < 2; ++round) {
    g_seen.clear();
    CHECK_EQ(run(note, 3, 2, cnrtFuncTypeBlock), cnrtSuccess);
    CHECK_EQ(g_seen.size(), 6u);
    for (std::size_t i = 0; i < g_seen.size(); ++i) {
      CHECK_EQ(g_seen[i].task, static_cast<int>(i));
      CHECK_EQ(g_seen[i].y, static_cast<int>(i) / 3);
      CHECK_EQ(g_seen[i].dim, 6);
      CHECK_EQ(g_seen[i].cores, 4);
      CHECK_EQ(g_seen[i].clusters, 0);
    }
  }
}

TEST(union_jobs_have_memory_cores) {
  use("MLU370-X8");
  g_seen.clear();
  CHECK_EQ(run(note, 16, 2, cnrtFuncTypeUnion2), cnrtSuccess);
  int tasks = 0, memory_cores = 0;
  for (const Seen &seen : g_seen) {
    CHECK_EQ(seen.clusters, 2);
    CHECK_EQ(seen.cluster, seen.x % 8 / 4);
    if (seen.core == 0x80) {
      CHECK_EQ(seen.x % 4, 0);
      ++memory_cores;
    } else {
      CHECK_EQ(seen.core, seen.x % 4);
      CHECK_EQ(seen.task, seen.y * 16 + seen.x);
      ++tasks;
    }
  }
  CHECK_EQ(tasks, 32);
  CHECK_EQ(memory_cores, 8);
}

TEST(barriers_hold_all_cores_together) {
  use("MLU370-X8");
  g_counter = g_most = 0;
  CHECK_EQ(run(step_together, 16, 1, cnrtFuncTypeUnion4), cnrtSuccess);
  CHECK_EQ(g_counter, 100);
  CHECK_EQ(g_most, 0);
  g_counter = 0;
  CHECK_EQ(run(cores_only, 8, 1, cnrtFuncTypeUnion1), cnrtSuccess);
  CHECK_EQ(g_counter, 8);
  CHECK_EQ(run(skip_barrier, 5, 1, cnrtFuncTypeBlock), cnrtSuccess);
}

TEST(deadlocks_end_and_are_explained) {
  use("MLU370-X8");
  for (void (*kernel)(const void *) : {skip_barrier, memory_core_ends, take_other_ways, wait_for_held_lock}) {
    CHECK_EQ(run(kernel, 4, 1, cnrtFuncTypeUnion1), cnrtErrorKernelTrap);
    CHECK_EQ(only_rule(), "sync/deadlock");
  }
  CHECK_EQ(run(skip_barrier, 4, 1, cnrtFuncTypeUnion1), cnrtErrorKernelTrap);
  CHECK(std::strstr(mlusimGetReport(), "task 2 ended") != nullptr);
  CHECK(std::strstr(mlusimGetReport(), "the memory core of cluster 0 at __sync_all") != nullptr);
}

TEST(crashes_end_the_launch_and_nothing_else) {
  use("MLU370-X8");
  const struct {
    void (*kernel)(const void *);
    const char *rule;
  } cases[] = {{dereference_null, "machine/null-dereference"},
               {divide_by_zero, "machine/division-by-zero"},
               {overflow_stack, "machine/stack-overflow"}};
  for (int round = 0; round < 3; ++round) {
    for (const auto &each : cases) {
      CHECK_EQ(run(each.kernel, 4, 1, cnrtFuncTypeUnion1), cnrtErrorKernelTrap);
      CHECK_EQ(only_rule(), each.rule);
      g_seen.clear();
      CHECK_EQ(run(note, 4, 1, cnrtFuncTypeUnion1), cnrtSuccess);
      CHECK_EQ(g_seen.size(), 5u);
    }
  }
}

TEST(launches_end_at_the_time_limit) {
  use("MLU370-X8");
  const double before = mlusim::time_limit();
  mlusim::set_time_limit(0.05);
  for (void (*kernel)(const void *) : {spin, spin_on_intrinsics}) {
    CHECK_EQ(run(kernel, 1, 1, cnrtFuncTypeBlock), cnrtErrorKernelTrap);
    CHECK_EQ(only_rule(), "machine/time-limit");
  }
  mlusim::set_time_limit(before);
  CHECK_EQ(run(note, 1, 1, cnrtFuncTypeBlock), cnrtSuccess);
}

TEST(locks_pass_from_core_to_core) {
  use("MLU370-X8");
  g_counter = 0;
  CHECK_EQ(run(lock_in_turn, 8, 1, cnrtFuncTypeUnion2), cnrtSuccess);
  CHECK_EQ(g_counter, 10);
  CHECK_EQ(run(unlock_only, 1, 1, cnrtFuncTypeBlock), cnrtErrorKernelTrap);
  CHECK_EQ(only_rule(), "sync/unlock-without-lock");
}

TEST(arrays_belong_to_cores) {
  for (const char *model : {"MLU270", "MLU290", "MLU370-X8", "MLU590"}) {
    use(model);
    for (int round = 0; round < 2; ++round) {
      g_counter = 0;
      CHECK_EQ(run(use_arrays, 4, 3, cnrtFuncTypeUnion1), cnrtSuccess);
      CHECK_EQ(g_counter, 12);
    }
  }
}

TEST(launches_that_no_device_can_run_are_refused) {
  use("MLU370-X8");
  std::string reason;
  const auto refused = [&reason](unsigned x, unsigned y, int type) {
    return mlusim::check_launch(launch_of(note, x, y, static_cast<cnrtFunctionType_t>(type)), &reason) != cnrtSuccess;
  };
  CHECK(!refused(4, 1, 4));
  CHECK(refused(5, 1, 4));
  CHECK(refused(0, 1, 1));
  CHECK(refused(4, 1, 5));
  CHECK(refused(64, 1, 32));
  CHECK(refused(0x10000, 0x10000, 1));
}

TEST(models_have_names_and_limits) {
  CHECK(mlusim::find_model("mlu290") != nullptr);
  CHECK(mlusim::find_model("MLU291") == nullptr);
  CHECK(mlusim::find_model(nullptr) == nullptr);
  const char *reason = "";
  mlusimDeviceModel model = *mlusim::find_model("MLU590");
  CHECK(mlusim::valid_model(model, &reason));
  model.clusters = 17;
  CHECK(!mlusim::valid_model(model, &reason));
  CHECK(std::strstr(reason, "clusters") != nullptr);
}

}  // namespace

int main(int count, char **arguments) {
  mlusimSetChecks(0);
  return harness::run_all(count, arguments);
}
