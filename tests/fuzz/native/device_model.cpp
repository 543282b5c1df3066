#include "device_model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi.h"
#include "cnrt.h"
#include "finding.h"
#include "mlusim.h"

namespace fuzz {
namespace {

constexpr std::size_t kHostBlock = 4096, kMostAllocations = 12;

using Wide = unsigned __int128;  // sums that no pointer could hold

const char *last_error() { return reinterpret_cast<const char *>(call_by_name("mlusimGetLastError")); }

bool is_known_direction(std::int64_t dir) { return dir >= cnrtMemcpyHostToDev && dir <= cnrtMemcpyNoDirection; }

bool direction_fits(std::int64_t dir, bool to_device, bool from_device) {
  switch (dir) {
    case cnrtMemcpyHostToDev:
      return to_device && !from_device;
    case cnrtMemcpyDevToDev:
    case cnrtMemcpyPeerToPeer:
      return to_device && from_device;
    case cnrtMemcpyDevToHost:
      return !to_device && from_device;
    case cnrtMemcpyHostToHost:
      return !to_device && !from_device;
    default:
      return dir == cnrtMemcpyNoDirection;
  }
}

std::int64_t direction(Bytes &bytes, bool to_device, bool from_device) {
  const int fitting = to_device ? (from_device ? cnrtMemcpyDevToDev : cnrtMemcpyHostToDev)
                                : (from_device ? cnrtMemcpyDevToHost : cnrtMemcpyHostToHost);
  if (bytes.one_in(6)) return cnrtMemcpyNoDirection;
  return static_cast<std::int32_t>(bytes.one_in(8) ? bytes.number(static_cast<int>(bytes.below(6))) : fitting);
}

// A box of bytes, computed with room to spare.
struct Box {
  std::uint64_t pitch, rows, x, y, z;

