// Rounding to fewer bits in every mode, on the bit patterns, so that every level gives the same
// result.
#ifndef MLUSIM_INTRINSICS_LOOPS_ROUNDING_H_
#define MLUSIM_INTRINSICS_LOOPS_ROUNDING_H_

#include "intrinsics/loops/level.h"

namespace mlusim {
namespace MLUOPS_LEVEL {

// A binary floating-point format of IEEE 754: bits of the fraction, bits of the exponent.
template <typename BitsOf, int kFractionBits, int kExponentBits>
struct Format {
  typedef BitsOf Bits;
  static constexpr int kFraction = kFractionBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr Bits kInfinity = static_cast<Bits>(((Bits{1} << kExponentBits) - 1) << kFraction);
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kFraction + kExponentBits));
};

typedef Format<std::uint64_t, 52, 11> Float64;
typedef Format<std::uint32_t, 23, 8> Float32;
typedef Format<std::uint16_t, 10, 5> Float16;
typedef Format<std::uint16_t, 7, 8> BFloat16;

// Whether the magnitude of a result is rounded up: `odd` is its last bit, `rest` the dropped bits,
// and `half_way` half of its last place.
template <Rounding kRounding, typename Word>
static inline Word goes_up(Word rest, Word half_way, Word odd, bool negative) {
  switch (kRounding) {
    case Rounding::kTowardZero:
      return 0;
    case Rounding::kAway:
      return rest != 0;
    case Rounding::kUp:
      return (rest != 0) & !negative;
    case Rounding::kDown:
      return (rest != 0) & negative;
    case Rounding::kNearestAway:
      return rest >= half_way;
    case Rounding::kNearestUp:
      return (rest > half_way) | ((rest == half_way) & !negative);
    default:
      return (rest > half_way) | ((rest == half_way) & (odd != 0));
  }
}

// The result for a finite number that is too large.
template <Rounding kRounding>
static inline bool overflows_to_infinity(bool negative) {
  switch (kRounding) {
    case Rounding::kTowardZero:
      return false;
    case Rounding::kUp:
      return !negative;
    case Rounding::kDown:
      return negative;
    default:
      return true;
  }
}

template <Rounding kRounding, typename From, typename To>
static inline typename To::Bits round_bits(typename From::Bits bits) {
  typedef typename From::Bits Word;
  constexpr int kDrop = From::kFraction - To::kFraction;
  const bool negative = (bits & From::kSign) != 0;
  const Word magnitude = bits & static_cast<Word>(From::kSign - 1);
  // The exponent in the target. For subnormal sources it is that of the smallest normal number.
  const Word biased = magnitude >> From::kFraction;
  const int exponent = static_cast<int>(biased != 0 ? biased : 1) - From::kBias + To::kBias;
  const Word fraction = magnitude & ((Word{1} << From::kFraction) - 1);
  const Word significand = fraction | (biased != 0 ? Word{1} << From::kFraction : Word{0});
  // Results below the smallest normal number lose more bits, up to all of them.
  const int missing = exponent < 1 ? 1 - exponent : 0;
  const int shift = kDrop + missing < From::kFraction + 2 ? kDrop + missing : From::kFraction + 2;
  const Word hidden = exponent < 1 ? Word{0} : static_cast<Word>(static_cast<Word>(exponent - 1) << To::kFraction);
  const Word kept = (significand >> shift) + hidden;
  const Word rest = significand & ((Word{1} << shift) - 1);
  Word rounded = kept + goes_up<kRounding, Word>(rest, Word{1} << (shift - 1), kept & 1, negative);
  if (rounded >= To::kInfinity)
    rounded = overflows_to_infinity<kRounding>(negative) ? Word{To::kInfinity} : Word{To::kInfinity} - 1;
  if (magnitude == From::kInfinity) rounded = To::kInfinity;
  if (magnitude > From::kInfinity) rounded = To::kInfinity | (Word{1} << (To::kFraction - 1)) | (fraction >> kDrop);
  return static_cast<typename To::Bits>(rounded | (negative ? Word{To::kSign} : Word{0}));
}

static inline std::uint64_t double_to_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Rounds a double to an integer, as a double.
template <Rounding kRounding>
static inline double round_to_integer(double value) {
  switch (kRounding) {
    case Rounding::kTowardZero:
      return __builtin_trunc(value);
    case Rounding::kAway:
      return value < 0 ? __builtin_floor(value) : __builtin_ceil(value);
    case Rounding::kUp:
      return __builtin_ceil(value);
    case Rounding::kDown:
      return __builtin_floor(value);
    // Sources have 24 bits, so adding a half is exact unless there is no fraction.
    case Rounding::kNearestAway:
      return __builtin_trunc(value + (value < 0 ? -0.5 : 0.5));
    case Rounding::kNearestUp:
      return __builtin_floor(value + 0.5);
    default:
      return __builtin_rint(value);
  }
}

template <typename To>
struct Limits {
  static constexpr bool kSigned = static_cast<To>(-1) < static_cast<To>(0);
  static constexpr int kBits = static_cast<int>(8 * sizeof(To)) - (kSigned ? 1 : 0);
  static constexpr double kLargest = static_cast<double>((std::int64_t{1} << kBits) - 1);
  static constexpr double kSmallest = kSigned ? -kLargest - 1 : 0.0;
};

// Converts a value that is an integer, infinite or NaN; NaN becomes 0.
template <typename To>
static inline To saturate(double value, double smallest, double largest) {
  const double above = value > smallest ? value : smallest;
  const double inside = above < largest ? above : largest;
  return static_cast<To>(static_cast<std::int64_t>(value == value ? inside : 0.0));
}

// Saturates at the range of double.
static inline double power_of_2(int exponent) { return __builtin_ldexp(1.0, exponent); }

}  // namespace MLUOPS_LEVEL
}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_LOOPS_ROUNDING_H_
