// Conversions between number types, with every rounding mode.
#include <utility>

#include "intrinsics/loops/rounding.h"

MLUSIM_BEGIN_LEVEL
namespace {

// ---- To integers --------------------------------------------------------------------------------

template <typename To, typename From, Rounding kRounding>
void to_integer(void *dst, const void *src, std::size_t count, int exponent, bool symmetric) {
  To *to = static_cast<To *>(dst);
  const From *from = static_cast<const From *>(src);
  const double scale = power_of_2(exponent);
  const double largest = Limits<To>::kLargest;
  const double smallest = symmetric ? -largest : Limits<To>::kSmallest;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = saturate<To>(round_to_integer<kRounding>(static_cast<double>(from[i]) * scale), smallest, largest);
  }
}

// ---- To floating-point numbers ------------------------------------------------------------------

template <typename Target, typename From, Rounding kRounding>
void to_real(void *dst, const void *src, std::size_t count, int exponent, bool) {
  typename Target::Bits *to = static_cast<typename Target::Bits *>(dst);
  const From *from = static_cast<const From *>(src);
  const double scale = power_of_2(exponent);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = round_bits<kRounding, Float64, Target>(double_to_bits(static_cast<double>(from[i]) * scale));
  }
}

template <typename Target, Rounding kRounding>
void narrow(void *dst, const void *src, std::size_t count, int, bool) {
  typename Target::Bits *to = static_cast<typename Target::Bits *>(dst);
  const std::uint32_t *from = static_cast<const std::uint32_t *>(src);
  for (std::size_t i = 0; i < count; ++i) to[i] = round_bits<kRounding, Float32, Target>(from[i]);
}

// CPUs have instructions for the usual rounding. Each vector is handled once: dst may overwrite
// src.
void narrow_to_nearest_half(void *dst, const void *src, std::size_t count, int, bool) {
  vec::Half *to = static_cast<vec::Half *>(dst);
  const float *from = static_cast<const float *>(src);
  std::size_t i = 0;
  for (; i + vec::kLanes <= count; i += vec::kLanes) vec::store(to + i, vec::load(from + i));
  for (; i < count; ++i) to[i] = vec::to_half(from[i]);
}

void widen_half(void *dst, const void *src, std::size_t count, int, bool) {
  vec::load_row(static_cast<const vec::Half *>(src), static_cast<float *>(dst), static_cast<std::int64_t>(count));
}

void widen_bfloat16(void *dst, const void *src, std::size_t count, int, bool) {
  float *to = static_cast<float *>(dst);
  const std::uint16_t *from = static_cast<const std::uint16_t *>(src);
  for (std::size_t i = 0; i < count; ++i) to[i] = vec::bits_to_float(static_cast<std::uint32_t>(from[i]) << 16);
}

// ---- The table ----------------------------------------------------------------------------------

typedef std::make_integer_sequence<int, kRoundings> AllRoundings;

constexpr ConvertLoop (&row(ConvertLoops *loops, Type to, Type from))
    [kRoundings] { return loops->loop[static_cast<int>(to)][static_cast<int>(from)]; }

template <typename To, int... kNumber>
constexpr void put_float_to_integer(ConvertLoops *loops, std::integer_sequence<int, kNumber...>) {
  ((row(loops, type_of<To>(), Type::kFloat)[kNumber] = to_integer<To, float, static_cast<Rounding>(kNumber)>), ...);
}

template <typename Target, int... kNumber>
constexpr void put_narrow(ConvertLoops *loops, Type to, std::integer_sequence<int, kNumber...>) {
  ((row(loops, to, Type::kFloat)[kNumber] = narrow<Target, static_cast<Rounding>(kNumber)>), ...);
}

template <typename Target, typename From>
constexpr void put_to_real(ConvertLoops *loops, Type to) {
  constexpr int kTowardZero = static_cast<int>(Rounding::kTowardZero);
  row(loops, to, type_of<From>())[kTowardZero] = to_real<Target, From, Rounding::kTowardZero>;
}

