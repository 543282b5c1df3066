// Rounding of single values, given as doubles. For files that are compiled for any CPU: the
// rounding functions are the same on every instruction level.
#ifndef MLUSIM_INTRINSICS_ROUND_VALUE_H_
#define MLUSIM_INTRINSICS_ROUND_VALUE_H_

#define MLUOPS_LEVEL any_cpu
#include "intrinsics/loops/rounding.h"

namespace mlusim {
namespace any_cpu {

inline double value_of(half value) {
  vec::Half bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<double>(vec::to_float(bits));
}
inline double value_of(bfloat16_t value) { return static_cast<double>(static_cast<float>(value)); }
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
  } else if constexpr (std::is_same<To, bfloat16_t>::value) {
    bfloat16_t result;
    result.bits = round_bits<kRounding, Float64, BFloat16>(double_to_bits(value));
    return result;
  } else if constexpr (std::is_same<To, float>::value) {
    return vec::bits_to_float(round_bits<kRounding, Float64, Float32>(double_to_bits(value)));
  } else if constexpr (std::is_same<To, double>::value) {
    return round_to_integer<kRounding>(value);
  } else {
    return saturate<To>(round_to_integer<kRounding>(value), Limits<To>::kSmallest, Limits<To>::kLargest);
  }
}

// Rounds in the type; for double, to an integer. The last part of the function's name selects the
// rounding, see mlusim/convert.h.
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

}  // namespace any_cpu
}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_ROUND_VALUE_H_