  static Wide times(Wide a, Wide b) {
    constexpr Wide kMost = Wide{1} << 120;
    return a != 0 && b > kMost / a ? kMost : a * b;
  }
  Wide plane() const { return times(pitch, rows); }
  Wide offset() const { return times(plane(), z) + times(pitch, y) + x; }
  Wide reach(const cnrtExtent_t &extent) const {
    return times(plane(), extent.depth - 1) + times(pitch, extent.height - 1) + extent.width;
  }
  bool is_box(const cnrtExtent_t &extent) const {
    if ((extent.height > 1 || extent.depth > 1) && pitch < extent.width) return false;
    return extent.depth <= 1 || rows >= extent.height;
  }
  bool plane_fits() const { return plane() <= PTRDIFF_MAX; }
  std::size_t at(std::uint64_t row, std::uint64_t level) const {
    return static_cast<std::size_t>(offset() + level * plane() + row * pitch);
  }
};

Box make_box(Bytes &bytes, const cnrtExtent_t &extent, bool flat) {
  Box box = {};
  box.pitch = static_cast<std::uint64_t>(bytes.number(static_cast<std::int64_t>(extent.width + bytes.below(5))));
  box.rows = extent.height;
  if (flat) return box;
  box.rows = static_cast<std::uint64_t>(bytes.number(static_cast<std::int64_t>(extent.height + bytes.below(3))));
  box.x = static_cast<std::uint64_t>(bytes.number(static_cast<std::int64_t>(bytes.below(4))));
  box.y = static_cast<std::uint64_t>(bytes.number(static_cast<std::int64_t>(bytes.below(3))));
  box.z = static_cast<std::uint64_t>(bytes.number(static_cast<std::int64_t>(bytes.below(2))));
  return box;
}

void explain_box(const char *word, const cnrtExtent_t &extent, const Box &box, std::size_t room) {
  const auto number = [](std::uint64_t value) { return static_cast<long long>(value); };
  explain("%s %lld x %lld x %lld at %lld, %lld, %lld, pitch %lld, rows %lld, into %zu bytes", word,
          number(extent.width), number(extent.height), number(extent.depth), number(box.x), number(box.y),
          number(box.z), number(box.pitch), number(box.rows), room);
}

}  // namespace

void DeviceModel::begin_run() {
  arena_.begin_run();
  allocations_.clear();
  host_.clear();
  for (int i = 0; i < 3; ++i) {
    host_.push_back(arena_.make(kHostBlock, i == 1 ? Side::kBegin : Side::kEnd, static_cast<std::uint8_t>(17 * i)));
    for (std::size_t at = 0; at < kHostBlock; ++at)
      host_.back().data[at] = static_cast<std::uint8_t>(at * 7 + at / 256);
    host_.back().keep();
  }
}

void DeviceModel::end_run() {
  for (const Allocation &allocation : allocations_) {
    if (allocation.live && call_by_name("cnrtFree", static_cast<const void *>(allocation.begin)) != 0) {
      finding("cnrtFree refuses living memory: %s", last_error());
    }
  }
  allocations_.clear();
}

std::uint64_t DeviceModel::count() const {
  return static_cast<std::uint64_t>(
      std::count_if(allocations_.begin(), allocations_.end(), [](const Allocation &a) { return a.live; }));
}

void DeviceModel::allocate(Bytes &bytes) {
  if (allocations_.size() == kMostAllocations) return;
  const std::int64_t size = bytes.number(static_cast<std::int64_t>(1 + bytes.below(2000)));
  const void *memory = nullptr;
  const void *where = bytes.one_in(24) ? nullptr : &memory;
  const std::int64_t status = call_by_name("cnrtMalloc", where, size);
  explain("cnrtMalloc %lld = %lld", static_cast<long long>(size), static_cast<long long>(status));
  const bool wrong = size <= 0 || where == nullptr;
  if (status == 0 && wrong) finding("cnrtMalloc accepts %lld bytes", static_cast<long long>(size));
  if (status != 0) {
    if (memory != nullptr) finding("cnrtMalloc writes and then refuses");
    if (!wrong && size <= 65536)
      finding("cnrtMalloc refuses %lld bytes: %s", static_cast<long long>(size), last_error());
    return;
  }
  auto *begin = static_cast<std::uint8_t *>(const_cast<void *>(memory));
  if (reinterpret_cast<std::uintptr_t>(begin) % 256 != 0) finding("cnrtMalloc gives memory that is not aligned");
  if (size > 65536) {  // its bytes are too many to look at
    if (call_by_name("cnrtFree", memory) != 0) finding("cnrtFree refuses living memory: %s", last_error());
    return;
  }
  if (call_by_name("cnrtMemset", memory, 0x44, size) != 0) finding("cnrtMemset refuses new memory: %s", last_error());
  allocations_.push_back({begin, std::vector<std::uint8_t>(static_cast<std::size_t>(size), 0x44)});
}

void DeviceModel::free(Bytes &bytes) {
  if (allocations_.empty()) return;
  Allocation &allocation = allocations_[bytes.below(allocations_.size())];
  const std::int64_t shift = bytes.one_in(4) ? bytes.number(1) : 0;
  const std::uintptr_t shifted =
      reinterpret_cast<std::uintptr_t>(allocation.begin) + static_cast<std::uintptr_t>(shift);
  const std::uint8_t *pointer = bytes.one_in(12) ? host_[0].data : reinterpret_cast<const std::uint8_t *>(shifted);
  // Another allocation may stand where this one did, or where the shifted pointer points.
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [pointer](const Allocation &a) { return a.live && a.begin == pointer; });
  const std::int64_t status = call_by_name("cnrtFree", static_cast<const void *>(pointer));
  explain("cnrtFree %p = %lld", static_cast<const void *>(pointer), static_cast<long long>(status));
  settled();
  if ((status == 0) != (found != allocations_.end() || pointer == nullptr)) {
    finding("cnrtFree answers %lld for memory that %s", static_cast<long long>(status),
            status == 0 ? "was never allocated" : "is alive");
  }
  if (status == 0 && found != allocations_.end()) found->live = false;
}

