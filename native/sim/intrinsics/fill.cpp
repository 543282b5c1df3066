// __bang_write_value, __bang_write_zero, __nramset, __gdramset and similar functions.
#include <cstring>
#include <string>

#include "check/align.h"
#include "intrinsics/transfer.h"
#include "mlusim/copy.h"

namespace mlusim {
namespace {

template <typename T>
Pattern pattern_of(T value) {
  Pattern pattern = {0, sizeof value};
  std::memcpy(&pattern.bits, &value, sizeof value);
  return pattern;
}

struct Repeats {
  int stride0 = 0, iter1 = 0, stride1 = 0, iter2 = 0;
};

// Returns the region to fill; empty if the core has no work.
bool region_to_fill(const Call &call, Space space, void *dst, int count, std::size_t element, const Repeats &repeats,
                    Operand *target) {
  if (!carries_out(call.core, {space, space}) && space != Space::kSram) return false;
  if (!has_work(call, count)) return false;
  if (repeats.iter1 < 0 || repeats.iter2 < 0) refuse(call, "bad-argument", "a negative number of iterations");
  Region region = Region::plain(dst, static_cast<std::size_t>(count) * element);
  region.stride0 = repeats.stride0;
  region.count0 = std::int64_t{repeats.iter1} + 1;
  region.stride1 = repeats.stride1;
  region.count1 = std::int64_t{repeats.iter2} + 1;
  *target = {"dst", Kind::kWrite, space, region};
  check_place(call, *target);
  const std::int64_t bytes = static_cast<std::int64_t>(region.bytes);
  if (g_observers.any()) announce(call, target, 1, {count, bytes});
  return true;
}

template <typename T>
void fill(const Call &call, Space space, void *dst, int count, T value, const Repeats &repeats) {
  Operand target = {};
  if (!region_to_fill(call, space, dst, count, sizeof value, repeats, &target)) return;
  perform_fill(call, target, pattern_of(value));
}

void fill_async(const Call &call, void *dst, int count, float value, const Repeats &repeats) {
  Operand target = {};
  if (!region_to_fill(call, Space::kNram, dst, count, sizeof value, repeats, &target)) return;
  start_fill(call, target, pattern_of(value), agent_of({Space::kNram, Space::kNram}));
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_FILL(T, name, space)                                              \
  void name(void *dst, int elem_count, T value) {                                       \
    mlusim::fill(MLUSIM_CALL(#name), mlusim::Space::space, dst, elem_count, value, {}); \
  }
#define MLUSIM_DEFINE_FILL_3D(T, name, space)                                                                         \
  void name(void *dst, int elem_count, T value, int stride0, int iter1, int stride1, int iter2) {                     \
    mlusim::fill(MLUSIM_CALL(#name), mlusim::Space::space, dst, elem_count, value, {stride0, iter1, stride1, iter2}); \
  }
#define MLUSIM_DEFINE_TYPED_FILL(T, name)                                               \
  void name(T *dst, int elem_count, T value) {                                          \
    mlusim::fill(MLUSIM_CALL(#name), mlusim::Space::kNram, dst, elem_count, value, {}); \
  }
#define MLUSIM_DEFINE_WRITE_ZERO(T, name)                                                           \
  void name(T *dst, int elem_count) {                                                               \
    mlusim::fill(MLUSIM_CALL(#name), mlusim::Space::kNram, dst, elem_count, static_cast<T>(0), {}); \
  }

MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __bang_write_value, kNram);
MLUSIM_LONGS(MLUSIM_DEFINE_FILL, __bang_write_value, kNram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __memset_nram, kNram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __nramset, kNram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __gdramset, kGdram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __ldramset, kLdram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL, __sramset, kSram);
MLUSIM_FILL_TYPES(MLUSIM_DEFINE_FILL_3D, __bang_write_value, kNram);
MLUSIM_FILL_3D_TYPES(MLUSIM_DEFINE_FILL_3D, __nramset, kNram);
MLUSIM_FILL_3D_TYPES(MLUSIM_DEFINE_FILL_3D, __gdramset, kGdram);
MLUSIM_FILL_3D_TYPES(MLUSIM_DEFINE_FILL_3D, __ldramset, kLdram);
MLUSIM_FILL_3D_TYPES(MLUSIM_DEFINE_FILL_3D, __sramset, kSram);

MLUSIM_DEFINE_TYPED_FILL(half, __nramset_half)
MLUSIM_DEFINE_TYPED_FILL(float, __nramset_float)
MLUSIM_DEFINE_TYPED_FILL(short, __nramset_short)
MLUSIM_DEFINE_TYPED_FILL(unsigned short, __nramset_unsigned_short)
MLUSIM_DEFINE_TYPED_FILL(int, __nramset_int)
MLUSIM_DEFINE_TYPED_FILL(unsigned int, __nramset_unsigned_int)

MLUSIM_DEFINE_WRITE_ZERO(signed char, __bang_write_zero)
MLUSIM_DEFINE_WRITE_ZERO(unsigned char, __bang_write_zero)
MLUSIM_WORDS(MLUSIM_DEFINE_WRITE_ZERO, __bang_write_zero);
MLUSIM_LONGS(MLUSIM_DEFINE_WRITE_ZERO, __bang_write_zero);
MLUSIM_REALS(MLUSIM_DEFINE_WRITE_ZERO, __bang_write_zero);

void __nramset_async(void *dst, int elem_count, float value, int stride, int segnum) {
  mlusim::fill_async(MLUSIM_CALL("__nramset_async"), dst, elem_count, value, {stride, segnum, 0, 0});
}
