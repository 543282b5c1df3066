// Conversions of rows of half and bfloat16 to and from float.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

void widen_half(const void *from, float *to, std::size_t count) {
  vec::load_row(static_cast<const vec::Half *>(from), to, static_cast<std::int64_t>(count));
}

void narrow_half(const float *from, void *to, std::size_t count) {
  vec::store_row(static_cast<vec::Half *>(to), from, static_cast<std::int64_t>(count));
}

void widen_bfloat16(const void *from, float *to, std::size_t count) {
  const std::uint16_t *source = static_cast<const std::uint16_t *>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = vec::bits_to_float(static_cast<std::uint32_t>(source[i]) << 16);
}

void narrow_bfloat16(const float *from, void *to, std::size_t count) {
  std::uint16_t *target = static_cast<std::uint16_t *>(to);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = vec::float_to_bits(from[i]);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    target[i] = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40u : rounded);
  }
}

}  // namespace

extern const ShortLoops half_loops = {widen_half, narrow_half};
extern const ShortLoops bfloat16_loops = {widen_bfloat16, narrow_bfloat16};

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(ShortLoops, half_loops);
MLUSIM_CHOOSE_TABLE(ShortLoops, bfloat16_loops);