DeviceModel::Place DeviceModel::place(Bytes &bytes) {
  const bool on_device = bytes.one_in(2) && !allocations_.empty();
  if (!on_device) {
    Buffer &block = host_[bytes.below(host_.size())];
    const std::size_t offset = bytes.below(kHostBlock);
    return {block.data + offset, false, nullptr, kHostBlock - offset};
  }
  Allocation &allocation = allocations_[bytes.below(allocations_.size())];
  const std::int64_t size = static_cast<std::int64_t>(allocation.held.size());
  std::int64_t offset = bytes.number(static_cast<std::int64_t>(bytes.below(static_cast<std::size_t>(size))));
  if (offset < -4096 || offset > (1 << 20)) offset = size;
  // Memory of a dead allocation may be part of a new one: then the place is not known well enough.
  const bool inside = allocation.live && offset >= 0 && offset < size;
  return {allocation.begin + offset, true, inside ? &allocation : nullptr,
          inside ? static_cast<std::size_t>(size - offset) : 0};
}

bool DeviceModel::reaches(const Place &place, unsigned __int128 offset, unsigned __int128 reach) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(place.pointer) + offset;
  return std::any_of(allocations_.begin(), allocations_.end(), [begin, reach](const Allocation &a) {
    const auto other = reinterpret_cast<std::uintptr_t>(a.begin);
    return begin < other + a.held.size() && other < begin + reach;
  });
}

void DeviceModel::check_host() {
  for (const Buffer &block : host_) {
    if (!block.canaries_intact()) finding("a copy writes beyond its host memory");
  }
}

void DeviceModel::check(Allocation &allocation) {
  if (!allocation.live || !allocation.known) return;
  std::vector<std::uint8_t> now(allocation.held.size());
  const std::int64_t status = call_by_name("cnrtMemcpy", static_cast<const void *>(now.data()),
                                           static_cast<const void *>(allocation.begin), now.size(), 2);
  if (status != 0) return;  // the default queue held an error, which it has told now
  if (now != allocation.held) finding("device memory does not hold what was copied and set there");
}

void DeviceModel::check_all() {
  for (Allocation &allocation : allocations_) check(allocation);
  check_host();
}

void DeviceModel::settled() {
  const bool all_known =
      std::all_of(allocations_.begin(), allocations_.end(), [](const Allocation &a) { return !a.live || a.known; });
  if (all_known) return;
  // Work of every queue may change these bytes; a call that waits may tell the error of one queue
  // instead.
  for (int i = 0; i < 3; ++i) call_by_name("cnrtSyncDevice");
  for (Allocation &allocation : allocations_) {
    if (!allocation.live || allocation.known) continue;
    if (call_by_name("cnrtMemcpy", static_cast<const void *>(allocation.held.data()),
                     static_cast<const void *>(allocation.begin), allocation.held.size(), 2) == 0) {
      allocation.known = true;
    }
  }
}

void DeviceModel::copy(Bytes &bytes, const void *queue, bool later) {
  const Place target = place(bytes), source = place(bytes);
  const std::size_t room = std::min(target.room, source.room);
  const std::int64_t size = bytes.number(room == 0 ? 1 : static_cast<std::int64_t>(1 + bytes.below(room)));
  const auto reach = static_cast<std::uint64_t>(size);
  const std::int64_t dir = direction(bytes, target.device, source.device);
  const auto pointer_of = [](const Place &place) { return static_cast<const void *>(place.pointer); };
  // A dead allocation's bytes may belong to a new one.
  for (const Place *side : {&target, &source}) {
    if (side->device && side->allocation == nullptr) return;
  }
  const bool outside = (target.device && !contains(target, reach)) || (source.device && !contains(source, reach));
  const bool legal = is_known_direction(dir) && direction_fits(dir, target.device, source.device) && !outside;
  const bool unsafe = (!target.device && !contains(target, reach)) || (!source.device && !contains(source, reach));
  if (unsafe && size != 0 && legal) return;  // the extent of host memory is unknown
  const auto at = [](const Place &place) { return Wide{reinterpret_cast<std::uintptr_t>(place.pointer)}; };
  const bool overlap = at(target) < at(source) + reach && at(source) < at(target) + reach;
  if (legal && overlap) return;  // what such a copy does is not said
  std::vector<std::uint8_t> moved(source.pointer,
                                  source.pointer + (source.device ? 0 : std::min(reach, std::uint64_t{source.room})));
  const bool known = source.device ? source.allocation->known : true;
  if (source.device && legal) {
    const auto begin = source.allocation->held.begin() + (source.pointer - source.allocation->begin);
    moved.assign(begin, begin + static_cast<std::ptrdiff_t>(reach));
  }
  const bool queued = queue != nullptr;
  later = later && target.device;  // what the host holds while a copy to it waits is not known
  explain("cnrtMemcpy %lld bytes, direction %lld, %s to %s", static_cast<long long>(size), static_cast<long long>(dir),
          source.device ? "device" : "host", target.device ? "device" : "host");
  const std::int64_t status =
      queued ? call_by_name("cnrtMemcpyAsync", pointer_of(target), pointer_of(source), size, queue, dir)
             : call_by_name("cnrtMemcpy", pointer_of(target), pointer_of(source), size, dir);
  explain("  = %lld", static_cast<long long>(status));
  if (size == 0) return;
  if (status == 0 && !legal) finding("cnrtMemcpy accepts a copy that is none");
  if (status != 0 && legal && !queued) finding("cnrtMemcpy refuses a copy: %s", last_error());
  if (status != 0) return;
  if (queued && !later) call_by_name("cnrtQueueSync", queue);
  if (target.device) {
    const auto begin = target.pointer - target.allocation->begin;
    std::copy(moved.begin(), moved.end(), target.allocation->held.begin() + begin);
    target.allocation->known = target.allocation->known && known && !queued;
    if (queued && !later) settled();
  } else if (!queued && known && std::memcmp(target.pointer, moved.data(), moved.size()) != 0) {
    finding("cnrtMemcpy brings other bytes to the host");
  }
}

