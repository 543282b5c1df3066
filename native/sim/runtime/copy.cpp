// Copies and fills: one code path for one, two and three dimensions, at once and in a queue.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "check/queues.h"
#include "machine/copy.h"
#include "machine/heap.h"
#include "machine/memory.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

// One side of a copy: its box of bytes, the reach from its first to behind its last byte, and the
// caller's pointer, which determines the memory that must hold the box.
struct Side {
  const char *name;
  Region region;
  std::size_t reach = 0;
  const void *given = nullptr;

  const void *begin() const { return region.base; }
};

struct Transfer {
  const char *function;
  Side target;
  Side source;
  bool to_device = false;
  bool from_device = false;
};

const char *name_of_direction(cnrtMemTransDir_t dir) {
  constexpr const char *kNames[] = {"cnrtMemcpyHostToDev",  "cnrtMemcpyDevToDev",   "cnrtMemcpyDevToHost",
                                    "cnrtMemcpyHostToHost", "cnrtMemcpyPeerToPeer", "cnrtMemcpyNoDirection"};
  return kNames[static_cast<int>(dir)];
}

bool is_direction(cnrtMemTransDir_t dir) {
  const int number = static_cast<int>(dir);
  return number >= cnrtMemcpyHostToDev && number <= cnrtMemcpyNoDirection;
}

bool writes_device(cnrtMemTransDir_t dir) {
  return dir == cnrtMemcpyHostToDev || dir == cnrtMemcpyDevToDev || dir == cnrtMemcpyPeerToPeer;
}

bool reads_device(cnrtMemTransDir_t dir) {
  return dir == cnrtMemcpyDevToHost || dir == cnrtMemcpyDevToDev || dir == cnrtMemcpyPeerToPeer;
}

// ---- Boxes --------------------------------------------------------------------------------------

struct Box {
  const void *base;
  std::size_t pitch, rows;  // bytes between rows, and rows between planes
  std::size_t x, y, z;
  cnrtExtent_t extent;
};

bool multiply(std::size_t a, std::size_t b, std::size_t *product) { return !__builtin_mul_overflow(a, b, product); }
bool add(std::size_t a, std::size_t b, std::size_t *sum) { return !__builtin_add_overflow(a, b, sum); }

// Fills the side in. False if rows or planes overlap, or if the box leaves the address space.
bool make_side(const Box &box, Side *side) {
  const cnrtExtent_t &extent = box.extent;
  if ((extent.height > 1 || extent.depth > 1) && box.pitch < extent.width) return false;
  if (extent.depth > 1 && box.rows < extent.height) return false;
  std::size_t plane = 0, offset = 0, row = 0, last_plane = 0, last_row = 0, reach = 0, end = 0;
  const bool fits = multiply(box.pitch, box.rows, &plane) && multiply(plane, box.z, &offset) &&
                    multiply(box.pitch, box.y, &row) && add(offset, row, &offset) && add(offset, box.x, &offset) &&
                    multiply(plane, extent.depth - 1, &last_plane) &&
                    multiply(box.pitch, extent.height - 1, &last_row) && add(last_plane, last_row, &reach) &&
                    add(reach, extent.width, &reach) && add(offset, reach, &end) && end <= PTRDIFF_MAX;
  if (!fits) return false;
  side->given = box.base;
  side->region = Region::plain(static_cast<const char *>(box.base) + offset, extent.width);
  side->region.stride0 = static_cast<std::int64_t>(box.pitch);
  side->region.count0 = static_cast<std::int64_t>(extent.height);
  side->region.stride1 = static_cast<std::int64_t>(plane);
  side->region.count1 = static_cast<std::int64_t>(extent.depth);
  side->reach = reach;
  return true;
}

Side plain_side(const char *name, const void *pointer, std::size_t bytes) {
  return {name, Region::plain(pointer, bytes), bytes, pointer};
}

// ---- Checks -------------------------------------------------------------------------------------

const char *rule_of(const void *address, bool device) {
  Allocation allocation;
  if (device != of_device(address)) return device ? "host-pointer" : "device-pointer";
  if (!heap_find(address, &allocation)) return "no-allocation";
  return allocation.live ? "out-of-bounds" : "use-after-free";
}

