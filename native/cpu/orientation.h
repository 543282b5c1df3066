// On which side of a line a point lies, exactly.
//
// Source: J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
// Predicates, 1997: expansions of doubles, and the error bound of the plain formula.
#ifndef MLUOPS_CPU_ORIENTATION_H_
#define MLUOPS_CPU_ORIENTATION_H_

#include "cpu/plane_points.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The plain formula (a.x - p.x) * (b.y - p.y) - (a.y - p.y) * (b.x - p.x), in float or in double,
// has the right sign if its magnitude is above kTurnError of that type times the sum of the
// magnitudes of both products, and kTurnUnderflow more.
template <typename Real>
constexpr Real kTurnError = static_cast<Real>(3.3306690738754716e-16);
template <>
constexpr float kTurnError<float> = 1.7881403e-7f;
template <typename Real>
constexpr Real kTurnUnderflow = static_cast<Real>(sizeof(Real) == sizeof(float) ? __FLT_MIN__ : __DBL_MIN__);

// A sum without rounding: doubles that do not overlap, the smallest first.
class ExactSum {
 public:
  void add(double value) {
    for (int i = 0; i < count_; ++i) {
      const double sum = part_[i] + value, added = sum - part_[i];
      part_[i] = (part_[i] - (sum - added)) + (value - added);
      value = sum;
    }
    part_[count_++] = value;
  }

  // Adds a * b, or subtracts it if `sign` is -1.
  void add_product(double a, double b, double sign) {
    const double product = a * b;
    add(sign * __builtin_fma(a, b, -product));
    add(sign * product);
  }

  int sign() const {
    int index = count_ - 1;
    while (index > 0 && part_[index] == 0) --index;
    return (part_[index] > 0 ? 1 : 0) - (part_[index] < 0 ? 1 : 0);
  }

 private:
  static constexpr int kMax = 12;  // six products
  double part_[kMax];
  int count_ = 0;
};

// The sign of the turn from p by a to b: 1 counter-clockwise, -1 clockwise, 0 on one line. Numbers
// are finite; it is exact unless they are of sizes whose products are no doubles even when all are
// scaled alike.
static inline int exact_turn(PlanePoint<double> p, PlanePoint<double> a, PlanePoint<double> b) {
  double largest = 0;
  const double given[] = {p.x, p.y, a.x, a.y, b.x, b.y};
  for (int i = 0; i < 6; ++i) largest = larger(largest, magnitude(given[i]));
  const double scale = largest > 1e150 ? 0x1p-600 : largest < 1e-100 ? 0x1p600 : 1;
  p = p * scale;
  a = a * scale;
  b = b * scale;
  ExactSum sum;  // p.x * p.y cancels
  sum.add_product(a.x, b.y, 1);
  sum.add_product(a.x, p.y, -1);
  sum.add_product(p.x, b.y, -1);
  sum.add_product(a.y, b.x, -1);
  sum.add_product(a.y, p.x, 1);
  sum.add_product(p.y, b.x, 1);
  return sum.sign();
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_ORIENTATION_H_
