// Exponentials and logarithms of many floats at once, and the same of a double.
#ifndef MLUOPS_CPU_EXPONENTIAL_H_
#define MLUOPS_CPU_EXPONENTIAL_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The least argument of a logarithm is the smallest normal float, whose logarithm this is.
constexpr float kLeastLog = -87.33654475f;
constexpr double kLeastLogDouble = -87.33654475055310;

// exp(x) for x up to 88, 0 below kLeastLog; NaN for NaN. The error is below 2e-7 of the result.
static inline Vector exponential(Vector x) {
  const Vector inside = x < kLeastLog ? all_lanes(kLeastLog) : x;
  // Adding this and taking it away rounds to the next whole number.
  constexpr float kRound = 12582912.0f, kPerLog2 = 1.44269504f, kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  const Vector shifted = inside * kPerLog2 + kRound;
  const Vector whole = shifted - kRound;
  const Vector rest = inside - whole * kLog2High - whole * kLog2Low;
  Vector sum = rest * (1.0f / 5040) + 1.0f / 720;
  sum = sum * rest + 1.0f / 120;
  sum = sum * rest + 1.0f / 24;
  sum = sum * rest + 1.0f / 6;
  sum = sum * rest + 0.5f;
  sum = sum * rest + 1.0f;
  sum = sum * rest + 1.0f;
  // The last bits of `shifted` are those of the whole number, which become an exponent.
  IntVector bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const IntVector exponent = (bits - 0x4b400000 + 127) << 23;
  Vector power;
  std::memcpy(&power, &exponent, sizeof power);
  const Vector found = sum * power;
  return x < kLeastLog ? Vector{} : found;
}

// log(1 + x) for x from 0 to 1: twice the inverse hyperbolic tangent of x / (2 + x), as a series.
static inline Vector log_of_one_more(Vector x) {
  const Vector part = x / (x + 2.0f), square = part * part;
  Vector sum = square * (1.0f / 15) + 1.0f / 13;
  sum = sum * square + 1.0f / 11;
  sum = sum * square + 1.0f / 9;
  sum = sum * square + 1.0f / 7;
  sum = sum * square + 1.0f / 5;
  sum = sum * square + 1.0f / 3;
  sum = sum * square + 1.0f;
  return 2.0f * part * sum;
}

// log(x) for finite x from 1 on; NaN for NaN.
static inline Vector log_from_one(Vector x) {
  IntVector bits;
  std::memcpy(&bits, &x, sizeof bits);
  const IntVector exponent = (bits >> 23) - 127, fraction = (bits & 0x7fffff) | 0x3f800000;
  Vector part;
  std::memcpy(&part, &fraction, sizeof part);
  constexpr float kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  const Vector powers = __builtin_convertvector(exponent, Vector);
  const Vector found = powers * kLog2High + (log_of_one_more(part - 1.0f) + powers * kLog2Low);
  return x == x ? found : x;
}

static inline double exponential(double x) { return __builtin_exp(x); }
static inline double log_of_one_more(double x) { return __builtin_log1p(x); }

// a where `choice`, else b.
static inline Vector choose(IntVector choice, Vector a, Vector b) { return choice ? a : b; }
static inline double choose(bool choice, double a, double b) { return choice ? a : b; }

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_EXPONENTIAL_H_
