#include "intrinsics/error_function.h"

#include <cmath>

namespace mlusim {
namespace {

constexpr double kTwoOverRootPi = 1.1283791670955126;  // the slope of erf at 0

// Halley's method; `miss(x)` is the excess of erf(x).
template <typename Miss>
double refine(double x, const Miss &miss) {
  for (int step = 0; step < 6; ++step) {
    const double newton = miss(x) / (kTwoOverRootPi * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return x;
}

// Inverts y <= 1/2 in the far tail, from the rational approximation 26.2.23 of Abramowitz and
// Stegun.
double upper_tail(double y) {
  const double t = std::sqrt(-2 * std::log(y / 2));
  const double quantile =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return refine(quantile / std::sqrt(2.0), [y](double x) { return y - std::erfc(x); });
}

}  // namespace

double erfinv(double x) {
  if (std::fabs(x) > 0.5) return std::copysign(erfcinv(1 - std::fabs(x)), x);
  if (x == 0) return x;
  return refine(x / kTwoOverRootPi, [x](double at) { return std::erf(at) - x; });
}

double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return std::nan("");
  if (x == 0) return HUGE_VAL;
  if (x == 2) return -HUGE_VAL;
  if (x < 0.5) return upper_tail(x);
  return x <= 1.5 ? erfinv(1 - x) : -upper_tail(2 - x);
}

}  // namespace mlusim
