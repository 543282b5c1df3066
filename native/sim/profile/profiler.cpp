#include "profile/profiler.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/checks.h"
#include "machine/array.h"
#include "machine/heap.h"
#include "machine/instruction.h"
#include "machine/launch.h"
#include "machine/lines.h"
#include "machine/model.h"
#include "profile/cost.h"
#include "profile/data.h"
#include "profile/replay.h"
#include "profile/session.h"
#include "profile/usage.h"

namespace mlusim {
namespace {

constexpr const char *kScalarName = "scalar accesses";

bool is_off_chip(Space space) {
  return space == Space::kGdram || space == Space::kLdram || space == Space::kParam || space == Space::kCode;
}

bool starts_with(const char *name, const char *prefix) { return std::strncmp(name, prefix, std::strlen(prefix)) == 0; }

// Whether the core waits for this instruction as for a copy; __bang_move belongs to the compute
// unit.
bool is_copy(const char *name) {
  return starts_with(name, "__memcpy") || starts_with(name, "__gather") || starts_with(name, "__scatter");
}

// Ranks the ends of a copy: the end off chip decides, then SRAM.
int rank(Space space) { return is_off_chip(space) ? 3 : space == Space::kSram ? 2 : space == Space::kHost ? 0 : 1; }

// One call of an intrinsic, collected from its accesses.
struct Instruction {
  bool open = false;
  std::uint64_t call = 0;
  Agent agent = kScalar;
  const void *pc = nullptr;
  const char *name = "";
  Space source = Space::kHost, target = Space::kHost;
  std::uint64_t read = 0, written = 0, widest = 0, charged = 0, pieces = 0;
  std::uint64_t elements = 0, element = 0, operations = 0;
};

struct SiteKey {
  const void *pc;
  const char *name;
  std::uint32_t bits;
  bool operator==(const SiteKey &other) const { return pc == other.pc && name == other.name && bits == other.bits; }
};

struct SiteHash {
  std::size_t operator()(const SiteKey &key) const {
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.pc) * 0x9e3779b97f4a7c15u;
    hash ^= reinterpret_cast<std::uintptr_t>(key.name) + (std::uint64_t{key.bits} << 32);
    hash *= 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(hash ^ hash >> 29);
  }
};

// The steps of a simulator's core since its last record.
struct CoreState {
  int place = 0;  // place on the device for this run of the core
  Instruction now;
  std::uint32_t near = 0, far = 0, far_first = 0;
};

class Profiler : public Observer {
 public:
  void launch_begin(const LaunchInfo &info) override;
  void launch_end(const LaunchInfo &) override;
  void run_begin(const Core &core) override;
  void run_end(const Core &core) override { flush(core); }
  void instruction(const Call &call, const Amount &amount) override;
  void access(const AccessEvent &event) override;
  void sync(const Core &core, unsigned agents, const void *pc) override;
  void barrier(Wait, Core *const *cores, int count) override;
  void lock_released(const Core &core, int lock) override;
  void lock_taken(const Core &core, int lock) override;

  bool prepare(std::uint64_t profile) {
    session_ = profile;
    return profile_settings(profile, &settings_);
  }

 private:
  CoreState &state(const Core &core) { return states_[static_cast<std::size_t>(core.place)]; }
  CoreTally &core_tally(const CoreState &state) { return p_->cores[static_cast<std::size_t>(state.place)]; }
  Instruction &opened(CoreState &state, const Core &core, Agent agent, const char *name, const void *pc);
  std::uint32_t site(const Site &wanted);
  void scalar(const AccessEvent &event);
  void flush(const Core &core);
  void finish(CoreState &state);
  void finish_compute(const Instruction &done, Site *site, Tally *tally, Record *record) const;
  void add(CoreState &state, Record record, bool limited);
  void meet(const Core &core, std::uint32_t where, std::uint64_t number, bool job);

