// __memcpy, __memcpy_async, __bang_move: copies between the memories of a device.
#include "mlusim/copy.h"

#include <cstdlib>
#include <string>

#include "check/align.h"
#include "intrinsics/transfer.h"
#include "machine/memory.h"
#include "machine/model.h"

namespace mlusim {
namespace {

// ---- Directions ---------------------------------------------------------------------------------

constexpr unsigned bits(std::initializer_list<mluMemcpyDirection_t> directions) {
  unsigned mask = 0;
  for (const mluMemcpyDirection_t direction : directions) mask |= 1u << direction;
  return mask;
}

// The directions that each form of the copy has.
constexpr unsigned kEvery = (1u << kDirections) - 1;
constexpr unsigned kFromWram = bits({WRAM2GDRAM, WRAM2LDRAM, WRAM2NRAM, WRAM2SRAM});
constexpr unsigned kLinear = kEvery & ~bits({LDRAM2LDRAM});
constexpr unsigned kStrided = kEvery & ~kFromWram & ~bits({LDRAM2WRAM});
constexpr unsigned kLinearAsync = kEvery & ~bits({LDRAM2NRAM, NRAM2LDRAM, WRAM2GDRAM, LDRAM2WRAM, WRAM2LDRAM,
                                                  LDRAM2SRAM, SRAM2LDRAM, LDRAM2GDRAM, LDRAM2LDRAM, SRAM2SRAM});
constexpr unsigned kStridedAsync = kLinearAsync & ~kFromWram;

// ---- Shapes -------------------------------------------------------------------------------------

struct Shape {
  std::int64_t stride0 = 0, segnum0 = 0, stride1 = 0, segnum1 = 0;
};

struct Copy {
  void *dst;
  const void *src;
  int size;
  mluMemcpyDirection_t direction;
  Shape dst_shape, src_shape;
  bool strided;
  bool async;
  int cluster = -1;       // of the target, for SRAM2SRAM; -1: the core's own cluster
  bool computes = false;  // runs in order with compute instructions, without a pipe
};

Region region_of(const void *base, int size, const Shape &shape) {
  Region region = Region::plain(base, static_cast<std::size_t>(size));
  region.stride0 = shape.stride0;
  region.count0 = shape.segnum0 + 1;
  region.stride1 = shape.stride1;
  region.count1 = shape.segnum1 + 1;
  return region;
}

void check_segments(const Call &call, const Shape &shape) {
  for (const std::int64_t segnum : {shape.segnum0, shape.segnum1}) {
    if (segnum < 0) refuse(call, "bad-argument", "a segnum of " + std::to_string(segnum));
  }
}

// Returns the source and target spaces of the copy.
Direction check_arguments(const Call &call, const Copy &copy) {
  const Direction ends = ends_of(call, copy.direction);
  const unsigned supported =
      copy.strided ? (copy.async ? kStridedAsync : kStrided) : (copy.async ? kLinearAsync : kLinear);
  if ((supported & (1u << copy.direction)) == 0) {
    refuse(call, "unsupported-direction",
           std::string("there is no ") + (copy.strided ? "strided" : "linear") + (copy.async ? " asynchronous" : "") +
               " copy from " + name_of(ends.source) + " to " + name_of(ends.target));
  }
  check_segments(call, copy.dst_shape);
  check_segments(call, copy.src_shape);
  const auto pieces = [](const Shape &shape) { return (shape.segnum0 + 1) * (shape.segnum1 + 1); };
  if (pieces(copy.dst_shape) != pieces(copy.src_shape)) {
    refuse(call, "bad-argument",
           "dst has " + std::to_string(pieces(copy.dst_shape)) + " pieces and src " +
               std::to_string(pieces(copy.src_shape)));
  }
  return ends;
}

// Moves the target to the same place in the SRAM of the cluster that the copy names.
void send_to_cluster(const Call &call, int cluster, Operand *target) {
  if (cluster == -1) return;
  if (cluster < 0 || cluster >= clusterDim) {
    refuse(call, "bad-argument",
           "there is no cluster " + std::to_string(cluster) + " in a job of " + std::to_string(clusterDim));
  }
  target->region.base += sram_of(cluster).begin - call.core.sram.begin;
}

void do_copy(const Call &call, const Copy &copy) {
  const Direction ends = check_arguments(call, copy);
  if (!carries_out(call.core, ends) || !has_work(call, copy.size)) return;
  Transfer transfer = {{"src", Kind::kRead, ends.source, region_of(copy.src, copy.size, copy.src_shape)},
                       {"dst", Kind::kWrite, ends.target, region_of(copy.dst, copy.size, copy.dst_shape)}};
  transfer.source.space = check_place(call, transfer.source);
  check_place(call, transfer.target);
  if (g_observers.any()) align_check_copy(call, transfer, copy.strided);
  send_to_cluster(call, copy.cluster, &transfer.target);
  if (!copy.strided || fills_wram_in_order(transfer)) transfer = in_wram_lanes(call, transfer);
  if (copy.async) {
    start(call, transfer, agent_of(ends));
  } else {
    if (!copy.computes) drain_pipe(call, ends);
    perform(call, transfer);
  }
}

Shape two_dimensions(int stride, int segnum) { return {stride, segnum, 0, 0}; }

}  // namespace
}  // namespace mlusim

