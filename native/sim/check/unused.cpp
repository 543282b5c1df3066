#include "check/unused.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/text.h"
#include "machine/heap.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

constexpr const char *kChecker = "unused";
constexpr const char *kCopy = "copy";
constexpr const char *kResult = "result";
constexpr const char *kInput = "input";
constexpr const char *kOutput = "output";

void tell(const Core *core, const char *rule, const void *pc, const void *address, std::size_t bytes,
          std::string message) {
  FindingText text = {kChecker, rule};
  text.pc = pc;
  text.address = address;
  text.size = bytes;
  text.message = std::move(message);
  report(core, text);
}

// ---- Memories on chip ---------------------------------------------------------------------------

constexpr std::uint32_t kMostNumbers = 1u << 30;  // writes that are numbered before the numbers start again

enum class Way : unsigned char {
  kCopy,  // every byte should be read
  kComputed,
  kFill,  // often pads, so it is reported only if none of its bytes is read
};

// An instruction's write to on-chip memory.
struct Write {
  const Core *core;
  const char *name;
  const void *pc;
  const char *begin;
  Way way;
  std::size_t bytes;  // size of the write
  std::size_t unread;
};

// For each byte on chip, the number of the write that it comes from while nobody has read it; else
// 0. Pages that no kernel touches take no memory.
class Writers {
 public:
  // False if the system refuses the memory.
  bool begin() {
    const Range onchip = onchip_range();
    if (numbers_ != nullptr && onchip.begin == onchip_.begin && onchip.end == onchip_.end) return true;
    clear();
    void *memory = mmap(nullptr, onchip.size() * sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    numbers_ = static_cast<std::uint32_t *>(memory);
    onchip_ = onchip;
    return true;
  }

  void clear() {
    if (numbers_ != nullptr) munmap(numbers_, onchip_.size() * sizeof(std::uint32_t));
    numbers_ = nullptr;
  }

  std::uint32_t &of(const char *byte) { return numbers_[byte - onchip_.begin]; }

 private:
  std::uint32_t *numbers_ = nullptr;
  Range onchip_;
};

bool is_onchip(Space space) { return space == Space::kNram || space == Space::kWram || space == Space::kSram; }

bool begins_with(const char *name, const char *start) { return std::strncmp(name, start, std::strlen(start)) == 0; }

Way way_of(const char *name) {
  for (const char *copy : {"__memcpy", "__bang_move", "__gather", "__bang_gather"}) {
    if (begins_with(name, copy)) return Way::kCopy;
  }
  return begins_with(name, "__bang_write") || std::strstr(name, "set") != nullptr ? Way::kFill : Way::kComputed;
}

// What the name of an instruction says.
struct Named {
  std::string name;
  Way way = Way::kComputed;
  bool is_atomic = false;  // it must store the old values somewhere, so these need not be read
};

// ---- Device memory ------------------------------------------------------------------------------

enum Use : unsigned char {
  kUntouched = 0,
  kIsRead = 1,
  kIsWritten = 2
};

// The use of an allocation by a launch.
struct Used {
  Allocation allocation;
  std::vector<unsigned char> bytes;  // Use
  const void *first_read = nullptr;
  const void *first_write = nullptr;
};

struct Rest {
  const char *begin = nullptr;
  std::size_t bytes = 0;
};

// Counts the bytes for which is_left(use, defined) is true, and finds the first.
template <typename IsLeft>
Rest rest_of(const Used &used, const IsLeft &is_left) {
  Rest rest;
  const unsigned char *shadow = init_shadow(used.allocation.begin);
  for (std::size_t i = 0; i < used.bytes.size(); ++i) {
    if (!is_left(used.bytes[i], shadow[i] == 0xff)) continue;
    if (rest.bytes++ == 0) rest.begin = used.allocation.begin + i;
  }
  return rest;
}

// ---- The observer -------------------------------------------------------------------------------

class UnusedChecker : public Observer {
 public:
  void launch_begin(const LaunchInfo &info) override {
    first_ += static_cast<std::uint32_t>(writes_.size());
    if (first_ > kMostNumbers) {
      writers_.clear();
      first_ = 0;
    }
    watches_ = writers_.begin();
    runs_ = 0;
    writes_.clear();
    used_.clear();
    // Arrays passed as arguments count, even if the kernel never touches them.
    const char *arguments = static_cast<const char *>(info.arguments);
    for (std::size_t at = 0; at + sizeof(char *) <= info.argument_bytes; at += sizeof(char *)) {
      char *value;
      std::memcpy(&value, arguments + at, sizeof value);
      if (heap_range().holds(value)) allocation_of(value);
    }
  }

  void run_begin(const Core &) override { ++runs_; }
  void run_end(const Core &) override { --runs_; }

  void access(const AccessEvent &event) override {
    if (event.region.empty()) return;
    if (event.space == Space::kGdram) note_device_memory(event);
    if (!watches_ || !is_onchip(event.space)) return;
    if (event.kind != Kind::kWrite) {
      for_each_piece(event.region, [this](const char *begin, std::size_t bytes) { note_read(begin, bytes); });
    } else {
      note_write(event);
    }
  }

