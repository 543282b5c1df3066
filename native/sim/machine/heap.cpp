#include "machine/heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "base/fork.h"
#include "base/thread_state.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "machine/schedule.h"

namespace mlusim {
namespace {

constexpr std::size_t kUnit = 256;  // alignment, and the least gap behind each allocation
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGrowth = 16 * kMiB;  // the least growth of the extent
constexpr std::ptrdiff_t kNear = 4096;      // the distance that heap_find() searches
constexpr std::size_t kLarge = kMiB / 4;    // free blocks of this size or more give their pages back to the system

// Freed blocks rest before they are merged into free space. Without quarantine an allocation of the
// same size can reuse a resting block, which still has its pages: that makes loops of allocations
// cheap. With quarantine blocks rest as long as possible.
constexpr std::size_t kMostResting = 16384;
constexpr std::size_t kMostRestingBytes = 512 * kMiB;  // without quarantine: a limit on memory that is kept for reuse
constexpr std::size_t kMostQuarantine =
    256 * kMiB;  // with quarantine: a limit on memory that is kept to find uses after free
// In quarantine, blocks of this size or more give their pages back; for smaller ones new pages cost
// too much time.
constexpr std::size_t kHuge = 16 * kMiB;

enum class State : std::uint8_t {
  kLive,
  kResting,  // freed, and kept for reuse or for findings
  kFree
};

constexpr std::uint64_t kAnyUser = UINT64_MAX;

// A piece of the heap: an allocation with the gap behind it, or free space. Blocks cover the heap
// without holes.
struct Block {
  std::size_t span = 0;
  std::size_t bytes = 0;  // of the allocation
  State state = State::kFree;
  std::uint64_t number = 0;            // of the allocation
  int device = 0;                      // whose memory it is
  const void *pc = nullptr;            // where the allocation was asked for
  std::uint64_t freed = 0;             // the number of the release; the key in `resting_`
  std::uint64_t last_user = kAnyUser;  // of a live one: the last work that may use it
};

using Blocks = std::map<char *, Block>;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

char *round_up(char *address, std::size_t unit) {
  const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(address);
  return address + (round_up(value, unit) - value);
}

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Gives the pages within [begin, begin + bytes) back to the system; they read as zeros afterwards.
// Returns them.
Range drop_pages(char *begin, std::size_t bytes) {
  char *first = round_up(begin, page_size());
  char *last = round_up(begin + bytes + 1, page_size()) - page_size();
  if (first >= last || madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED) != 0)
    return {begin, begin};
  return {first, last};
}

void clear_shadow(char *begin, std::size_t bytes) {
  if (!keep_shadow()) return;
  char *shadow = begin + g_init_delta;
  const Range dropped = bytes < kLarge ? Range{shadow, shadow} : drop_pages(shadow, bytes);
  std::memset(shadow, 0, static_cast<std::size_t>(dropped.begin - shadow));
  std::memset(dropped.end, 0, static_cast<std::size_t>(shadow + bytes - dropped.end));
}

// Callers hold the mutex of memory.cpp, not the heap's own mutex, so these are atomic.
std::atomic<char *> g_extent_begin{nullptr}, g_extent_end{nullptr};
std::atomic<std::uint64_t> g_version{1};
std::atomic<std::uint64_t> g_condemned{0};  // allocations that heap_condemn() freed and heap_release() has not

class Heap {
 public:
  // Finds a place for `bytes` and makes it a live block; null if there is none.
  char *allocate(std::size_t bytes, int device, const void *pc) {
    if (bytes > limit()) return nullptr;
    const std::size_t room = round_up(bytes, kUnit);
    if (room > free_bytes(device)) return nullptr;
    const std::size_t span = room + kUnit;
    Blocks::iterator block = find_place(span);
    if (block == blocks_.end()) return nullptr;
    block->second.state = State::kLive;
    block->second.bytes = bytes;
    block->second.number = ++allocations_;
    block->second.device = device;
    block->second.pc = pc;
    block->second.last_user = kAnyUser;
    used_[device] += room;
    ++live_;
    live_bytes_ += bytes;
    return block->first;
  }