void DeviceModel::copy_box(Bytes &bytes, bool flat) {
  const Place target = place(bytes), source = place(bytes);
  for (const Place *side : {&target, &source}) {
    if (side->device && side->allocation == nullptr) return;
  }
  cnrtExtent_t extent;
  extent.width = static_cast<std::size_t>(bytes.number(static_cast<std::int64_t>(1 + bytes.below(16))));
  extent.height = static_cast<std::size_t>(bytes.number(static_cast<std::int64_t>(1 + bytes.below(5))));
  extent.depth = flat ? 1 : static_cast<std::size_t>(bytes.number(static_cast<std::int64_t>(1 + bytes.below(3))));
  const Box to = make_box(bytes, extent, flat), from = make_box(bytes, extent, flat);
  const std::int64_t dir = direction(bytes, target.device, source.device);
  const bool nothing = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  const auto fits = [&extent](const Box &box, const Place &place) {
    return box.is_box(extent) && box.offset() + box.reach(extent) <= place.room;
  };
  const auto is_wild = [&extent](const Box &box) {
    return !box.is_box(extent) || box.offset() + box.reach(extent) > PTRDIFF_MAX;
  };
  const bool wrong = !is_known_direction(dir) || !direction_fits(dir, target.device, source.device) || is_wild(to) ||
                     is_wild(from) || (target.device && !fits(to, target)) || (source.device && !fits(from, source));
  const bool legal = !wrong && fits(to, target) && fits(from, source);
  if (!nothing && !wrong && !legal) return;  // host memory that is not ours
  // A box of one allocation may end up in another one.
  const std::pair<const Box *, const Place *> sides[] = {{&to, &target}, {&from, &source}};
  for (const auto &[box, side] : sides) {
    if (!side->device || is_wild(*box) || fits(*box, *side)) continue;
    if (reaches(*side, box->offset(), box->reach(extent))) return;
    if (dir == cnrtMemcpyNoDirection && is_open("a box that leaves the device is taken for host memory")) return;
  }
  // Where the sides overlap, the order of the rows would matter.
  const bool same =
      target.device == source.device && (target.device ? target.allocation == source.allocation
                                                       : target.pointer + target.room == source.pointer + source.room);
  if (same && legal) return;
  explain_box("copy", extent, to, target.room);
  explain_box("from", extent, from, source.room);
  explain("  direction %lld, %s to %s", static_cast<long long>(dir), source.device ? "device" : "host",
          target.device ? "device" : "host");
  std::int64_t status;
  if (flat) {
    status = call_by_name("cnrtMemcpy2D", static_cast<const void *>(target.pointer),
                          static_cast<std::int64_t>(to.pitch), static_cast<const void *>(source.pointer),
                          static_cast<std::int64_t>(from.pitch), extent.width, extent.height, dir);
  } else {
    const cnrtMemcpy3dParam_t parameters = {{from.x, from.y, from.z},
                                            {source.pointer, from.pitch, 0, from.rows},
                                            {to.x, to.y, to.z},
                                            {target.pointer, to.pitch, 0, to.rows},
                                            extent,
                                            static_cast<cnrtMemTransDir_t>(dir)};
    status = call_by_name("cnrtMemcpy3D", static_cast<const void *>(&parameters));
  }
  explain("  = %lld", static_cast<long long>(status));
  if (nothing) return;
  if (status == 0 && wrong) finding("a copy of a box that is none is accepted");
  if (status != 0 && legal && to.plane_fits() && from.plane_fits())
    finding("a copy of a box is refused: %s", last_error());
  if (status != 0) return;
  const std::uint8_t *read = source.pointer;
  if (source.device) read = source.allocation->held.data() + (source.pointer - source.allocation->begin);
  std::uint8_t *written = target.pointer;
  if (target.device) written = target.allocation->held.data() + (target.pointer - target.allocation->begin);
  const bool known = !source.device || source.allocation->known;
  for (std::size_t level = 0; level < extent.depth; ++level) {
    for (std::size_t row = 0; row < extent.height; ++row) {
      std::uint8_t *to_row = written + to.at(row, level);
      const std::uint8_t *from_row = read + from.at(row, level);
      if (target.device) {
        std::memcpy(to_row, from_row, extent.width);
      } else if (known && std::memcmp(to_row, from_row, extent.width) != 0) {
        finding("a copy of a box brings other bytes to the host");
      }
    }
  }
  if (target.device) target.allocation->known = target.allocation->known && known;
}

