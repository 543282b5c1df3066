#include "check/stamps.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace mlusim {
namespace {

// Not a stamp: epochs start at a higher value.
constexpr Stamp kSplit = 1;

bool conflicts(Stamp a, Stamp b) {
  return (a & b & kStampBytes) != 0 && ((a | b) & kStampWrites) != 0 && (a & b & kStampAtomic) == 0;
}

// Whether every access that conflicts with `old` also conflicts with `stamp`. Since `old` is
// ordered before `stamp`, it need not be kept then.
bool replaces(Stamp stamp, Stamp old) {
  if ((old & ~stamp & kStampBytes) != 0) return false;
  return kind_of(stamp) == Kind::kWrite || kind_of(stamp) == kind_of(old);
}

// Whether both are accesses of the same kind in the same epoch: one stamp then stands for both.
bool same_kind(Stamp a, Stamp b) { return ((a ^ b) & ~(kStampPcs | kStampBytes)) == 0; }

// Whether `stamp` has the kind of `old` and touches no other bytes.
bool repeats(Stamp stamp, Stamp old) { return same_kind(stamp, old) && (stamp & ~old & kStampBytes) == 0; }

Stamp bytes_mask(std::size_t begin, std::size_t end) { return (kStampBytes >> (8 - (end - begin))) << begin; }

void note_conflict(const char *address, Stamp stamp, Stamp other, Conflict *conflict) {
  if (conflict->address != nullptr) return;
  conflict->address = address + __builtin_ctzll(stamp & other & kStampBytes);
  conflict->other = other;
}

}  // namespace

// ---- Memory -------------------------------------------------------------------------------------

std::uint64_t StampShadow::Parts::take() {
  if (!free_.empty()) {
    const std::uint64_t number = free_.back();
    free_.pop_back();
    return number;
  }
  if (next_ == chunks_.size() * kChunk) chunks_.emplace_back(new Unit[kChunk * count_]);
  return next_++;
}

void StampShadow::Parts::reset(std::size_t count) {
  free_.clear();
  next_ = 0;
  count_ = count;
}

void StampShadow::Parts::trim() {
  if (chunks_.size() > kMostKeptChunks) chunks_.resize(kMostKeptChunks);
}

StampShadow::~StampShadow() {
  if (units_ != nullptr) munmap(units_, count_ * sizeof(Unit));
}