  Freed free(char *begin) {
    const Blocks::iterator block = blocks_.find(begin);
    if (block == blocks_.end() || block->second.state == State::kFree) return Freed::kUnknown;
    if (block->second.state == State::kResting || is_condemned(block->second)) return Freed::kTwice;
    end_life(block);
    return Freed::kDone;
  }

  Freed condemn(char *begin, std::uint64_t last_user) {
    const Blocks::iterator block = blocks_.find(begin);
    if (block == blocks_.end() || block->second.state == State::kFree) return Freed::kUnknown;
    if (block->second.state == State::kResting || is_condemned(block->second)) return Freed::kTwice;
    block->second.last_user = last_user;
    ++g_condemned;
    return Freed::kDone;
  }

  void release(char *begin) {
    const Blocks::iterator block = blocks_.find(begin);
    if (block == blocks_.end() || !is_condemned(block->second)) return;
    end_life(block);
    --g_condemned;
  }

  // Whether the calling thread may use the block.
  static bool lives(const Block &block) {
    return block.state == State::kLive && thread_state().heap_user <= block.last_user;
  }

  void set_quarantine(bool on) {
    if (on == quarantine_) return;
    quarantine_ = on;  // if memory for the index runs out, blocks rest longer
    // With quarantine no resting block can be reused; without it all resting blocks can.
    if (on) reusable_.clear();
    for (const auto &entry : resting_) {
      if (on) break;
      const Block &block = blocks_.find(entry.second)->second;
      reusable_.emplace(std::make_pair(block.span, block.freed), entry.second);
    }
  }

  // Returns the block that holds the address or, if that block is free, the nearest allocation.
  Blocks::const_iterator nearest(char *address) const {
    Blocks::const_iterator best = blocks_.end();
    std::ptrdiff_t distance = kNear + 1;
    const auto look_at = [&](Blocks::const_iterator block) {
      if (block->second.state == State::kFree) return;
      char *begin = block->first;
      char *end = begin + block->second.bytes;
      const std::ptrdiff_t away = address < begin ? begin - address : address < end ? 0 : address - end + 1;
      if (away < distance) {
        distance = away;
        best = block;
      }
    };
    // Free blocks are never adjacent, so one of two blocks in each direction is an allocation if
    // any is.
    Blocks::const_iterator next = blocks_.upper_bound(address);
    Blocks::const_iterator before = next;
    for (int i = 0; i < 2 && next != blocks_.end(); ++i) look_at(next++);
    for (int i = 0; i < 2 && before != blocks_.begin(); ++i) look_at(--before);
    return best;
  }

  Blocks::const_iterator none() const { return blocks_.end(); }

  bool holds(char *address, std::size_t bytes) const {
    Blocks::const_iterator block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    const std::size_t offset = static_cast<std::size_t>(address - block->first);
    return lives(block->second) && offset <= block->second.bytes && bytes <= block->second.bytes - offset;
  }

  HeapTotals totals() const { return {live_, live_bytes_}; }

  std::size_t free_bytes(int device) const { return limit() - used_[device]; }

  // Ends the life of all blocks of a device but those that heap_release() will free. If host memory
  // runs out, more blocks stay.
  void free_all(int device) {
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      const Blocks::iterator found = block++;
      const bool live = found->second.state == State::kLive && !is_condemned(found->second);
      if (live && found->second.device == device) mark_dead(found);
    }
    thin_out();
  }

  bool is_empty() const { return live_ == 0; }

  void reset() {
    if (g_extent_begin != nullptr) {
      const std::size_t bytes = static_cast<std::size_t>(g_extent_end - g_extent_begin);
      drop_pages(g_extent_begin, bytes);
      if (g_init_delta != 0) drop_pages(g_extent_begin + g_init_delta, bytes);
    }
    blocks_.clear();
    free_.clear();
    resting_.clear();
    reusable_.clear();
    top_ = nullptr;
    used_.fill(0);
    live_ = live_bytes_ = resting_bytes_ = 0;
    g_condemned = 0;
    g_extent_begin = g_extent_end = nullptr;
  }

 private:
  static std::size_t limit() { return static_cast<std::size_t>(device().memory_mib) * kMiB; }