void DeviceModel::set(Bytes &bytes, const void *queue, bool later) {
  const Place target = place(bytes);
  if (target.device && target.allocation == nullptr) return;
  const std::int64_t size =
      bytes.number(target.room == 0 ? 1 : static_cast<std::int64_t>(1 + bytes.below(target.room)));
  const auto value = static_cast<std::int32_t>(bytes.number(bytes.byte()));
  const bool legal = target.device && contains(target, static_cast<std::uint64_t>(size));
  const auto *pointer = static_cast<const void *>(target.pointer);
  const std::int64_t status = queue != nullptr ? call_by_name("cnrtMemsetAsync", pointer, value, size, queue)
                                               : call_by_name("cnrtMemset", pointer, value, size);
  explain("cnrtMemset %lld bytes = %lld", static_cast<long long>(size), static_cast<long long>(status));
  if (size == 0) return;
  if (status == 0 && !legal) finding("cnrtMemset accepts memory that is none of the device");
  if (status != 0 && legal && queue == nullptr) finding("cnrtMemset refuses living memory: %s", last_error());
  if (status != 0) return;
  if (queue != nullptr && !later) call_by_name("cnrtQueueSync", queue);
  const auto begin = target.allocation->held.begin() + (target.pointer - target.allocation->begin);
  std::fill(begin, begin + static_cast<std::ptrdiff_t>(size), static_cast<std::uint8_t>(value));
  if (queue != nullptr) target.allocation->known = false;
  if (queue != nullptr && !later) settled();
}

void DeviceModel::ask(Bytes &bytes) {
  const Place found = place(bytes);
  if (found.device && found.allocation == nullptr) return;
  cnrtPointerAttributes_t attributes = {};
  const std::int64_t status = call_by_name("cnrtPointerGetAttributes", static_cast<const void *>(&attributes),
                                           static_cast<const void *>(found.pointer));
  if (status != 0) finding("cnrtPointerGetAttributes refuses a pointer: %s", last_error());
  const bool said = attributes.type == cnrtMemTypeDevice;
  if (said != found.device) finding("cnrtPointerGetAttributes takes host memory for device memory, or the reverse");
  if (said && attributes.size != found.allocation->held.size()) finding("cnrtPointerGetAttributes gives another size");
}

}  // namespace fuzz