// Checks that the bytes lie in one live allocation, or entirely outside the device. The caller's
// pointer determines the memory that must hold the bytes: a box may begin far behind the pointer,
// in any memory.
cnrtRet_t check_side(const char *function, const Side &side, bool device) {
  const bool fits = of_device(side.given) == device;
  const char *begin = static_cast<const char *>(fits ? side.begin() : side.given);
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(begin) + (side.reach - 1);
  const bool wraps = last < reinterpret_cast<std::uintptr_t>(begin);
  const bool good =
      fits && device ? heap_holds(begin, side.reach)
                     : fits && !wraps &&
                           (last < reinterpret_cast<std::uintptr_t>(onchip_range().begin) || begin >= heap_range().end);
  if (good) return cnrtSuccess;
  return blame_host(function, rule_of(begin, device), begin, side.reach,
                    std::string(side.name) + ": expected " + std::to_string(side.reach) + " bytes of " +
                        (device ? "device" : "host") + " memory, got " + describe(begin));
}

// Returns the number of the device whose memory holds the address, or -1.
int device_of(const void *address) {
  Allocation allocation;
  return heap_find(address, &allocation) ? allocation.device : -1;
}

// Checks that a copy within a device stays there: CNRT copies between devices by cnrtMemcpyPeer, or
// in the direction cnrtMemcpyPeerToPeer.
cnrtRet_t check_devices(const Transfer &transfer, cnrtMemTransDir_t dir) {
  if (dir != cnrtMemcpyDevToDev) return cnrtSuccess;
  const int target = device_of(transfer.target.begin());
  const int source = device_of(transfer.source.begin());
  if (target == source) return cnrtSuccess;
  return blame_host(transfer.function, "other-device", transfer.target.begin(), transfer.target.reach,
                    "dir: expected cnrtMemcpyPeerToPeer for a copy from device " + std::to_string(source) +
                        " to device " + std::to_string(target) + ", got cnrtMemcpyDevToDev");
}

cnrtRet_t check_sides(const Transfer &transfer) {
  const cnrtRet_t error = check_side(transfer.function, transfer.target, transfer.to_device);
  return error != cnrtSuccess ? error : check_side(transfer.function, transfer.source, transfer.from_device);
}

// Determines the two memories of the transfer, and checks that it is allowed.
cnrtRet_t check(Transfer *transfer, cnrtMemTransDir_t dir) {
  const char *function = transfer->function;
  if (!is_direction(dir)) {
    return explain(cnrtErrorMemcpyDirectionInvalid, "%s: dir: expected 0 to 5, got %d", function,
                   static_cast<int>(dir));
  }
  for (const Side *side : {&transfer->target, &transfer->source}) {
    if (side->begin() == nullptr) return refuse_null(function, side->name);
  }
  if (!prepare_device_memory()) return explain(cnrtErrorSysNoMem, "%s: no addresses for device memory", function);
  const bool target = of_device(transfer->target.given);
  const bool source = of_device(transfer->source.given);
  const bool given = dir != cnrtMemcpyNoDirection;
  transfer->to_device = given ? writes_device(dir) : target;
  transfer->from_device = given ? reads_device(dir) : source;
  if (target != transfer->to_device && source != transfer->from_device) {
    return explain(cnrtErrorMemcpyDirectionInvalid, "%s: dir: expected a direction from %s to %s memory, got %s",
                   function, source ? "device" : "host", target ? "device" : "host", name_of_direction(dir));
  }
  const cnrtRet_t error = check_sides(*transfer);
  return error == cnrtSuccess ? check_devices(*transfer, dir) : error;
}

// ---- Work, on the device's thread ---------------------------------------------------------------

// Ends the work of a copy or fill: it may race with that of another queue.
cnrtRet_t end_work(const char *function) {
  FindingText text = {"race", ""};
  if (!end_queue_work(function, &text)) return cnrtSuccess;
  const Action action = action_for(text);
  report_from_host(text, action == Action::kFail);
  return action == Action::kFail ? explain(cnrtErrorKernelTrap, "%s", text.message.c_str()) : cnrtSuccess;
}

cnrtRet_t copy(const Transfer &transfer) {
  cnrtRet_t error = check_sides(transfer);  // memory may have been freed since the call
  if (error != cnrtSuccess) return error;
  if (transfer.to_device) note_queue_access(Kind::kWrite, transfer.target.region, transfer.function, nullptr);
  if (transfer.from_device) note_queue_access(Kind::kRead, transfer.source.region, transfer.function, nullptr);
  error = end_work(transfer.function);
  const Region &target = transfer.target.region;
  const Region &source = transfer.source.region;
  move_pieces(target, source);
  if (!transfer.to_device || !keep_shadow()) return error;
  if (transfer.from_device) {
    move_pieces(target.moved(init_delta()), source.moved(init_delta()));
  } else {
    fill_pieces(target.moved(init_delta()), 0xff);  // bytes from the host count as written
  }
  return error;
}