  // Returns a free block of at least `span` bytes: a resting block of the same size, the smallest
  // free block that is large enough, a new block, or space gained from the oldest resting blocks.
  Blocks::iterator find_place(std::size_t span) {
    const auto youngest = reusable_.lower_bound({span + 1, 0});
    if (youngest != reusable_.begin() && std::prev(youngest)->first.first == span) {
      const Blocks::iterator block = blocks_.find(std::prev(youngest)->second);
      wake(block);
      return block;
    }
    for (;;) {
      const auto fitting = free_.lower_bound({span, nullptr});
      if (fitting != free_.end()) return take(blocks_.find(fitting->second), span);
      const Blocks::iterator block = extend(span);
      if (block != blocks_.end() || resting_.empty()) return block;
      release_oldest();
    }
  }

  Blocks::iterator take(Blocks::iterator block, std::size_t span) {
    const std::size_t left = block->second.span - span;
    const bool divides = left >= 2 * kUnit;
    if (divides) add_free(block->first + span, left);
    free_.erase({block->second.span, block->first});
    if (divides) block->second.span = span;
    return block;
  }

  // Adds a block behind the last one.
  Blocks::iterator extend(std::size_t span) {
    const Range range = heap_range();
    if (top_ == nullptr) top_ = round_up(range.begin, kUnit) + kUnit;
    if (top_ > range.end || span > static_cast<std::size_t>(range.end - top_)) return blocks_.end();
    Block block;
    block.span = span;
    const Blocks::iterator place = blocks_.emplace_hint(blocks_.end(), top_, block);
    top_ += span;
    return place;
  }

  // Adds free space. Like all functions here that allocate host memory, it changes nothing if that
  // memory runs out.
  void add_free(char *begin, std::size_t span) {
    const auto entry = free_.emplace(span, begin).first;
    Block block;
    block.span = span;
    try {
      blocks_.emplace(begin, block);
    } catch (...) {
      free_.erase(entry);
      throw;
    }
  }

  static bool is_condemned(const Block &block) { return block.state == State::kLive && block.last_user != kAnyUser; }

  void end_life(Blocks::iterator block) {
    mark_dead(block);
    thin_out();
  }

  void mark_dead(Blocks::iterator block) {
    rest(block);
    used_[block->second.device] -= round_up(block->second.bytes, kUnit);
    --live_;
    live_bytes_ -= block->second.bytes;
  }

  // Releases the oldest resting blocks if there are too many.
  void thin_out() {
    const std::size_t most = quarantine_ ? kMostQuarantine : kMostRestingBytes;
    try {
      while (resting_.size() > kMostResting || resting_bytes_ > most) release_oldest();
    } catch (const std::bad_alloc &) {  // the block stays until the next release
    }
  }

  void rest(Blocks::iterator block) {
    const std::uint64_t number = frees_ + 1;
    const auto entry = resting_.emplace(number, block->first).first;
    try {
      if (!quarantine_) reusable_.emplace(std::make_pair(block->second.span, number), block->first);
    } catch (...) {
      resting_.erase(entry);
      throw;
    }
    frees_ = number;
    block->second.state = State::kResting;
    block->second.freed = number;
    resting_bytes_ += block->second.span;
    if (quarantine_ && block->second.span >= kHuge) drop_pages(block->first, block->second.bytes);
  }

  void wake(Blocks::iterator block) {
    resting_.erase(block->second.freed);
    resting_bytes_ -= block->second.span;
    reusable_.erase({block->second.span, block->second.freed});
  }

  // Turns the oldest resting block into free space, and joins it with the free space on both sides.
  void release_oldest() {
    Blocks::iterator block = blocks_.find(resting_.begin()->second);
    const auto entry = free_.emplace(block->second.span, block->first).first;  // the only allocation of host memory
    wake(block);
    if (block->second.span >= (quarantine_ ? kHuge : kLarge)) drop_pages(block->first, block->second.bytes);
    block->second = Block{block->second.span};
    Blocks::iterator first = block;
    if (block != blocks_.begin() && std::prev(block)->second.state == State::kFree) first = std::prev(block);
    auto node = free_.extract(entry);
    if (first != block) {
      free_.erase({first->second.span, first->first});
      join(first, block);
    }
    const Blocks::iterator next = std::next(first);
    if (next != blocks_.end() && next->second.state == State::kFree) {
      free_.erase({next->second.span, next->first});
      join(first, next);
    }
    node.value() = {first->second.span, first->first};
    free_.insert(std::move(node));
  }