  std::uint64_t session_ = 0;
  ProfileSettings settings_;
  std::shared_ptr<LaunchProfile> p_;
  std::unordered_map<SiteKey, std::uint32_t, SiteHash> sites_;
  std::vector<CoreState> states_;
  ArrayUsage usage_;
  std::uint64_t jobs_ = 0;      // jobs so far
  std::uint64_t last_job_ = 0;  // the barrier at the start of the current job
  std::uint64_t kept_ = 0;      // number of records
  std::uint64_t released_[256] = {};
};

Profiler &instance() {
  static Profiler *const profiler = new Profiler;  // lives as long as the device's thread
  return *profiler;
}

// ---- Launches -----------------------------------------------------------------------------------

// Returns the size of the allocations that the arguments point to, each counted once.
std::uint64_t argument_bytes(const Launch &launch) {
  std::vector<char *> seen;
  std::uint64_t bytes = 0;
  const char *arguments = static_cast<const char *>(launch.arguments);
  for (std::size_t at = 0; at + sizeof(void *) <= launch.argument_bytes; at += sizeof(void *)) {
    void *pointer = nullptr;
    std::memcpy(&pointer, arguments + at, sizeof pointer);
    Allocation found;
    if (!heap_range().holds(pointer) || !heap_find(pointer, &found)) continue;
    const bool inside = pointer >= found.begin && pointer < found.end();
    if (!inside || std::find(seen.begin(), seen.end(), found.begin) != seen.end()) continue;
    seen.push_back(found.begin);
    bytes += found.bytes;
  }
  return bytes;
}

void Profiler::launch_begin(const LaunchInfo &info) {
  const mlusimDeviceModel &card = device();
  p_ = std::make_shared<LaunchProfile>();
  p_->kernel = info.kernel;
  p_->model = settings_.model;
  p_->dim[0] = info.dim_x;
  p_->dim[1] = info.dim_y;
  p_->dim[2] = info.dim_z;
  p_->type = info.type;
  p_->clusters = card.clusters;
  p_->cores_per_cluster = card.cores_per_cluster;
  p_->arch = card.arch;
  p_->card = card.name;
  const Launch *launch = running_launch();
  p_->argument_bytes = argument_bytes(*launch);
  if (launch->unit != nullptr) p_->unit = launch->unit->file;
  const std::size_t places = static_cast<std::size_t>(card.clusters * p_->places_per_cluster());
  p_->tallies.resize(places);
  p_->cores.resize(places);
  p_->records.resize(places);
  states_.assign(places, CoreState{});
  sites_.clear();
  site({nullptr, kScalarName, kScalar, Work::kScalar});
  usage_.begin(launch->unit);
  jobs_ = last_job_ = kept_ = 0;
  std::fill(std::begin(released_), std::end(released_), 0);
}

void Profiler::launch_end(const LaunchInfo &) {
  for (CoreState &core : states_) finish(core);
  for (const Site &where : p_->sites) {
    SourceLine line;
    if (where.pc != nullptr) find_line(where.pc, &line);
    p_->files.push_back(line.file);
    p_->lines.push_back(line.line);
  }
  make_timeline(p_.get());
  p_->records.clear();
  p_->records.shrink_to_fit();
  p_->arrays = usage_.end();
  p_->failed = launch_failed();
  keep_launch(session_, std::move(p_));
}

// Distributes jobs over the places of the device in turn: Block tasks over cores, Union jobs over
// groups of clusters.
void Profiler::run_begin(const Core &core) {
  const int in_cluster = p_->places_per_cluster();
  CoreState &now = state(core);
  finish(now);
  if (!in_union()) {
    const int number = static_cast<int>(jobs_++ % static_cast<unsigned>(p_->clusters * p_->cores_per_cluster));
    now.place = number / p_->cores_per_cluster * in_cluster + number % p_->cores_per_cluster;
    ++core_tally(now).runs;
    return;
  }
  const int together = clusters_of(static_cast<cnrtFunctionType_t>(p_->type));
  const bool first = core.cluster == 0 && core.core_id == 0;
  if (first) {
    ++jobs_;
    last_job_ = p_->meetings.size();
    p_->meetings.push_back(static_cast<std::uint32_t>(together * in_cluster));
  }
  const int slots = std::max(1, p_->clusters / together);
  const int slot = static_cast<int>((jobs_ - 1) % static_cast<unsigned>(slots));
  now.place = slot * together * in_cluster + core.place;
  ++core_tally(now).runs;
  meet(core, 0, last_job_, true);
}

// ---- Instructions -------------------------------------------------------------------------------

std::uint32_t Profiler::site(const Site &wanted) {
  const std::uint32_t bits = std::uint32_t{wanted.agent} | static_cast<std::uint32_t>(wanted.work) << 4 |
                             static_cast<std::uint32_t>(wanted.source) << 8 |
                             static_cast<std::uint32_t>(wanted.target) << 12 | wanted.element << 16;
  const auto [found, added] =
      sites_.emplace(SiteKey{wanted.pc, wanted.name, bits}, static_cast<std::uint32_t>(p_->sites.size()));
  if (added) p_->sites.push_back(wanted);
  return found->second;
}

Instruction &Profiler::opened(CoreState &core, const Core &of, Agent agent, const char *name, const void *pc) {
  Instruction &now = core.now;
  if (now.open && now.call == of.calls && now.agent == agent) return now;
  finish(core);
  now = Instruction{};
  now.open = true;
  now.call = of.calls;
  now.agent = agent;
  now.name = name;
  now.pc = pc;
  return now;
}

void Profiler::instruction(const Call &call, const Amount &amount) {
  Instruction &now = opened(state(call.core), call.core, kCompute, call.name, call.pc);
  if (amount.elements > 0) now.element = static_cast<std::uint64_t>(amount.bytes / amount.elements);
  now.elements = std::max(now.elements, static_cast<std::uint64_t>(amount.elements));
  now.operations = std::max(now.operations, static_cast<std::uint64_t>(amount.operations));
}

void Profiler::access(const AccessEvent &event) {
  usage_.touch(event);
  if (event.agent == kScalar && event.space == Space::kCode) return;
  if (event.agent == kScalar) return scalar(event);
  Instruction &now = opened(state(event.core), event.core, event.agent, event.name, event.pc);
  const Region &region = event.region;
  const std::uint64_t bytes = region.empty() ? 0 : region.bytes * static_cast<std::uint64_t>(region.pieces());
  const bool written = event.kind != Kind::kRead;
  Space &end = written ? now.target : now.source;
  if (rank(event.space) >= rank(end)) end = event.space;
  (written ? now.written : now.read) += bytes;
  now.widest = std::max(now.widest, bytes);
  if (written) now.pieces += static_cast<std::uint64_t>(region.pieces());
  if (is_off_chip(event.space)) now.charged += off_chip_bytes(region, written);
}

void Profiler::scalar(const AccessEvent &event) {
  CoreState &core = state(event.core);
  CoreTally &tally = core_tally(core);
  const bool far = is_off_chip(event.space);
  const bool store = event.kind == Kind::kWrite;
  ++(far ? store ? tally.far_stores : tally.far_loads : store ? tally.near_stores : tally.near_loads);
  if (core.now.open) finish(core);
  ++(far ? core.far : core.near);
  if (far && core.near == 0) ++core.far_first;
  const std::uint32_t where = site({event.pc, event.name, kScalar, Work::kScalar, event.space});
  Tally &here = p_->tally(core.place, where);
  ++here.calls;
  here.bytes += event.region.bytes;
  here.busy += far ? p_->model.scalar_off_chip_ns : cycles_to_ns(p_->model, p_->model.scalar_on_chip_cycles);
}

void Profiler::flush(const Core &core) { finish(state(core)); }

// Completes an instruction, when the next one begins.
void Profiler::finish(CoreState &core) {
  Instruction &done = core.now;
  if (!done.open) return;
  done.open = false;
  const bool off_chip = is_off_chip(done.source) || is_off_chip(done.target);
  const bool with_sram = done.source == Space::kSram || done.target == Space::kSram;
  Site where = {done.pc, done.name, done.agent, Work::kCompute};
  Record record;
  record.kind = Record::kWork;
  Tally add_up;
  if (off_chip || with_sram || done.agent != kCompute || is_copy(done.name)) {
    where.work = off_chip ? Work::kOffChip : Work::kOnChip;
    where.source = done.source;
    where.target = done.target;
    record.bytes = done.written;
    record.cost = off_chip ? static_cast<double>(done.charged) : on_chip_time(p_->model, done.written);
  } else {
    finish_compute(done, &where, &add_up, &record);
  }
  record.site = site(where);
  Tally &tally = p_->tally(core.place, record.site);
  ++tally.calls;
  tally.elements += add_up.elements;
  tally.operations += add_up.operations;
  tally.bytes += record.bytes;
  tally.charged += done.charged;
  tally.pieces += done.pieces;
  tally.least = tally.calls == 1 ? record.bytes : std::min(tally.least, record.bytes);
  tally.most = std::max(tally.most, record.bytes);
  ++p_->instructions;
  if (where.known && kept_ < settings_.events_left) ++p_->modelled;
  add(core, record, true);
}

// Counts the elements that the intrinsic states, or else the elements of its widest operand.
void Profiler::finish_compute(const Instruction &done, Site *site, Tally *tally, Record *record) const {
  const CostRule *rule = cost_rule(done.name);
  site->known = rule != nullptr;
  site->element = static_cast<std::uint32_t>(done.element);
  const Speed speed = rule == nullptr ? Speed::kElementwise : rule->speed;
  const std::uint64_t element = done.element == 0 ? 4 : done.element;
  // For an intrinsic that only moves data, the stated count may be of rows or channels.
  const double each = rule == nullptr ? 1 : rule->operations;
  const bool counted = done.elements != 0 && done.operations == 0 && each != 0;
  tally->elements = counted ? done.elements : done.widest / element;
  tally->operations = done.operations;
  if (done.operations == 0) {
    tally->operations = static_cast<std::uint64_t>(each * static_cast<double>(tally->elements));
  }
  record->bytes = done.read + done.written;
  record->cost = compute_time(p_->model, speed, {done.widest, done.element, done.operations});
}

// Keeps a record. Beyond the limit it keeps only the records of meetings between cores.
void Profiler::add(CoreState &core, Record record, bool limited) {
  if (limited && kept_ >= settings_.events_left) {
    core.near = core.far = core.far_first = 0;
    return;
  }
  kept_ += limited ? 1 : 0;
  record.near = std::exchange(core.near, 0);
  record.far = std::exchange(core.far, 0);
  record.far_first = std::exchange(core.far_first, 0);
  p_->records[static_cast<std::size_t>(core.place)].push_back(record);
}

// ---- Waiting ------------------------------------------------------------------------------------

void Profiler::sync(const Core &core, unsigned agents, const void *pc) {
  CoreState &now = state(core);
  finish(now);
  ++core_tally(now).syncs;
  Record record;
  record.kind = Record::kSync;
  record.agents = static_cast<std::uint8_t>(agents);
  record.site = site({pc, pc == nullptr ? "end of the task" : core.intrinsic, kScalar, Work::kNone});
  ++p_->tally(now.place, record.site).calls;
  ++p_->instructions;
  if (kept_ < settings_.events_left) ++p_->modelled;
  add(now, record, true);
}

void Profiler::meet(const Core &core, std::uint32_t where, std::uint64_t number, bool job) {
  CoreState &now = state(core);
  finish(now);
  Record record;
  record.kind = Record::kMeet;
  record.site = where;
  record.bytes = number;
  record.job = job;
  add(now, record, false);
}

void Profiler::barrier(Wait, Core *const *cores, int count) {
  const std::uint64_t number = p_->meetings.size();
  p_->meetings.push_back(static_cast<std::uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    const Core &core = *cores[i];
    const std::uint32_t where = site({core.wait_pc, core.wait_name, kScalar, Work::kNone});
    const CoreState &now = state(core);
    ++p_->tally(now.place, where).calls;
    ++core_tally(now).barriers;
    meet(core, where, number, false);
  }
}

void Profiler::lock_taken(const Core &core, int lock) {
  CoreState &now = state(core);
  finish(now);
  Record record;
  record.kind = Record::kLock;
  record.agents = static_cast<std::uint8_t>(lock);
  record.bytes = released_[record.agents];
  record.site = site({core.intrinsic_pc, core.intrinsic, kScalar, Work::kNone});
  ++p_->tally(now.place, record.site).calls;
  add(now, record, false);
}

void Profiler::lock_released(const Core &core, int lock) {
  CoreState &now = state(core);
  finish(now);
  Record record;
  record.kind = Record::kUnlock;
  record.agents = static_cast<std::uint8_t>(lock);
  record.site = site({core.intrinsic_pc, core.intrinsic, kScalar, Work::kNone});
  ++released_[record.agents];
  add(now, record, false);
}

}  // namespace

Observer &profiler() { return instance(); }

void choose_all_observers(Observers *observers) {
  choose_observers(observers);
  if (running_launch()->profile == 0 || !instance().prepare(running_launch()->profile)) return;
  observers->list[observers->count++] = &instance();
}

}  // namespace mlusim