bool StampShadow::begin_launch(const Range &memory) {
  ++launch_;
  for (int level = 1; level < kLevels; ++level) parts_[level].reset(parts_of(level));
  if (units_ != nullptr && memory_.begin == memory.begin && memory_.end == memory.end) return true;
  if (units_ != nullptr) munmap(units_, count_ * sizeof(Unit));
  count_ = memory.size() / kUnitBytes[kLevels - 1] + 1;
  void *units =
      mmap(nullptr, count_ * sizeof(Unit), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  units_ = units == MAP_FAILED ? nullptr : static_cast<Unit *>(units);
  memory_ = units_ == nullptr ? Range{} : memory;
  return units_ != nullptr;
}

void StampShadow::end_launch() {
  for (int level = 1; level < kLevels; ++level) parts_[level].trim();
}

// ---- One unit -----------------------------------------------------------------------------------

// Whether `old` can be dropped once `stamp` is kept; notes a conflict of the two.
bool StampShadow::may_go(Stamp old, Stamp stamp, const char *address, const Access &access) {
  if (old < access.order.floor) return true;
  switch (access.order.relation(old)) {
    case HappensBefore::Relation::kOwn:
      return same_kind(stamp, old) || replaces(stamp, old);
    case HappensBefore::Relation::kBefore:
      return replaces(stamp, old);
    case HappensBefore::Relation::kUnordered:
      if (conflicts(stamp, old)) note_conflict(address, stamp, old, access.conflict);
      return false;
  }
  return false;
}

void StampShadow::touch_unit(Unit *unit, Stamp stamp, const char *address, const Access &access) {
  Stamp *slot = unit->slot;
  const Stamp floor = access.order.floor;
  if (repeats(stamp, slot[0])) return;
  if (std::max(slot[1], std::max(slot[2], slot[3])) < floor && (slot[0] < floor || same_kind(stamp, slot[0]))) {
    slot[0] = slot[0] < floor ? stamp : slot[0] | (stamp & kStampBytes);
    return;
  }
  Stamp merged = stamp;
  int place = -1;
  for (int i = 0; i < kSlots; ++i) {
    if (!may_go(slot[i], stamp, address, access)) continue;
    if (same_kind(stamp, slot[i])) merged |= slot[i] & kStampBytes;
    slot[i] = 0;
    place = i;
  }
  // All slots are in use: drop one, at the risk of missing a conflict with it.
  if (place < 0) place = static_cast<int>(epoch_of(stamp) % kSlots);
  slot[place] = merged;
}

// ---- Units of units -----------------------------------------------------------------------------

// A unit that an earlier launch split is whole again.
bool StampShadow::is_split(Unit *unit) const {
  if (unit->slot[0] != kSplit) return false;
  if (unit->slot[2] == launch_) return true;
  *unit = {};
  return false;
}

void StampShadow::split(Unit *unit, int level) {
  const std::uint64_t number = parts_[level].take();
  std::fill_n(parts_[level].at(number), parts_of(level), *unit);
  *unit = {{kSplit, number, launch_, 0}};
}

// Compares an access to the whole unit with its stamps.
void StampShadow::compare(Unit *unit, int level, const char *address, const Access &access) {
  if (level > 0 && is_split(unit)) {
    Unit *part = parts(*unit, level);
    for (std::size_t i = 0; i < parts_of(level); ++i) {
      compare(part + i, level - 1, address + i * kUnitBytes[level - 1], access);
    }
    return;
  }
  const Stamp stamp = access.stamp | kStampBytes;
  for (const Stamp other : unit->slot) {
    if (other < access.order.floor || !conflicts(stamp, other)) continue;
    if (access.order.relation(other) == HappensBefore::Relation::kUnordered)
      note_conflict(address, stamp, other, access.conflict);
  }
}

void StampShadow::drop(Unit *unit, int level) {
  if (level == 0 || !is_split(unit)) return;
  Unit *part = parts(*unit, level);
  for (std::size_t i = 0; i < parts_of(level); ++i) drop(part + i, level - 1);
  parts_[level].give_back(unit->slot[1]);
}

// A write to the whole of a split unit makes it one unit again.
bool StampShadow::merge(Unit *unit, int level, const char *address, const Access &access) {
  if (kind_of(access.stamp) != Kind::kWrite) return false;
  compare(unit, level, address, access);
  drop(unit, level);
  *unit = {{access.stamp | kStampBytes, 0, 0, 0}};
  return true;
}

// The access touches the bytes from `begin` to `end` of the unit.
void StampShadow::touch_part(Unit *unit, int level, const char *address, std::size_t begin, std::size_t end,
                             const Access &access) {
  if (level == 0) return touch_unit(unit, access.stamp | bytes_mask(begin, end), address, access);
  const bool whole = end - begin == kUnitBytes[level];
  if (!is_split(unit)) {
    if (whole) return touch_unit(unit, access.stamp | kStampBytes, address, access);
    if (repeats(access.stamp, unit->slot[0])) return;
    split(unit, level);
  } else if (whole && merge(unit, level, address, access)) {
    return;
  }
  const std::size_t size = kUnitBytes[level - 1];
  Unit *part = parts(*unit, level);
  for (std::size_t at = begin; at < end;) {
    const std::size_t number = at / size;
    const std::size_t first = number * size;
    const std::size_t stop = std::min(end, first + size);
    touch_part(part + number, level - 1, address + first, at - first, stop - first, access);
    at = stop;
  }
}

void StampShadow::touch(const char *begin, std::size_t bytes, Stamp stamp, const HappensBefore &order,
                        Conflict *conflict) {
  if (begin < memory_.begin || bytes > memory_.size()) return;
  const Access access = {stamp, order, conflict};
  constexpr int kTop = kLevels - 1;
  constexpr std::size_t kSize = kUnitBytes[kTop];
  std::size_t at = static_cast<std::size_t>(begin - memory_.begin);
  const std::size_t end = std::min(at + bytes, memory_.size());
  while (at < end) {
    const std::size_t number = at / kSize;
    const std::size_t first = number * kSize;
    const std::size_t stop = std::min(end, first + kSize);
    touch_part(&units_[number], kTop, memory_.begin + first, at - first, stop - first, access);
    at = stop;
  }
}

}  // namespace mlusim
