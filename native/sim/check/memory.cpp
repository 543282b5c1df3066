#include "check/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check/text.h"
#include "machine/array.h"
#include "machine/heap.h"
#include "machine/lanes.h"
#include "machine/place.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

// A lower address is a null pointer plus an index.
constexpr std::uintptr_t kNullBytes = 4096;

// The ranges that held the latest accesses, the latest first.
class Recent {
 public:
  bool holds(const Range &access) {
    for (int i = 0; i < kRanges; ++i) {
      if (access.begin < ranges_[i].begin || access.end > ranges_[i].end) continue;
      if (i != 0) std::swap(ranges_[i], ranges_[i - 1]);
      return true;
    }
    return false;
  }
  void add(const Range &range) { ranges_[kRanges - 1] = range; }
  void clear() { *this = Recent(); }

 private:
  static constexpr int kRanges = 4;
  Range ranges_[kRanges];
};

struct Piece {
  const char *begin;
  std::size_t bytes;
  const char *end() const { return begin + bytes; }
};

// "0 bytes behind the end of " for a piece that leaves [begin, end) or lies beside it.
std::string distance(const Piece &piece, const char *begin, const char *end) {
  if (piece.begin >= end) return bytes_text(static_cast<std::uint64_t>(piece.begin - end)) + " behind the end of ";
  if (piece.end() > end) {
    return "the last " + bytes_text(static_cast<std::uint64_t>(piece.end() - end)) + " behind the end of ";
  }
  if (piece.end() <= begin) {
    return bytes_text(static_cast<std::uint64_t>(begin - piece.begin)) + " before the start of ";
  }
  return "the first " + bytes_text(static_cast<std::uint64_t>(begin - piece.begin)) + " before the start of ";
}

// Ends the launch if the kernel would write into this process: after that no finding could be
// trusted or even stored.
bool destroys_host(const AccessEvent &event, const char *rule) {
  return event.kind != Kind::kRead && std::strcmp(rule, "host-pointer") == 0;
}

// Reports the finding and ends the launch if the rule says so. Otherwise the access goes ahead as
// without the checker, and no range is known to hold the piece. The stack of a kernel that ends
// here is never unwound, so no string may remain on it: this function takes `message` over, and
// callers build it in a statement of its own.
Range complain(const AccessEvent &event, const Piece &piece, const char *rule, std::string &&message) {
  FindingText text = {"memory", rule};
  text.pc = event.pc;
  text.address = piece.begin;
  text.size = piece.bytes;
  message.insert(0,
                 std::string(event.name) + " " + verb_of(event.kind) + " " + bytes_at(piece.begin, piece.bytes) + ": ");
  text.message = std::move(message);
  const Action action = action_for(text);
  if (action == Action::kFail || (action == Action::kRecord && destroys_host(event, rule))) trap(std::move(text));
  report(&event.core, text);
  return {};
}

// ---- Examination of a piece that no cache knows; returns the range that holds it
// ------------------

Range examine_heap(const AccessEvent &event, const Piece &piece, int device) {
  Allocation allocation;
  if (!heap_find(piece.begin, &allocation))
    return complain(event, piece, "no-allocation", "no device memory was allocated there");
  const bool touches = piece.begin < allocation.end() && piece.end() > allocation.begin;
  if (touches && !allocation.live) {
    return complain(event, piece, "use-after-free", "the " + allocation_name(allocation) + ", which was freed");
  }
  if (touches && allocation.device != device) {
    return complain(event, piece, "other-device",
                    "the " + allocation_name(allocation) + ", which belongs to device " +
                        std::to_string(allocation.device) + "; the kernel runs on device " + std::to_string(device));
  }
  if (piece.begin >= allocation.begin && piece.end() <= allocation.end()) return {allocation.begin, allocation.end()};
  const char *freed = allocation.live ? "" : ", which was freed";
  std::string message = distance(piece, allocation.begin, allocation.end()) + "the ";
  message += allocation_name(allocation) + freed;
  return complain(event, piece, "out-of-bounds", std::move(message));
}

