#include "check/stamps.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace mlusim {
namespace {

// No stamp: epochs start higher.
constexpr Stamp kSplit = 1;
// Split blocks whose stamps may stay mapped from one launch to the next: a quarter of a GiB.
constexpr std::size_t kMostSplit = std::size_t{1} << 18;

void *map(std::size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool conflict(Stamp a, Stamp b) {
  return (a & b & kStampBytes) != 0 && ((a | b) & kStampWrites) != 0 && (a & b & kStampAtomic) == 0;
}

// Whether whoever conflicts with `old` also conflicts with `stamp`. As `old` is ordered before `stamp`, it need not be kept then.
bool replaces(Stamp stamp, Stamp old) {
  if ((old & ~stamp & kStampBytes) != 0) return false;
  return kind_of(stamp) == Kind::kWrite || kind_of(stamp) == kind_of(old);
}

// The same kind of access in the same epoch: one stamp does for both.
bool same_kind(Stamp a, Stamp b) { return ((a ^ b) & ~(kStampPlaces | kStampBytes)) == 0; }

// Of the same kind, and to no bytes but those of `old`.
bool repeats(Stamp stamp, Stamp old) { return same_kind(stamp, old) && (stamp & ~old & kStampBytes) == 0; }

Stamp bytes_mask(std::size_t begin, std::size_t end) { return (kStampBytes >> (8 - (end - begin))) << begin; }

void note_clash(const char *address, Stamp stamp, Stamp other, Clash *clash) {
  if (clash->address != nullptr) return;
  clash->address = address + __builtin_ctzll(stamp & other & kStampBytes);
  clash->other = other;
}

}  // namespace

StampShadow::~StampShadow() { unmap(); }

void StampShadow::unmap() {
  if (headers_ != nullptr) munmap(headers_, count_ * sizeof(Cell));
  if (blocks_ != nullptr) munmap(blocks_, count_ * sizeof(Block));
  headers_ = nullptr;
  blocks_ = nullptr;
  memory_ = {};
}

bool StampShadow::cover(const Range &memory) {
  if (headers_ != nullptr && memory_.begin == memory.begin && memory_.end == memory.end) return true;
  unmap();
  count_ = (memory.size() + kBlockBytes - 1) / kBlockBytes;
  headers_ = static_cast<Cell *>(map(count_ * sizeof(Cell)));
  blocks_ = static_cast<Block *>(map(count_ * sizeof(Block)));
  split_count_ = 0;
  if (headers_ == nullptr || blocks_ == nullptr) {
    unmap();
    return false;
  }
  memory_ = memory;
  return true;
}

void StampShadow::trim() {
  if (split_count_ < kMostSplit) return;
  madvise(blocks_, count_ * sizeof(Block), MADV_DONTNEED);
  madvise(headers_, count_ * sizeof(Cell), MADV_DONTNEED);
  split_count_ = 0;
}

void StampShadow::compare_cell(const Cell &cell, Stamp stamp, const Viewpoint &view, const char *address,
                               Clash *clash) {
  for (const Stamp other : cell.slot) {
    if (other < view.floor || !conflict(stamp, other)) continue;
    if (view.relation(other) == Viewpoint::Relation::kUnordered) note_clash(address, stamp, other, clash);
  }
}

// Whether `old` need not be kept beside `stamp`; says so if the two conflict.
bool StampShadow::may_go(Stamp old, Stamp stamp, const Viewpoint &view, const char *address, Clash *clash) {
  if (old < view.floor) return true;
  switch (view.relation(old)) {
    case Viewpoint::Relation::kOwn:
      return same_kind(stamp, old) || replaces(stamp, old);
    case Viewpoint::Relation::kBefore:
      return replaces(stamp, old);
    case Viewpoint::Relation::kUnordered:
      if (conflict(stamp, old)) note_clash(address, stamp, old, clash);
      return false;
  }
  return false;
}

void StampShadow::touch_cell(Cell *cell, Stamp stamp, const Viewpoint &view, const char *address, Clash *clash) {
  Stamp *slot = cell->slot;
  if (repeats(stamp, slot[0])) return;
  if (std::max(slot[1], std::max(slot[2], slot[3])) < view.floor &&
      (slot[0] < view.floor || same_kind(stamp, slot[0]))) {
    slot[0] = slot[0] < view.floor ? stamp : slot[0] | (stamp & kStampBytes);
    return;
  }
  Stamp merged = stamp;
  int place = -1;
  for (int i = 0; i < kSlots; ++i) {
    if (!may_go(slot[i], stamp, view, address, clash)) continue;
    if (same_kind(stamp, slot[i])) merged |= slot[i] & kStampBytes;
    slot[i] = 0;
    place = i;
  }
  // All are needed: one is lost, and a conflict with it may be.
  if (place < 0) place = static_cast<int>(epoch_of(stamp) % kSlots);
  slot[place] = merged;
}

void StampShadow::split(std::size_t number) {
  Cell &header = headers_[number];
  std::fill(std::begin(blocks_[number].cells), std::end(blocks_[number].cells), header);
  header = {};
  header.slot[0] = kSplit;
  ++split_count_;
}

void StampShadow::touch_block(std::size_t number, Stamp stamp, const Viewpoint &view, Clash *clash) {
  Cell &header = headers_[number];
  const char *address = memory_.begin + number * kBlockBytes;
  if (header.slot[0] != kSplit) {
    touch_cell(&header, stamp, view, address, clash);
    return;
  }
  Block &block = blocks_[number];
  if (kind_of(stamp) != Kind::kWrite) {
    const Stamp *stamps = &block.cells[0].slot[0];
    if (*std::max_element(stamps, stamps + kCells * kSlots) >= view.floor) {
      for (std::size_t i = 0; i < kCells; ++i)
        touch_cell(&block.cells[i], stamp, view, address + i * kCellBytes, clash);
      return;
    }
  } else {
    for (std::size_t i = 0; i < kCells; ++i) compare_cell(block.cells[i], stamp, view, address + i * kCellBytes, clash);
  }
  header = {{stamp, 0, 0, 0}};
}

void StampShadow::touch_part(std::size_t number, std::size_t begin, std::size_t end, Stamp stamp, const Viewpoint &view,
                             Clash *clash) {
  Cell &header = headers_[number];
  if (header.slot[0] != kSplit) {
    if (repeats(stamp, header.slot[0])) return;
    split(number);
  }
  Cell *cells = blocks_[number].cells;
  const char *address = memory_.begin + number * kBlockBytes;
  for (std::size_t at = begin; at < end;) {
    const std::size_t cell = at / kCellBytes;
    const std::size_t cell_begin = cell * kCellBytes;
    const std::size_t stop = std::min(end, cell_begin + kCellBytes);
    touch_cell(&cells[cell], stamp | bytes_mask(at - cell_begin, stop - cell_begin), view, address + cell_begin, clash);
    at = stop;
  }
}

void StampShadow::touch(const char *begin, std::size_t bytes, Stamp stamp, const Viewpoint &view, Clash *clash) {
  std::size_t at = static_cast<std::size_t>(begin - memory_.begin);
  const std::size_t end = at + bytes;
  if (begin < memory_.begin || end > memory_.size()) return;
  while (at < end) {
    const std::size_t number = at / kBlockBytes;
    const std::size_t first = number * kBlockBytes;
    const std::size_t stop = std::min(end, first + kBlockBytes);
    if (stop - at == kBlockBytes) {
      touch_block(number, stamp | kStampBytes, view, clash);
    } else {
      touch_part(number, at - first, stop - first, stamp, view, clash);
    }
    at = stop;
  }
}

}  // namespace mlusim