  void launch_end(const LaunchInfo &) override {
    if (runs_ != 0) return;       // the launch ended early: later accesses are unknown
    std::set<const void *> read;  // fills
    for (const Write &write : writes_) {
      if (write.way == Way::kFill && write.unread != write.bytes) read.insert(write.pc);
    }
    for (const Write &write : writes_) {
      if (write.way != Way::kFill || read.count(write.pc) == 0) examine(write);
    }
    for (const auto &entry : used_) examine(entry.second);
  }

 private:
  void note_read(const char *begin, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      std::uint32_t &number = writers_.of(begin + i);
      // Writes of earlier launches have smaller numbers.
      if (number > first_) --writes_[number - first_ - 1].unread;
      number = 0;
    }
  }

  void note_write(const AccessEvent &event) {
    const Named &named = kind_of(event.name);
    const bool is_tracked = event.agent != kScalar && !named.is_atomic;
    Write write = {&event.core, event.name, event.pc, event.region.base, named.way, 0, 0};
    const std::uint32_t number =
        is_tracked ? first_ + static_cast<std::uint32_t>(writes_.size()) + 1 : std::uint32_t{0};
    for_each_piece(event.region, [&](const char *begin, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes; ++i) {
        std::uint32_t &place = writers_.of(begin + i);
        if (place != number || number == 0) ++write.bytes;
        place = number;
      }
    });
    write.unread = write.bytes;
    if (is_tracked) writes_.push_back(write);
  }

  // Kernels repeat instructions, so the last one is kept.
  const Named &kind_of(const char *name) {
    if (last_.name != name) last_ = {name, way_of(name), std::strstr(name, "atomic") != nullptr};
    return last_;
  }

  Used *allocation_of(const char *address) {
    const auto behind = used_.upper_bound(address);
    if (behind != used_.begin()) {
      Used &used = std::prev(behind)->second;
      if (address < used.allocation.end()) return &used;
    }
    Allocation allocation;
    if (!heap_find(address, &allocation) || !allocation.used || address < allocation.begin ||
        address >= allocation.end()) {
      return nullptr;
    }
    Used &used = used_[allocation.begin];
    used.allocation = allocation;
    used.bytes.assign(allocation.bytes, kUntouched);
    return &used;
  }

  void note_device_memory(const AccessEvent &event) {
    const unsigned char use = static_cast<unsigned char>((event.kind != Kind::kWrite ? kIsRead : 0) |
                                                         (event.kind != Kind::kRead ? kIsWritten : 0));
    for_each_piece(event.region, [&](const char *begin, std::size_t bytes) {
      Used *used = allocation_of(begin);
      if (used == nullptr) return;
      if ((use & kIsRead) != 0 && used->first_read == nullptr) used->first_read = event.pc;
      if ((use & kIsWritten) != 0 && used->first_write == nullptr) used->first_write = event.pc;
      const std::size_t at = static_cast<std::size_t>(begin - used->allocation.begin);
      for (std::size_t i = at; i < std::min(at + bytes, used->bytes.size()); ++i) used->bytes[i] |= use;
    });
  }

  static void examine(const Write &write) {
    if (write.unread == 0) return;
    if (write.way != Way::kCopy && write.unread != write.bytes) return;
    if (count_again(kChecker, write.way == Way::kCopy ? kCopy : kResult, write.pc)) return;
    const std::string whole = bytes_text(write.bytes);
    if (write.way == Way::kCopy) {
      tell(write.core, kCopy, write.pc, write.begin, write.bytes,
           std::string(write.name) + " copies " + whole + ", of which nobody reads " + bytes_text(write.unread));
    } else {
      tell(write.core, kResult, write.pc, write.begin, write.bytes,
           std::string(write.name) + " writes " + whole + " that nobody reads");
    }
  }

  static void examine(const Used &used) {
    const std::string whole = bytes_text(used.allocation.bytes);
    const Rest unwritten = rest_of(used, [](unsigned use, bool defined) { return use == kUntouched && !defined; });
    if (unwritten.bytes != 0 && used.first_read == nullptr) {
      tell(nullptr, kOutput, used.first_write, unwritten.begin, unwritten.bytes,
           "of an array of " + whole + " the launch leaves " + bytes_text(unwritten.bytes) +
               " undefined, the first of them at byte " + std::to_string(unwritten.begin - used.allocation.begin));
    }
    const Rest unread = rest_of(used, [](unsigned use, bool defined) { return use == kUntouched && defined; });
    if (unread.bytes != 0 && used.first_write == nullptr) {
      tell(nullptr, kInput, used.first_read, unread.begin, unread.bytes,
           "of an array of " + whole + " nobody reads " + bytes_text(unread.bytes) + ", the first of them at byte " +
               std::to_string(unread.begin - used.allocation.begin));
    }
  }

  Writers writers_;
  std::vector<Write> writes_;  // of this launch; write i has number first_ + i + 1
  std::uint32_t first_ = 0;
  std::map<const char *, Used> used_;  // by begin
  std::uint64_t runs_ = 0;             // runs in progress
  bool watches_ = false;
  Named last_;
};

}  // namespace

Observer &unused_checker() {
  static UnusedChecker *const checker =
      new UnusedChecker;  // never destroyed: the device's thread outlives static objects
  return *checker;
}

bool unused_is_on() {
  return is_on("unused", kCopy) || is_on("unused", kResult) || is_on("unused", kInput) || is_on("unused", kOutput);
}

}  // namespace mlusim
