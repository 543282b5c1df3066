// What cores do in a launch that one checker watches, for the tests of checkers.
#ifndef MLUOPS_TESTS_SCENE_H_
#define MLUOPS_TESTS_SCENE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "check/checks.h"
#include "machine/core.h"
#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/observer.h"
#include "machine/trap.h"

namespace scene {

using mlusim::Agent;
using mlusim::Core;
using mlusim::Kind;
using mlusim::Observer;
using mlusim::Region;
using mlusim::Space;
using mlusim::Wait;

inline const void *place(int number) {
  return reinterpret_cast<const void *>(static_cast<std::uintptr_t>(0x1000 + number));
}

// A launch of one checker, with the cores of the first two clusters. Each method is something that
// a core does.
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
    // The race checker compares the value of a store when other accesses follow.
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
  mlusim::LaunchInfo info_ = {"kernel", 8, 1, 1, 8, 2, 0, 10, nullptr, 0};
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<void *> allocated_;
  std::size_t job_ = 0;  // the first core of the running job
  mlusimFinding last_ = {};
};

inline Region rows(const void *base, std::size_t bytes, std::int64_t stride, std::int64_t count) {
  Region region = Region::plain(base, bytes);
  region.stride0 = stride;
  region.count0 = count;
  return region;
}

}  // namespace scene

#endif  // MLUOPS_TESTS_SCENE_H_