// Returns how many lanes an instruction takes bytes of; 0 if it does not go from lane to lane.
std::int64_t lanes_of(const Region &region) {
  if (region.stride0 == lane_size()) return region.count0;
  return region.stride1 == lane_size() ? region.count1 : 0;
}

// Examines a piece of a WRAM array. Each lane holds a 64th of the array's bytes; strided copies may
// also use the array as its declaration says, as bytes in a row. A piece that begins behind the
// lane's share, but within the array's size, tells that the kernel takes an offset in a lane for
// one in the whole array.
Range examine_lane(const AccessEvent &event, const Piece &piece, const Array &array) {
  const LanePlace place = lane_place(piece.begin);
  const std::int64_t bytes = static_cast<std::int64_t>(array.bytes);
  const std::int64_t share = lane_share(bytes);
  char *const lane = place.first + place.lane * lane_size();
  const Range range = {lane, lane + share};
  const bool has_lane = place.lane < (share == bytes ? 1 : kLanes);
  if (has_lane && piece.end() <= range.end) return range;
  // Pieces that fill their lanes come as one.
  const std::int64_t lanes = lanes_of(event.region);
  const bool fills = static_cast<std::int64_t>(piece.bytes) > lane_size();
  // A linear copy of a size that 64 does not divide lies in lane 0 as a whole.
  const bool undivided = lanes == 1 && piece.bytes % kLanes != 0;
  const bool in_a_row = lanes == 0 || fills || (undivided && place.lane == 0);
  if (in_a_row && piece.end() <= place.first + bytes) return {place.first, place.first + bytes};
  const bool begins_behind = place.offset >= share || !has_lane;
  const char *rule = begins_behind && place.offset < bytes ? "lane-overflow" : "out-of-bounds";
  std::string message = distance(piece, range.begin, range.end) + "WRAM array '" + array.name + "' of ";
  message += bytes_text(array.bytes) + ", which has " + bytes_text(static_cast<std::uint64_t>(share)) + " in ";
  message += share == bytes ? "lane 0" : "each of 64 lanes";
  return complain(event, piece, rule, std::move(message));
}

Range examine_array(const AccessEvent &event, const Piece &piece, const Location &location) {
  const Array *array = array_at(piece.begin, location, true);
  if (array == nullptr) array = array_at(piece.end(), location, true);
  const char *space = name_of(location.space);
  if (array == nullptr) return complain(event, piece, "out-of-bounds", std::string("before every ") + space + " array");
  if (location.space == Space::kWram) return examine_lane(event, piece, *array);
  const Range range = range_of(*array, location.piece);
  if (piece.begin >= range.begin && piece.end() <= range.end) return range;
  std::string message = distance(piece, range.begin, range.end) + space + " array '" + array->name + "' of ";
  message += bytes_text(array->bytes);
  return complain(event, piece, "out-of-bounds", std::move(message));
}

Range examine_variable(const AccessEvent &event, const Piece &piece, const Location &location, int device) {
  if (location.owner == device) return examine_array(event, piece, location);
  return complain(event, piece, "other-device",
                  "a variable of device " + std::to_string(location.owner) + "; the kernel runs on device " +
                      std::to_string(device));
}

// Examines a piece of a constant; variables of the library have no ends that are known.
Range examine_constant(const AccessEvent &event, const Piece &piece) {
  const Array *array = constant_near(piece.begin);
  if (array == nullptr) return {};
  const Range range = range_of_constant(*array);
  if (piece.begin >= range.begin && piece.end() <= range.end) {
    if (event.kind == Kind::kRead) return range;
    std::string message = std::string("constant array '") + array->name + "' of " + bytes_text(array->bytes);
    return complain(event, piece, "constant-store", std::move(message));
  }
  std::string message = distance(piece, range.begin, range.end) + "constant array '" + array->name + "' of ";
  message += bytes_text(array->bytes);
  return complain(event, piece, "out-of-bounds", std::move(message));
}

