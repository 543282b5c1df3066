// Conversions of single values.
#include "mlusim/convert.h"

// The functions that round are the same on every instruction level; this file is compiled for any CPU.
#define MLUOPS_LEVEL any_cpu
#include "intrinsics/loops/rounding.h"

namespace mlusim {
namespace any_cpu {
namespace {

double value_of(half value) {
  vec::Half bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<double>(vec::to_float(bits));
}
template <typename From>
double value_of(From value) {
  return static_cast<double>(value);
}

template <typename To, Rounding kRounding>
To convert_value(double value) {
  if constexpr (std::is_same<To, half>::value) {
    const std::uint16_t bits = round_bits<kRounding, Float64, Float16>(double_to_bits(value));
    half result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  } else if constexpr (std::is_same<To, float>::value) {
    return vec::bits_to_float(round_bits<kRounding, Float64, Float32>(double_to_bits(value)));
  } else {
    return saturate<To>(round_to_integer<kRounding>(value), Limits<To>::kSmallest, Limits<To>::kLargest);
  }
}

// By the end of the function's name, see mlusim/convert.h.
template <typename To>
To convert_value(Rounding rounding, double value) {
  switch (rounding) {
    case Rounding::kAway:
      return convert_value<To, Rounding::kAway>(value);
    case Rounding::kUp:
      return convert_value<To, Rounding::kUp>(value);
    case Rounding::kDown:
      return convert_value<To, Rounding::kDown>(value);
    case Rounding::kNearestAway:
      return convert_value<To, Rounding::kNearestAway>(value);
    case Rounding::kNearestEven:
      return convert_value<To, Rounding::kNearestEven>(value);
    case Rounding::kNearestUp:
      return convert_value<To, Rounding::kNearestUp>(value);
    default:
      return convert_value<To, Rounding::kTowardZero>(value);
  }
}

}  // namespace
}  // namespace any_cpu
}  // namespace mlusim

#define MLUSIM_DEFINE_CONVERT_VALUE(To, From, name)                                                      \
  To name(From a) {                                                                                      \
    return mlusim::any_cpu::convert_value<To>(mlusim::rounding_of(#name), mlusim::any_cpu::value_of(a)); \
  }
MLUSIM_ALL_VALUE_CONVERSIONS(MLUSIM_DEFINE_CONVERT_VALUE);
MLUSIM_DEFINE_CONVERT_VALUE(int, float, __float2int32)
MLUSIM_DEFINE_CONVERT_VALUE(int, float, __float2int32_up)
MLUSIM_DEFINE_CONVERT_VALUE(int, float, __float2int32_rd)
MLUSIM_DEFINE_CONVERT_VALUE(int, half, __half2int32)
MLUSIM_DEFINE_CONVERT_VALUE(int, half, __half2int32_up)