// ---- Synchronous --------------------------------------------------------------------------------

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst, src, size, dir, {}, {}, false, false});
}

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int id_dst_cluster) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst, src, size, dir, {}, {}, false, false, id_dst_cluster});
}

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride, int src_stride,
              int segnum) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst, src, size, dir, mlusim::two_dimensions(dst_stride, segnum),
                                            mlusim::two_dimensions(src_stride, segnum), true, false});
}

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride, int src_stride,
              int segnum, int id_dst_cluster) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst, src, size, dir, mlusim::two_dimensions(dst_stride, segnum),
                                            mlusim::two_dimensions(src_stride, segnum), true, false, id_dst_cluster});
}

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0, int dst_segnum1,
              int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1, int src_stride1, int src_segnum2) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst,
                                            src,
                                            size,
                                            dir,
                                            {dst_stride0, dst_segnum1, dst_stride1, dst_segnum2},
                                            {src_stride0, src_segnum1, src_stride1, src_segnum2},
                                            true,
                                            false});
}

void __memcpy(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0, int dst_segnum1,
              int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1, int src_stride1, int src_segnum2,
              int id_dst_cluster) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy"), {dst,
                                            src,
                                            size,
                                            dir,
                                            {dst_stride0, dst_segnum1, dst_stride1, dst_segnum2},
                                            {src_stride0, src_segnum1, src_stride1, src_segnum2},
                                            true,
                                            false,
                                            id_dst_cluster});
}

void __memcpy_nram_to_nram(void *dst, const void *src, int size, int dst_stride, int src_stride, int segnum) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy_nram_to_nram"),
                  {dst, src, size, NRAM2NRAM, mlusim::two_dimensions(dst_stride, segnum),
                   mlusim::two_dimensions(src_stride, segnum), true, false});
}

void __bang_move(void *dst, const void *src, int size) {
  mlusim::do_copy(MLUSIM_CALL("__bang_move"), {dst, src, size, NRAM2NRAM, {}, {}, false, false, -1, true});
}

void __bang_move(void *dst, const void *src, int size, int dst_stride, int src_stride, int segnum) {
  mlusim::do_copy(MLUSIM_CALL("__bang_move"), {dst, src, size, NRAM2NRAM, mlusim::two_dimensions(dst_stride, segnum),
                                               mlusim::two_dimensions(src_stride, segnum), true, false, -1, true});
}

// ---- Asynchronous -------------------------------------------------------------------------------

void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy_async"), {dst, src, size, dir, {}, {}, false, true});
}

void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride, int src_stride,
                    int segnum) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy_async"), {dst, src, size, dir, mlusim::two_dimensions(dst_stride, segnum),
                                                  mlusim::two_dimensions(src_stride, segnum), true, true});
}

void __memcpy_async(void *dst, const void *src, int size, mluMemcpyDirection_t dir, int dst_stride0, int dst_segnum1,
                    int dst_stride1, int dst_segnum2, int src_stride0, int src_segnum1, int src_stride1,
                    int src_segnum2) {
  mlusim::do_copy(MLUSIM_CALL("__memcpy_async"), {dst,
                                                  src,
                                                  size,
                                                  dir,
                                                  {dst_stride0, dst_segnum1, dst_stride1, dst_segnum2},
                                                  {src_stride0, src_segnum1, src_stride1, src_segnum2},
                                                  true,
                                                  true});
}
