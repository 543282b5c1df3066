#include "machine/launch.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <new>
#include <utility>

#include "machine/array.h"
#include "machine/ending.h"
#include "machine/fiber.h"
#include "machine/missing_memory.h"
#include "machine/model.h"
#include "machine/observer.h"
#include "machine/schedule.h"
#include "machine/stack.h"
#include "machine/trap.h"
#include "mlusim/exception.h"

extern "C" {
MLUSIM_API int mlusim_taskDim = 0;
MLUSIM_API int mlusim_taskDimX = 0;
MLUSIM_API int mlusim_taskDimY = 0;
MLUSIM_API int mlusim_taskDimZ = 0;
MLUSIM_API int mlusim_coreDim = 0;
MLUSIM_API int mlusim_clusterDim = 0;
}

namespace mlusim {

Observers g_observers;

namespace {

constexpr double kUsualTimeLimit = 600.0;

// The running launch and its current job.
struct Machine {
  std::deque<Core> cores;         // by place
  std::uint64_t reservation = 0;  // the reservation that holds their memories
  const Launch *launch = nullptr;
  std::vector<Core *> members;  // of the current job
  int clusters = 0;             // of a job; 0 for Block
  std::uint32_t serial = 0;
  bool ended = false;                               // a trap has ended the launch
  bool out_of_memory = false;                       // host memory has run out
  std::vector<std::pair<int, const Core *>> locks;  // held, with their holders
};

Machine g_machine;

ObserverChoice g_choose_observers = nullptr;
unsigned long long g_run_number = 0;
std::atomic<std::uint64_t> g_launches{0}, g_failed_launches{0}, g_tasks{0};
std::atomic<double> g_time_limit{kUsualTimeLimit};

// ---- Cores --------------------------------------------------------------------------------------

void make_cores() {
  const mlusimDeviceModel &model = device();
  const int per_cluster = model.cores_per_cluster;
  for (int place = 0; place < model.clusters * (per_cluster + 1); ++place) {
    Core &core = g_machine.cores.emplace_back();
    const int within = place % (per_cluster + 1);
    core.place = place;
    core.cluster = place / (per_cluster + 1);
    core.core_id = within == per_cluster ? kMpuCoreId : within;
    core.number = core.is_mpu() ? -1 : core.cluster * per_cluster + within;
    core.stack = stack_of(place);
    close_room(core);
    core.sram = sram_of(core.cluster);
    core.nram = core.is_mpu() ? scratch_of(core.cluster, false) : nram_of(core.number);
    core.wram = core.is_mpu() ? scratch_of(core.cluster, true) : wram_of(core.number);
  }
}

// Makes new cores for another device or another reservation.
void renew_cores() {
  if (g_machine.reservation == reservation_number()) return;
  g_machine.cores.clear();
  make_cores();
  g_machine.reservation = reservation_number();
}

// Clears the scratch of a memory core: every run reads zeros in place of NRAM and WRAM.
void close_scratch(Core &core) {
  if (!core.scratch_open) return;
  close_scratch(core.nram);
  close_scratch(core.wram);
  core.scratch_open = false;
}

void begin_run(Core &core, int x, int y, int z) {
  close_scratch(core);
  const cnrtDim3_t &dim = g_machine.launch->dim;
  core.task_x = x;
  core.task_y = y;
  core.task_z = z;
  core.task_id = (z * static_cast<int>(dim.y) + y) * static_cast<int>(dim.x) + x;
  core.serial = g_machine.serial++;
  core.run_number = ++g_run_number;
  core.random_numbers = 0;
  core.finished = false;
  core.read_missing = false;
  core.undone_store.place = nullptr;
  core.implied_wait = false;
  core.polls = 0;
  core.exceptions_of = nullptr;
  core.intrinsic = "";
  core.intrinsic_pc = nullptr;
  core.wait = Wait::kNothing;
  for (std::vector<PendingCopy> &copies : core.pending) copies.clear();
  g_machine.members.push_back(&core);
  for (Observer *observer : g_observers) observer->run_begin(core);
  fill_memories(core, g_machine.launch->unit);
}

// Calls the kernel. The library that holds the kernel catches its exceptions; exceptions of kernels
// launched in other ways are caught here.
void call(const Launch &launch) {
  call_kernel([&launch] { launch.invoke(launch.arguments); });
}

// The work of a fiber for one run.
void run_core(Core &core) {
  bool out_of_memory = false;
  call(*g_machine.launch);
  require_stack(core, core.intrinsic_pc);
  try {
    undo_store(core);
    for (Observer *observer : g_observers) observer->run_end(core);
    wait_for(core, kWaitAll, nullptr);
  } catch (const std::bad_alloc &) {
    out_of_memory = true;  // no exception may leave the fiber, and no fiber switch may happen inside the handler
  }
  if (out_of_memory) {
    g_machine.out_of_memory = true;
    leave_for_good();
  }
  core.finished = true;
}

// ---- Barriers -----------------------------------------------------------------------------------

bool is_member(const Core &core, Wait kind) {
  switch (kind) {
    case Wait::kClusterCores:
    case Wait::kAllCores:
      return !core.is_mpu();
    case Wait::kAllMpus:
      return core.is_mpu();
    default:
      return true;
  }
}

bool same_group(const Core &a, const Core &b, Wait kind) {
  return (kind != Wait::kClusterCores && kind != Wait::kCluster) || a.cluster == b.cluster;
}

// Returns the cores that pass the barrier together with `core`.
std::vector<Core *> group_of(const Core &core, Wait kind) {
  std::vector<Core *> group;
  for (Core *member : g_machine.members) {
    if (is_member(*member, kind) && same_group(*member, core, kind)) group.push_back(member);
  }
  return group;
}

bool all_wait(const std::vector<Core *> &group, Wait kind) {
  for (const Core *member : group) {
    if (member->wait != kind) return false;
  }
  return true;
}

// Resumes the group of `core`; false if some of it do not wait yet.
bool pass_barrier(const Core &core, Wait kind) {
  const Unstoppable whole;
  const std::vector<Core *> group = group_of(core, kind);
  if (!all_wait(group, kind)) return false;
  for (Observer *observer : g_observers) observer->barrier(kind, group.data(), static_cast<int>(group.size()));
  for (Core *member : group) member->wait = Wait::kNothing;
  return true;
}

void set_wait(Core &core, Wait kind, const char *name, const void *pc) {
  core.wait = kind;
  core.wait_name = name;
  core.wait_pc = pc;
}

// ---- The end of a launch ------------------------------------------------------------------------

// Ends the launch: fibers in the middle of a run are never resumed. `running` is the core that ran
// when it ended, or null.
void end_launch(const Core *running) {
  g_machine.ended = true;
  keep_core_states(g_machine.members, running);
  for (Core *core : g_machine.members) {
    drop_fiber(*core);  // also of a finished core: the time limit may have come while it saved its state
    for (std::vector<PendingCopy> &copies : core->pending) copies.clear();
  }
}

// ---- Jobs ---------------------------------------------------------------------------------------

void run_until_it_waits(Core &core) {
  switch (resume(core, run_core)) {
    case Stop::kYielded:
      return;
    case Stop::kCrashed:
      report_crash(g_machine.members, core);
      break;
    case Stop::kTrapped:
      break;
  }
  end_launch(&core);
}

// Gives one turn to each member that can go on. False if none could, or if the launch has ended.
bool run_in_order() {
  bool any_ran = false;
  for (Core *core : g_machine.members) {
    if (core->finished || core->wait != Wait::kNothing) continue;
    any_ran = true;
    run_until_it_waits(*core);
    if (g_machine.ended) return false;
  }
  return any_ran;
}

// Gives one turn to the member that the schedule chooses.
bool run_one() {
  Core *core = next_core(g_machine.members);
  if (core == nullptr) return false;
  run_until_it_waits(*core);
  return !g_machine.ended;
}

// Lets the members take turns until all have finished.
void run_members() {
  const bool in_order = running_schedule().cores == Turns::kFixed;
  while (in_order ? run_in_order() : run_one()) {
  }
  if (g_machine.ended) return;
  for (const Core *core : g_machine.members) {
    if (core->finished) continue;
    report_deadlock(g_machine.members);
    return end_launch(nullptr);
  }
}

// Runs one job: all cores of `clusters` clusters from task (x, y, z) on, or one task for Block.
void run_job(int x, int y, int z) {
  const int per_cluster = device().cores_per_cluster;
  g_machine.members.clear();
  g_machine.locks.clear();
  if (g_machine.clusters == 0) {
    begin_run(g_machine.cores[0], x, y, z);
    ++g_tasks;
  }
  for (int cluster = 0; cluster < g_machine.clusters; ++cluster) {
    const int first_x = x + cluster * per_cluster;
    const std::size_t place = static_cast<std::size_t>(cluster * (per_cluster + 1));
    for (int core = 0; core < per_cluster; ++core) {
      begin_run(g_machine.cores[place + static_cast<std::size_t>(core)], first_x + core, y, z);
      ++g_tasks;
    }
    begin_run(g_machine.cores[place + static_cast<std::size_t>(per_cluster)], first_x, y, z);
  }
  run_members();
}

void run_jobs(const Launch &launch) {
  const int width = g_machine.clusters == 0 ? 1 : g_machine.clusters * device().cores_per_cluster;
  for (int z = 0; z < static_cast<int>(launch.dim.z); ++z) {
    for (int y = 0; y < static_cast<int>(launch.dim.y); ++y) {
      for (int x = 0; x < static_cast<int>(launch.dim.x); x += width) {
        if (stop_reasons() != 0) return report_end(nullptr, stop_text({}, nullptr));
        run_job(x, y, z);
        if (g_machine.ended) return;
      }
    }
  }
}

LaunchInfo info_of(const Launch &launch) {
  const std::uint64_t tasks = std::uint64_t{launch.dim.x} * launch.dim.y * launch.dim.z;
  const unsigned per_cluster = static_cast<unsigned>(device().cores_per_cluster);
  const std::uint64_t mpus = g_machine.clusters == 0 ? 0 : tasks / per_cluster;
  return {launch.kernel.c_str(), launch.dim.x,  launch.dim.y, launch.dim.z,     launch.type,
          g_machine.clusters,    launch.device, tasks + mpus, launch.arguments, launch.argument_bytes};
}

void begin_launch(const Launch &launch) {
  renew_cores();
  ensure_fault_handlers();
  ensure_terminate_handler();
  forget_exceptions();
  g_machine.launch = &launch;
  g_machine.clusters = clusters_of(launch.type);
  g_machine.serial = 0;
  g_machine.ended = false;
  g_machine.out_of_memory = false;
  mlusim_taskDimX = static_cast<int>(launch.dim.x);
  mlusim_taskDimY = static_cast<int>(launch.dim.y);
  mlusim_taskDimZ = static_cast<int>(launch.dim.z);
  mlusim_taskDim = mlusim_taskDimX * mlusim_taskDimY * mlusim_taskDimZ;
  mlusim_coreDim = device().cores_per_cluster;
  mlusim_clusterDim = g_machine.clusters;
  begin_findings(launch.kernel);
  begin_schedule();
  if (g_choose_observers != nullptr) g_choose_observers(&g_observers);
  for (Observer *observer : g_observers) {
    if (observer->sees_accesses()) g_observers.of_accesses[g_observers.of_accesses_count++] = observer;
  }
}

cnrtRet_t run_watched(const Launch &launch) {
  begin_launch(launch);
  const LaunchInfo info = info_of(launch);
  for (Observer *observer : g_observers) observer->launch_begin(info);
  start_time_limit(time_limit());
  run_jobs(launch);
  stop_time_limit();
  for (Observer *observer : g_observers) observer->launch_end(info);
  const bool failed = end_findings(g_machine.ended);
  if (g_machine.out_of_memory) return cnrtErrorSysNoMem;
  return failed ? cnrtErrorKernelTrap : cnrtSuccess;
}

}  // namespace

void set_observer_choice(ObserverChoice choose) { g_choose_observers = choose; }

cnrtRet_t run_launch(const Launch &launch) {
  if (!ensure_memory()) return cnrtErrorSysNoMem;
  ++g_launches;
  cnrtRet_t error = cnrtErrorSysNoMem;
  try {
    error = run_watched(launch);
  } catch (const std::bad_alloc &) {
    stop_time_limit();
    end_launch(nullptr);
  }
  end_schedule();
  unbind_variables();
  ask_for_undoing(false);
  g_observers.count = g_observers.of_accesses_count = 0;
  g_observers.init = false;
  g_machine.launch = nullptr;
  if (error != cnrtSuccess) ++g_failed_launches;
  return error;
}

// ---- For intrinsics -----------------------------------------------------------------------------

Core &self(const char *intrinsic, const void *pc) {
  Core *core = current_core();
  if (core == nullptr) {
    if (has_left_stack()) end_for_stack(pc);
    std::fprintf(stderr, "mlusim: %s was called outside a kernel\n", intrinsic);
    std::abort();
  }
  require_stack(*core, pc);
  core->intrinsic = intrinsic;
  core->intrinsic_pc = pc;
  ++core->calls;
  if (attention() != 0) {
    undo_store(*core);
    attend(*core, pc);
  }
  return *core;
}

void stop_launch(const void *pc) { trap(stop_text(g_machine.members, pc)); }

void attend(Core &core, const void *pc) {
  if (stop_reasons() != 0) stop_launch(pc);
  if ((attention() & kSteps) != 0 && !Unstoppable::any() && take_step(g_machine.members)) yield_to_scheduler(core);
}

void trap(FindingText &&text) {
  try {
    report_end(current_core(), text);
  } catch (const std::bad_alloc &) {
    g_machine.out_of_memory = true;
  }
  std::string().swap(text.message);
  leave_for_good();
}

const Launch *running_launch() { return g_machine.launch; }
const std::vector<Core *> &running_cores() { return g_machine.members; }
bool launch_failed() { return g_machine.ended; }
bool in_union() { return g_machine.clusters != 0; }

bool is_argument(const void *address) {
  const Launch *launch = g_machine.launch;
  const char *begin = launch == nullptr ? nullptr : static_cast<const char *>(launch->arguments);
  return begin != nullptr &&
         Range{const_cast<char *>(begin), const_cast<char *>(begin) + launch->argument_bytes}.holds(address);
}

void issue(Core &core, Agent agent, const PendingCopy &copy) {
  const Unstoppable whole;
  if (agent != kMove || g_observers.any()) core.pending[agent].push_back(copy);
  if (g_observers.any()) {
    if (!copy.source.empty()) observe({core, agent, Kind::kRead, copy.source_space, copy.source, copy.name, copy.pc});
    observe({core, agent, Kind::kWrite, copy.target_space, copy.target, copy.name, copy.pc});
  }
  if (agent == kMove) {
    copy.run(copy);
  } else {
    schedule_copy(&core.pending[agent]);
  }
}

void wait_for(Core &core, unsigned agents, const void *pc) {
  if ((agents & kWaitIo) != 0) {
    land_all(&core.pending[kIo]);
    core.pending[kIo].clear();
  }
  if ((agents & kWaitMove) != 0) core.pending[kMove].clear();
  for (Observer *observer : g_observers) observer->sync(core, agents, pc);
}

void wait_at_barrier(Core &core, Wait kind, const char *name, const void *pc) {
  if (in_union() && !is_member(core, kind)) return;
  wait_for(core, kWaitAll, pc);
  if (!in_union()) return;
  core.read_missing = false;
  set_wait(core, kind, name, pc);
  if (!pass_barrier(core, kind)) yield_to_scheduler(core);  // the stack holds no objects: the core may never be resumed
}

void take_lock(Core &core, int lock, const void *pc) {
  const auto held = [lock] {
    for (const auto &entry : g_machine.locks) {
      if (entry.first == lock) return true;
    }
    return false;
  };
  while (held()) {
    set_wait(core, Wait::kLock, "__bang_lock", pc);
    core.wait_lock = lock;
    yield_to_scheduler(core);
  }
  g_machine.locks.emplace_back(lock, &core);
  for (Observer *observer : g_observers) observer->lock_taken(core, lock);
}

void release_lock(Core &core, int lock, const void *pc) {
  for (auto entry = g_machine.locks.begin(); entry != g_machine.locks.end(); ++entry) {
    if (entry->first != lock || entry->second != &core) continue;
    g_machine.locks.erase(entry);
    for (Observer *observer : g_observers) observer->lock_released(core, lock);
    for (Core *member : g_machine.members) {
      if (member->wait == Wait::kLock && member->wait_lock == lock) member->wait = Wait::kNothing;
    }
    return;
  }
  FindingText text = {"sync", "unlock-without-lock"};
  text.pc = pc;
  text.message = "__bang_unlock of lock " + std::to_string(lock) + ", which this core does not hold";
  report(&core, text);
}

void yield_core(Core &core) { yield_to_scheduler(core); }

double time_limit() { return g_time_limit; }
void set_time_limit(double seconds) { g_time_limit = seconds; }
std::uint64_t launch_count() { return g_launches; }
std::uint64_t failed_launch_count() { return g_failed_launches; }
std::uint64_t task_count() { return g_tasks; }

}  // namespace mlusim
