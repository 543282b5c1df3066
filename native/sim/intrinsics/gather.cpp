// __gather and __scatter: pieces at the places in a vector of offsets.
#include <cstring>
#include <string>

#include "check/align.h"
#include "check/init.h"
#include "intrinsics/transfer.h"
#include "mlusim/copy.h"

namespace mlusim {
namespace {

struct Gather {
  void *dst;
  const void *src;
  const void *offset;
  const void *bitmask;  // null: all pieces
  int size;
  int stride;  // of the contiguous side
  int count;
  bool scatter;
  bool async;
  std::int64_t width;  // bytes per offset
};

std::int64_t offset_of(const Gather &work, std::int64_t i) {
  if (work.width == 1) return static_cast<const std::uint8_t *>(work.offset)[i];
  if (work.width == 2) return static_cast<const std::uint16_t *>(work.offset)[i];
  return static_cast<const std::uint32_t *>(work.offset)[i];
}

bool is_selected(const Gather &work, std::int64_t i) {
  if (work.bitmask == nullptr) return true;
  return ((static_cast<const unsigned char *>(work.bitmask)[i / 8] >> (i % 8)) & 1) != 0;
}

// Returns piece i, after a check of both ends.
Transfer piece_of(const Call &call, const Gather &work, const Direction &ends, std::int64_t i) {
  const std::int64_t along = i * work.stride;
  const std::int64_t chosen = offset_of(work, i);
  const std::size_t size = static_cast<std::size_t>(work.size);
  const char *src = static_cast<const char *>(work.src) + (work.scatter ? along : chosen);
  const char *dst = static_cast<const char *>(work.dst) + (work.scatter ? chosen : along);
  Transfer transfer = {{"src", Kind::kRead, ends.source, Region::plain(src, size)},
                       {"dst", Kind::kWrite, ends.target, Region::plain(dst, size)}};
  transfer.source.space = check_place(call, transfer.source);
  check_place(call, transfer.target);
  return transfer;
}

// Offsets and mask determine the pieces, so they are read and must be defined when the instruction
// is issued.
void check_choice(const Call &call, const Gather &work, Agent agent) {
  const Operand operands[] = {nram_source("offset", work.offset, work.count * work.width),
                              nram_source("bitmask", work.bitmask, (std::int64_t{work.count} + 7) / 8)};
  const std::size_t number = work.bitmask != nullptr ? 2 : 1;
  for (std::size_t i = 0; i < number; ++i) {
    check_place(call, operands[i]);
    if (!g_observers.any()) continue;
    observe({call.core, agent, Kind::kRead, Space::kNram, operands[i].region, call.name, call.pc});
    if (i == 1) {
      need_initialised_bits(call.core, operands[i].region, work.count, call.name, call.pc);
    } else {
      need_initialised(call.core, operands[i].region, operands[i].role, call.name, call.pc);
    }
  }
}

// For launches without an observer: moves all pieces without events. Returns the number of moved
// pieces: all, or those before the first one in a wrong place.
std::int64_t move_at_once(const Call &call, const Gather &work, const Direction &ends) {
  const Range near_piece = call.core.nram;
  const Range far_piece = (work.scatter ? ends.target : ends.source) == Space::kNram ? near_piece : gdram_range();
  const std::size_t size = static_cast<std::size_t>(work.size);
  char *near = static_cast<char *>(work.scatter ? const_cast<void *>(work.src) : work.dst);
  char *far = static_cast<char *>(work.scatter ? work.dst : const_cast<void *>(work.src));
  const auto inside = [size](const Range &piece, const char *at) {
    return at >= piece.begin && at + size <= piece.end;
  };
  for (std::int64_t i = 0; i < work.count; ++i) {
    if (!is_selected(work, i)) continue;
    char *close = near + i * work.stride;
    char *distant = far + offset_of(work, i);
    if (!inside(near_piece, close) || !inside(far_piece, distant)) return i;
    std::memmove(work.scatter ? distant : close, work.scatter ? close : distant, size);
  }
  return work.count;
}

void do_gather(const Call &call, const Gather &work, const Direction &ends) {
  if (!carries_out(call.core, ends) || !has_work(call, work.count) || !has_work(call, work.size)) return;
  const bool supported = work.scatter ? ends.source == Space::kNram : ends.target == Space::kNram;
  const Space far_end = work.scatter ? ends.target : ends.source;
  if (!supported || (far_end != Space::kNram && far_end != Space::kGdram)) {
    refuse(call, "unsupported-direction",
           std::string("there is none from ") + name_of(ends.source) + " to " + name_of(ends.target));
  }
  const Agent agent = work.async ? agent_of(ends) : kCompute;
  if (!work.async) drain_pipe(call, ends);
  check_choice(call, work, agent);
  const bool at_once = !work.async && !g_observers.any();
  for (std::int64_t i = at_once ? move_at_once(call, work, ends) : 0; i < work.count; ++i) {
    if (!is_selected(work, i)) continue;
    const Transfer transfer = piece_of(call, work, ends, i);
    if (work.async) {
      start(call, transfer, agent);
    } else {
      perform(call, transfer);
    }
  }
}

void do_gather(const Call &call, const Gather &work, mluMemcpyDirection_t direction) {
  do_gather(call, work, ends_of(call, direction));
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_GATHER(Offset, name, scatter, async)                                                             \
  void name(void *dst, const void *src, const Offset *offset, int transfer_size, mluMemcpyDirection_t dir, int stride, \
            int num) {                                                                                                 \
    mlusim::do_gather(MLUSIM_CALL(#name),                                                                              \
                      {dst, src, offset, nullptr, transfer_size, stride, num, scatter, async, sizeof(Offset)}, dir);   \
  }                                                                                                                    \
  void name(void *dst, const void *src, const Offset *offset, const void *bitmask, int transfer_size,                  \
            mluMemcpyDirection_t dir, int stride, int num) {                                                           \
    mlusim::do_gather(MLUSIM_CALL(#name),                                                                              \
                      {dst, src, offset, bitmask, transfer_size, stride, num, scatter, async, sizeof(Offset)}, dir);   \
  }
#define MLUSIM_DEFINE_GATHERS(Offset)                       \
  MLUSIM_DEFINE_GATHER(Offset, __gather, false, false)      \
  MLUSIM_DEFINE_GATHER(Offset, __gather_async, false, true) \
  MLUSIM_DEFINE_GATHER(Offset, __scatter, true, false)      \
  MLUSIM_DEFINE_GATHER(Offset, __scatter_async, true, true)
MLUSIM_DEFINE_GATHERS(unsigned int)
MLUSIM_DEFINE_GATHERS(unsigned short)
MLUSIM_DEFINE_GATHERS(unsigned char)

void __bang_gather_async(void *dst, const void *src, const unsigned int *offset, const void *bitmask, int transfer_size,
                         int dst_stride, int num) {
  mlusim::do_gather(MLUSIM_CALL("__bang_gather_async"),
                    {dst, src, offset, bitmask, transfer_size, dst_stride, num, false, true, 4}, GDRAM2NRAM);
}
