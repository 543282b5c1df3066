#include "check/pipes.h"

#include <algorithm>
#include <cstring>

namespace mlusim {
namespace {

// The most distinct compute accesses kept between two syncs; beyond it the oldest are dropped.
constexpr std::size_t kMostCompute = 4096;

int hull_index(Space space) { return space == Space::kGdram ? 1 : 0; }

Range hull_of(const Region &region) {
  return region.count0 == 1 && region.count1 == 1 ? Range{region.base, region.base + region.bytes} : region.hull();
}

bool meet(const Range &a, const Range &b) { return a.begin < b.end && b.begin < a.end; }

void extend(Range *hull, const Range &by) {
  if (hull->begin == hull->end) {
    *hull = by;
    return;
  }
  hull->begin = std::min(hull->begin, by.begin);
  hull->end = std::max(hull->end, by.end);
}

bool conflicts(Kind a, Kind b) {
  return (a != Kind::kRead || b != Kind::kRead) && (a != Kind::kAtomic || b != Kind::kAtomic);
}

bool starts_with(const char *name, const char *prefix) { return std::strncmp(name, prefix, std::strlen(prefix)) == 0; }

// Whether this instruction of the compute agent is a synchronous copy: it waits for compute, and
// the core waits for it.
bool is_copy(const char *name) {
  if (name[2] == 'b') return false;  // __bang_..., the most frequent names
  return starts_with(name, "__memcpy") || starts_with(name, "__gather") || starts_with(name, "__scatter") ||
         starts_with(name, "__gdramset") || starts_with(name, "__sramset") || starts_with(name, "__ldramset");
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(const AccessEvent &event, std::uint64_t generation) {
  const Region &region = event.region;
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = mix(generation, reinterpret_cast<std::uint64_t>(region.base));
  hash = mix(hash, std::uint64_t{region.bytes} << 2 | static_cast<std::uint64_t>(event.kind));
  if (region.count0 == 1 && region.count1 == 1) return hash;
  hash = mix(mix(hash, word(region.stride0)), word(region.count0));
  return mix(mix(hash, word(region.stride1)), word(region.count1));
}

}  // namespace

const Busy *Pipes::Unit::conflict(const AccessEvent &event, const Range &access) const {
  if (!meet(hull[hull_index(event.space)], access)) return nullptr;
  for (const Busy &busy : list) {
    if (conflicts(busy.kind, event.kind) && overlap(busy.region, event.region)) return &busy;
  }
  return nullptr;
}

const Busy *Pipes::find_conflict(const AccessEvent &event) const {
  const Range access = hull_of(event.region);
  for (const Agent agent : {kIo, kMove}) {
    const Busy *busy = agent == event.agent ? nullptr : units_[agent].conflict(event, access);
    if (busy != nullptr) return busy;
  }
  const bool copies = event.agent == kIo || event.agent == kMove;
  return copies ? units_[kCompute].conflict(event, access) : nullptr;
}

const Busy *Pipes::conflict_but_for_copy(const AccessEvent &event) const {
  const Range access = hull_of(event.region);
  for (const Agent agent : {kIo, kMove}) {
    if (agent == event.agent || waited_[agent].list.empty()) continue;
    if (const Busy *busy = waited_[agent].conflict(event, access)) return busy;
  }
  return nullptr;
}

void Pipes::done_by_copy(unsigned agents) {
  for (const Agent agent : {kIo, kMove}) {
    if ((agents & (1u << agent)) == 0) continue;
    Unit &waited = waited_[agent];
    const Unit &unit = units_[agent];
    waited.list.insert(waited.list.end(), unit.list.begin(), unit.list.end());
    for (const int i : {0, 1}) {
      if (unit.hull[i].size() != 0) extend(&waited.hull[i], unit.hull[i]);
    }
  }
  clear(units_, agents);
}

void Pipes::add(const AccessEvent &event) {
  if (event.agent == kScalar) return;
  Unit &unit = units_[event.agent];
  if (event.agent == kCompute) {
    if (is_copy(event.name)) return done(kWaitCompute);
    if (!is_new(event)) return;
    if (unit.list.size() == kMostCompute) unit.list.erase(unit.list.begin(), unit.list.begin() + kMostCompute / 2);
  }
  unit.list.push_back({event.region, event.agent, event.kind, event.name, event.pc});
  extend(&unit.hull[hull_index(event.space)], hull_of(event.region));
}

bool Pipes::is_new(const AccessEvent &event) {
  const std::uint64_t hash = hash_of(event, generation_);
  std::uint64_t &slot = remembered_[hash % kRemembered];
  if (slot == hash) return false;
  slot = hash;
  return true;
}

void Pipes::done(unsigned agents) {
  clear(units_, agents);
  clear(waited_, agents);
}

void Pipes::clear(Unit *units, unsigned agents) {
  for (const Agent agent : {kCompute, kIo, kMove}) {
    if ((agents & (1u << agent)) == 0 || units[agent].list.empty()) continue;
    units[agent].list.clear();
    units[agent].hull[0] = units[agent].hull[1] = {};
    if (agent == kCompute) ++generation_;
  }
}

}  // namespace mlusim