// Fills memory with an element of `size` bytes, over and over.
void fill_elements(const Side &target, std::uint32_t value, std::size_t size) {
  if (size == 1) return fill_pieces(target.region, static_cast<unsigned char>(value));
  char *const begin = static_cast<char *>(const_cast<void *>(target.given));
  for (std::size_t i = 0; i < target.reach; i += size) std::memcpy(begin + i, &value, size);
}

cnrtRet_t set(const char *function, const Side &target, std::uint32_t value, std::size_t size) {
  cnrtRet_t error = check_side(function, target, true);
  if (error != cnrtSuccess) return error;
  note_queue_access(Kind::kWrite, target.region, function, nullptr);
  error = end_work(function);
  fill_elements(target, value, size);
  if (keep_shadow()) fill_pieces(target.region.moved(init_delta()), 0xff);
  return error;
}

// ---- Calls --------------------------------------------------------------------------------------

enum class When {
  kNow,    // the call waits for it
  kLater,  // it waits in the queue
};

cnrtRet_t submit(const char *function, cnrtQueue_t handle, When when, std::function<cnrtRet_t()> work) {
  const QueueRef queue = queue_of(function, handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  Task task;
  task.work = std::move(work);
  return when == When::kNow ? do_in_queue(queue, std::move(task)) : enqueue(queue, std::move(task));
}

cnrtRet_t submit(Transfer transfer, cnrtMemTransDir_t dir, cnrtQueue_t queue, When when) {
  const cnrtRet_t error = check(&transfer, dir);
  if (error != cnrtSuccess) return error;
  return submit(transfer.function, queue, when, [transfer] { return copy(transfer); });
}

cnrtRet_t copy_bytes(const char *function, void *dst, const void *src, std::size_t bytes, cnrtMemTransDir_t dir,
                     cnrtQueue_t queue, When when) {
  if (bytes == 0) return cnrtSuccess;
  return submit({function, plain_side("dst", dst, bytes), plain_side("src", src, bytes)}, dir, queue, when);
}

// Checks that device memory belongs to the device that the caller names.
cnrtRet_t check_owner(const char *function, const char *argument, const void *pointer, int device) {
  if (!prepare_device_memory()) return explain(cnrtErrorSysNoMem, "%s: no addresses for device memory", function);
  const int owner = of_device(pointer) ? device_of(pointer) : -1;
  if (owner < 0 || owner == device) return cnrtSuccess;  // other mistakes are found with the bytes
  return blame_host(function, "other-device", pointer, 0,
                    std::string(argument) + ": expected memory of device " + std::to_string(device) +
                        ", got memory of device " + std::to_string(owner));
}

cnrtRet_t copy_peer(const char *function, void *dst, int dst_device, const void *src, int src_device, std::size_t bytes,
                    cnrtQueue_t queue, When when) {
  cnrtRet_t error = check_device(function, "dst_device", dst_device);
  if (error == cnrtSuccess) error = check_device(function, "src_device", src_device);
  if (error == cnrtSuccess && bytes != 0) error = check_owner(function, "dst", dst, dst_device);
  if (error == cnrtSuccess && bytes != 0) error = check_owner(function, "src", src, src_device);
  if (error != cnrtSuccess) return error;
  return copy_bytes(function, dst, src, bytes, cnrtMemcpyPeerToPeer, queue, when);
}

cnrtRet_t copy_boxes(const char *function, const Box &target, const Box &source, cnrtMemTransDir_t dir) {
  const cnrtExtent_t &extent = target.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cnrtSuccess;
  Transfer transfer = {function, {"dst", {}}, {"src", {}}};
  if (target.base == nullptr || source.base == nullptr) {
    return refuse_null(function, target.base == nullptr ? "dst" : "src");
  }
  for (const auto &entry : {std::make_pair(&target, &transfer.target), std::make_pair(&source, &transfer.source)}) {
    if (make_side(*entry.first, entry.second)) continue;
    return explain(cnrtErrorArgsInvalid,
                   "%s: %s: expected rows and planes that do not overlap, got pitch %zu for rows of "
                   "%zu bytes, and planes of %zu rows for %zu",
                   function, entry.second->name, entry.first->pitch, extent.width, entry.first->rows, extent.height);
  }
  return submit(transfer, dir, nullptr, When::kNow);
}

}  // namespace

