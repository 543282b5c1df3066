// __bang_tiling_*: move units of a fixed size from one walk through memory to another. Two points
// are guesses: the order of the two loops, and that each position of a walk holds one unit.
#include <cstring>
#include <string>
#include <vector>

#include "intrinsics/operand.h"
#include "intrinsics/product.h"
#include "mlusim/layout.h"

namespace mlusim {
namespace {

constexpr std::int64_t kStep = 64;  // bytes

// From the inner to the outer loop.
struct Loop {
  std::int64_t count, stride;
};
struct Walk {
  Loop loop[3];
  std::int64_t count() const { return loop[0].count * loop[1].count * loop[2].count; }
  std::int64_t offset(std::int64_t unit) const {
    std::int64_t bytes = 0;
    for (const Loop &level : loop) {
      bytes += unit % level.count * level.stride * kStep;
      unit /= level.count;
    }
    return bytes;
  }
};

void check_walks(const Call &call, const Walk &to, const Walk &from, std::int64_t units) {
  for (const Walk *walk : {&to, &from}) {
    for (const Loop &level : walk->loop) {
      if (level.count <= 0) refuse(call, "bad-argument", "a loop of " + std::to_string(level.count) + " units");
    }
  }
  if (to.count() == from.count() && (units == 0 || from.count() == units)) return;
  std::string message = "takes " + std::to_string(from.count()) + " units and puts " + std::to_string(to.count());
  if (units != 0) message += "; " + std::to_string(units) + " of each are possible";
  refuse(call, "bad-argument", std::move(message));
}

// Reads all units before the first is written.
void tile(const Call &call, void *dst, const void *src, std::int64_t unit, const Walk &to, const Walk &from,
          std::int64_t units) {
  if (call.core.is_mpu()) return;
  check_walks(call, to, from, units);
  char *target = static_cast<char *>(dst);
  const char *source = static_cast<const char *>(src);
  const std::int64_t count = from.count();
  const std::size_t bytes = static_cast<std::size_t>(unit);
  char *data = scratch<char, 1>(2 * count * unit);
  char *shadow = data + count * unit;
  for (std::int64_t i = 0; i < count; ++i) {
    check_operands(call,
                   {nram_source("src", source + from.offset(i), unit), nram_target("dst", target + to.offset(i), unit)},
                   {unit, unit});
    std::memcpy(data + i * unit, source + from.offset(i), bytes);
    if (g_observers.init) std::memcpy(shadow + i * unit, init_shadow(source + from.offset(i)), bytes);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(target + to.offset(i), data + i * unit, bytes);
    if (g_observers.init) std::memcpy(init_shadow(target + to.offset(i)), shadow + i * unit, bytes);
  }
}

Walk walk_of(const Loop &inner, const Loop &middle, const Loop &outer = {1, 0}) { return {{inner, middle, outer}}; }

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_TILING_2D(name, bits)                                                               \
  void name(void *dst, const void *src, int n2, int s2, int n1, int s1, int n7, int s7, int n6, int s6) { \
    mlusim::tile(MLUSIM_CALL(#name), dst, src, (bits) / 8, mlusim::walk_of({n6, s6}, {n7, s7}),           \
                 mlusim::walk_of({n1, s1}, {n2, s2}), 512 / (bits));                                      \
  }
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b8, 8)
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b16, 16)
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b32, 32)
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b64, 64)
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b128, 128)
MLUSIM_DEFINE_TILING_2D(__bang_tiling_2d_b256, 256)

void __bang_tiling_3d_b1024(void *dst, const void *src, int n5, int s5, int n4, int s4, int n3, int s3, int n10,
                            int s10, int n9, int s9, int n8, int s8, int op) {
  const mlusim::Call call = MLUSIM_CALL("__bang_tiling_3d_b1024");
  if (op != 0) mlusim::refuse(call, "bad-argument", "an op of " + std::to_string(op) + ", of which nothing is known");
  mlusim::tile(call, dst, src, 128, mlusim::walk_of({n8, s8}, {n9, s9}, {n10, s10}),
               mlusim::walk_of({n3, s3}, {n4, s4}, {n5, s5}), 0);
}