// Whether the core can reach this piece of on-chip memory. A copy between clusters may write into
// another cluster's SRAM.
bool reaches(const AccessEvent &event, const Location &location) {
  const Core &core = event.core;
  const char *begin = location.piece.begin;
  switch (location.space) {
    case Space::kNram:
      return begin == core.nram.begin;
    case Space::kWram:
      return begin == core.wram.begin;
    case Space::kLdram:
      return begin == core.stack.begin;
    case Space::kSram:
      return begin == core.sram.begin || event.agent != kScalar;
    default:
      return true;
  }
}

// Whether the process has memory at the address.
bool is_mapped(const void *address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
  return mincore(reinterpret_cast<void *>(begin), 1, &resident) == 0 || errno != ENOMEM;
}

Range explain_host(const AccessEvent &event, const Piece &piece) {
  const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(piece.begin);
  if (event.core.is_scratch(piece.begin)) {
    FindingText text = {"memory", "memory-core-access"};
    text.pc = event.pc;
    text.message = std::string(event.name) + " " + verb_of(event.kind) + " " + bytes_text(piece.bytes) +
                   " of NRAM or WRAM, which a memory core does not have: no other core sees it";
    report(&event.core, text);
    return {};
  }
  if (value < kNullBytes) return complain(event, piece, "null-pointer", "a null pointer");
  return complain(event, piece, "host-pointer",
                  is_mapped(piece.begin) ? "that is memory of the host, which a kernel cannot reach"
                                         : "there is no memory, on the device or on the host");
}

Range examine(const AccessEvent &event, const Piece &piece, int device) {
  if (event.space == Space::kCode) return examine_constant(event, piece);
  const Location location = locate(piece.begin);
  if (location.space == Space::kHost) return explain_host(event, piece);
  if (!reaches(event, location)) {
    return complain(event, piece, "wrong-space",
                    std::string("that is the ") + name_of(location.space) + " of another core");
  }
  if (is_among_variables(location)) return examine_variable(event, piece, location, device);
  if (location.space == Space::kGdram) return examine_heap(event, piece, device);
  if (location.space != Space::kLdram) return examine_array(event, piece, location);
  const Range &stack = location.piece;
  if (piece.end() > stack.end)
    return complain(event, piece, "out-of-bounds", distance(piece, stack.begin, stack.end) + "the stack");
  return stack;
}

// ---- The observer -------------------------------------------------------------------------------

class MemoryChecker : public Observer {
 public:
  // Libraries load and unload their arrays between launches.
  void launch_begin(const LaunchInfo &launch) override {
    device_ = launch.device;
    onchip_.clear();
    heap_.clear();
  }

  void access(const AccessEvent &event) override {
    if (event.region.empty() || event.space == Space::kParam) return;
    Recent &recent = event.space == Space::kGdram ? heap() : onchip(event.core);
    // A constant that was read may still not be written to.
    const bool may_be_known = event.space != Space::kCode || event.kind == Kind::kRead;
    if (may_be_known && recent.holds(hull_of(event.region))) return;
    for_each_piece(event.region, [&](const char *begin, std::size_t bytes) {
      if (!may_be_known || !recent.holds({const_cast<char *>(begin), const_cast<char *>(begin) + bytes})) {
        recent.add(examine(event, {begin, bytes}, device_));
      }
    });
  }

 private:
  static Range hull_of(const Region &region) {
    return region.count0 == 1 && region.count1 == 1 ? Range{region.base, region.base + region.bytes} : region.hull();
  }

  Recent &heap() {
    const std::uint64_t version = heap_version();
    if (version != heap_version_) {
      heap_.clear();
      heap_version_ = version;
    }
    return heap_;
  }

  Recent &onchip(const Core &core) {
    const std::size_t place = static_cast<std::size_t>(core.place);
    if (place >= onchip_.size()) onchip_.resize(place + 1);
    return onchip_[place];
  }

  int device_ = 0;  // the number of the launch's device
  Recent heap_;
  std::uint64_t heap_version_ = 0;
  std::vector<Recent> onchip_;  // by place of the core
};

}  // namespace

Observer &memory_checker() {
  static MemoryChecker *const checker =
      new MemoryChecker;  // never destroyed: the device's thread outlives static objects
  return *checker;
}

}  // namespace mlusim