cnrtRet_t set_elements(const char *function, void *pointer, std::uint32_t value, std::size_t size, std::size_t count,
                       cnrtQueue_t queue, bool later) {
  std::size_t bytes = 0;
  if (count == 0) return cnrtSuccess;
  if (pointer == nullptr) return refuse_null(function, "pointer");
  if (!multiply(count, size, &bytes)) {
    return explain(cnrtErrorArgsInvalid, "%s: count: expected elements that an allocation can hold, got %zu", function,
                   count);
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % size != 0) {
    return explain(
        cnrtErrorArgsInvalid,
        "%s: pointer: expected a multiple of %zu, the bytes of an element, got one that is %zu bytes behind one",
        function, size, reinterpret_cast<std::uintptr_t>(pointer) % size);
  }
  if (!prepare_device_memory()) return explain(cnrtErrorSysNoMem, "%s: no addresses for device memory", function);
  const Side target = plain_side("pointer", pointer, bytes);
  const cnrtRet_t error = check_side(function, target, true);
  if (error != cnrtSuccess) return error;
  return submit(function, queue, later ? When::kLater : When::kNow,
                [function, target, value, size] { return set(function, target, value, size); });
}

}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes, cnrtMemTransDir_t dir) {
  return guarded(__func__,
                 [&](const char *function) { return copy_bytes(function, dst, src, bytes, dir, nullptr, When::kNow); });
}

cnrtRet_t cnrtMemcpyAsync(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir) {
  return guarded(__func__,
                 [&](const char *function) { return copy_bytes(function, dst, src, bytes, dir, queue, When::kLater); });
}

cnrtRet_t cnrtMemcpyAsync_V2(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir) {
  return guarded(__func__,
                 [&](const char *function) { return copy_bytes(function, dst, src, bytes, dir, queue, When::kLater); });
}

cnrtRet_t cnrtMemcpyAsync_V3(void *dst, void *src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir) {
  return guarded(__func__,
                 [&](const char *function) { return copy_bytes(function, dst, src, bytes, dir, queue, When::kLater); });
}

cnrtRet_t cnrtMemcpyPeer(void *dst, int dst_device, void *src, int src_device, size_t bytes) {
  return guarded(__func__, [&](const char *function) {
    return copy_peer(function, dst, dst_device, src, src_device, bytes, nullptr, When::kNow);
  });
}

cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dst_device, void *src, int src_device, size_t bytes, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    return copy_peer(function, dst, dst_device, src, src_device, bytes, queue, When::kLater);
  });
}

cnrtRet_t cnrtMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                       cnrtMemTransDir_t dir) {
  return guarded(__func__, [&](const char *function) {
    const cnrtExtent_t extent = {width, height, 1};
    return copy_boxes(function, {dst, dst_pitch, height, 0, 0, 0, extent}, {src, src_pitch, height, 0, 0, 0, extent},
                      dir);
  });
}

cnrtRet_t cnrtMemcpy3D(const cnrtMemcpy3dParam_t *parameters) {
  return guarded(__func__, [&](const char *function) {
    if (parameters == nullptr) return refuse_null(function, "parameters");
    const auto box = [parameters](const cnrtPitchedPtr_t &memory, const cnrtPos_t &position) -> Box {
      return {memory.ptr, memory.pitch, memory.ysize, position.x, position.y, position.z, parameters->extent};
    };
    return copy_boxes(function, box(parameters->dstPtr, parameters->dstPos),
                      box(parameters->srcPtr, parameters->srcPos), parameters->dir);
  });
}

cnrtRet_t cnrtMemset(void *pointer, int value, size_t bytes) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, static_cast<unsigned char>(value), 1, bytes, nullptr, false);
  });
}

cnrtRet_t cnrtMemsetAsync(void *pointer, int value, size_t bytes, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, static_cast<unsigned char>(value), 1, bytes, queue, true);
  });
}

cnrtRet_t cnrtMemsetD8(void *pointer, unsigned char value, size_t count) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, value, sizeof value, count, nullptr, false);
  });
}

cnrtRet_t cnrtMemsetD8Async(void *pointer, unsigned char value, size_t count, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, value, sizeof value, count, queue, true);
  });
}

cnrtRet_t cnrtMemsetD32(void *pointer, unsigned int value, size_t count) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, value, sizeof value, count, nullptr, false);
  });
}

cnrtRet_t cnrtMemsetD32Async(void *pointer, unsigned int value, size_t count, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) {
    return set_elements(function, pointer, value, sizeof value, count, queue, true);
  });
}