  // Joins two adjacent blocks.
  void join(Blocks::iterator first, Blocks::iterator second) {
    first->second.span += second->second.span;
    blocks_.erase(second);
  }

  Blocks blocks_;
  std::set<std::pair<std::size_t, char *>> free_;  // by span
  std::map<std::uint64_t, char *> resting_;        // by age
  std::map<std::pair<std::size_t, std::uint64_t>, char *>
      reusable_;         // resting blocks by span and age; empty in quarantine
  char *top_ = nullptr;  // end of the last block
  bool quarantine_ = false;
  std::array<std::size_t, kMaxDevices> used_ = {};  // bytes of each device's memory
  std::size_t resting_bytes_ = 0;
  std::uint64_t live_ = 0, live_bytes_ = 0, allocations_ = 0, frees_ = 0;
};

ForkMutex g_mutex;

Heap &heap() {
  static Heap *const instance = new Heap;  // never destroyed: the device's thread outlives static objects
  return *instance;
}

// Extends the heap to `end`; returns the range that was added.
Range extend_to(char *end) {
  const Range range = heap_range();
  char *old_end = g_extent_end;
  if (g_extent_begin == nullptr) {
    g_extent_begin = old_end = range.begin;
  }
  if (end <= old_end) return {old_end, old_end};
  const std::size_t room = static_cast<std::size_t>(range.end - old_end);
  char *new_end = old_end + std::min(room, round_up(static_cast<std::size_t>(end - old_end), kGrowth));
  g_extent_end = new_end;
  // Asks for large pages: the time to close and open the heap grows with the number of pages.
  madvise(old_end, static_cast<std::size_t>(new_end - old_end), MADV_HUGEPAGE);
  return {old_end, new_end};
}

}  // namespace

void *heap_allocate(std::size_t bytes, int device, const void *pc) {
  if (bytes == 0 || !ensure_memory()) return nullptr;
  char *begin = nullptr;
  {
    const std::lock_guard<ForkMutex> lock(g_mutex);
    begin = heap().allocate(bytes, device, pc);
    if (begin == nullptr) return nullptr;
    clear_shadow(begin, bytes);
    const Range grown = extend_to(begin + bytes);
    if (grown.size() != 0) heap_grown(grown.begin, grown.end);
    ++g_version;
  }
  fill_allocation(begin, bytes);
  return begin;
}

Freed heap_free(void *begin) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  const Freed result = heap().free(static_cast<char *>(begin));
  if (result == Freed::kDone) ++g_version;
  return result;
}

Freed heap_condemn(void *begin, std::uint64_t last_user) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  const Freed result = heap().condemn(static_cast<char *>(begin), last_user);
  if (result == Freed::kDone) ++g_version;
  return result;
}

bool heap_release(void *begin) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  try {
    heap().release(static_cast<char *>(begin));
  } catch (const std::bad_alloc &) {
    return false;
  }
  ++g_version;
  return true;
}

void heap_user_changed() {
  if (g_condemned.load(std::memory_order_relaxed) != 0) ++g_version;  // cached answers may not hold for the new work
}

void heap_set_quarantine(bool on) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  heap().set_quarantine(on);
}

bool heap_find(const void *address, Allocation *allocation) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  const Blocks::const_iterator block = heap().nearest(static_cast<char *>(const_cast<void *>(address)));
  if (block == heap().none()) return false;
  const Block &found = block->second;
  *allocation = {block->first, found.bytes, Heap::lives(found), found.state == State::kLive, found.number,
                 found.device, found.pc};
  return true;
}

bool heap_holds(const void *address, std::size_t bytes) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  return heap().holds(static_cast<char *>(const_cast<void *>(address)), bytes);
}

std::uint64_t heap_version() { return g_version; }

HeapTotals heap_totals() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  return heap().totals();
}

std::uint64_t heap_free_bytes(int device) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  return heap().free_bytes(device);
}

void heap_reset(int device) {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  heap().free_all(device);
  if (heap().is_empty()) heap().reset();
  ++g_version;
}

void heap_reset() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  heap().reset();
  ++g_version;
}

void heap_extent(char **begin, char **end) {
  *begin = g_extent_begin;
  *end = g_extent_end;
}

}  // namespace mlusim