template <typename Target, typename From, int... kNumber>
constexpr void put_to_real(ConvertLoops *loops, Type to, std::integer_sequence<int, kNumber...>) {
  ((row(loops, to, type_of<From>())[kNumber] = to_real<Target, From, static_cast<Rounding>(kNumber)>), ...);
}

template <typename To, typename From>
constexpr void put_between_integers(ConvertLoops *loops) {
  constexpr int kTowardZero = static_cast<int>(Rounding::kTowardZero);
  row(loops, type_of<To>(), type_of<From>())[kTowardZero] = to_integer<To, From, Rounding::kTowardZero>;
}

constexpr void put_widen(ConvertLoops *loops, Type from, ConvertLoop loop) {
  for (int rounding = 0; rounding < kRoundings; ++rounding) row(loops, Type::kFloat, from)[rounding] = loop;
}

constexpr ConvertLoops make() {
  ConvertLoops loops = {};
  put_float_to_integer<std::int8_t>(&loops, AllRoundings());
  put_float_to_integer<std::uint8_t>(&loops, AllRoundings());
  put_float_to_integer<std::int16_t>(&loops, AllRoundings());
  put_float_to_integer<std::uint16_t>(&loops, AllRoundings());
  put_float_to_integer<std::int32_t>(&loops, AllRoundings());
  put_float_to_integer<std::uint32_t>(&loops, AllRoundings());
  put_narrow<Float16>(&loops, Type::kHalf, AllRoundings());
  put_narrow<BFloat16>(&loops, Type::kBFloat16, AllRoundings());
  constexpr int kNearestEven = static_cast<int>(Rounding::kNearestEven);
  row(&loops, Type::kHalf, Type::kFloat)[kNearestEven] = narrow_to_nearest_half;
  put_widen(&loops, Type::kHalf, widen_half);
  put_widen(&loops, Type::kBFloat16, widen_bfloat16);
  put_to_real<Float32, std::int8_t>(&loops, Type::kFloat);
  put_to_real<Float32, std::int16_t>(&loops, Type::kFloat);
  put_to_real<Float32, std::int32_t>(&loops, Type::kFloat, AllRoundings());
  put_to_real<Float16, std::int32_t>(&loops, Type::kHalf, AllRoundings());
  put_to_real<BFloat16, std::int32_t>(&loops, Type::kBFloat16, AllRoundings());
  put_to_real<BFloat16, std::int16_t>(&loops, Type::kBFloat16, AllRoundings());
  put_to_real<BFloat16, std::int8_t>(&loops, Type::kBFloat16, AllRoundings());
  put_to_real<BFloat16, std::uint8_t>(&loops, Type::kBFloat16);
  put_to_real<Float32, std::uint8_t>(&loops, Type::kFloat);
  put_to_real<Float32, std::uint16_t>(&loops, Type::kFloat);
  put_to_real<Float32, std::uint32_t>(&loops, Type::kFloat);
  put_to_real<Float16, std::int8_t>(&loops, Type::kHalf);
  put_to_real<Float16, std::uint8_t>(&loops, Type::kHalf);
  put_to_real<Float16, std::int16_t>(&loops, Type::kHalf, AllRoundings());
  put_between_integers<std::int32_t, std::int8_t>(&loops);
  put_between_integers<std::int16_t, std::int8_t>(&loops);
  put_between_integers<std::int32_t, std::int16_t>(&loops);
  put_between_integers<std::int8_t, std::int16_t>(&loops);
  put_between_integers<std::int8_t, std::int32_t>(&loops);
  put_between_integers<std::int16_t, std::int32_t>(&loops);
  put_between_integers<std::int32_t, std::uint8_t>(&loops);
  put_between_integers<std::uint8_t, std::int32_t>(&loops);
  return loops;
}

}  // namespace

extern const ConvertLoops convert_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(ConvertLoops, convert_loops);
