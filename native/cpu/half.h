// IEEE binary16, stored as 16 bits: conversion to and from float, for single values.
#ifndef MLUOPS_CPU_HALF_H_
#define MLUOPS_CPU_HALF_H_

#include "cpu/kernel.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace mluops {
namespace MLUOPS_LEVEL {

struct Half {
  std::uint16_t bits;
};

static inline float bits_to_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static inline std::uint32_t float_to_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Exact. A signalling NaN becomes quiet, as in the hardware conversion.
static inline float to_float(Half half) {
#if defined(__F16C__)
  return _cvtsh_ss(half.bits);
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1fu;
  const std::uint32_t fraction = half.bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * bits_to_float(0x33800000u);
    return bits_to_float(sign | float_to_bits(magnitude));
  }
  if (exponent == 31) {  // infinity or NaN
    const std::uint32_t quiet = fraction != 0 ? 0x00400000u : 0u;
    return bits_to_float(sign | 0x7f800000u | quiet | (fraction << 13));
  }
  return bits_to_float(sign | ((exponent + 112) << 23) | (fraction << 13));
#endif
}

// Rounds to nearest, ties to even; overflow gives infinity.
static inline Half to_half(float value) {
#if defined(__F16C__)
  return Half{static_cast<std::uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT))};
#else
  const std::uint32_t bits = float_to_bits(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN
    return Half{static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  }
  if (magnitude >= 0x47800000u) return Half{static_cast<std::uint16_t>(sign | 0x7c00u)};  // at least 2^16
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded subnormal in the low bits
    const std::uint32_t rounded = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
    return Half{static_cast<std::uint16_t>(sign | rounded)};
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = (magnitude + 0xfffu + odd - (112u << 23)) >> 13;
  return Half{static_cast<std::uint16_t>(sign | rounded)};
#endif
}

static inline float to_float(float value) { return value; }

// Writes `value`, rounded to the target's type.
static inline void store(float *target, float value) { *target = value; }
static inline void store(Half *target, float value) { *target = to_half(value); }
static inline void store(double *target, double value) { *target = value; }

// A value in the type that sums of its type are computed in.
static inline float to_sum(Half value) { return to_float(value); }
static inline float to_sum(float value) { return value; }
static inline double to_sum(double value) { return value; }

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_HALF_H_
