// Boxes that stand upright in space, and which of some points they hold.
#ifndef MLUOPS_CPU_UPRIGHT_BOXES_H_
#define MLUOPS_CPU_UPRIGHT_BOXES_H_

#include "cpu/half.h"
#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr int kBoxNumbers = 7;  // x, y, z, dx, dy, dz, heading

// Half is computed in float.
template <typename T>
struct RealOf {
  typedef float Type;
};
template <>
struct RealOf<double> {
  typedef double Type;
};

static inline double to_real(const double &value) { return value; }
static inline float to_real(const float &value) { return value; }
static inline float to_real(const Half &value) { return to_float(value); }

// Some points, one array for each coordinate; NaN stands behind the last one.
template <typename Real>
struct UprightTile {
  static constexpr std::int64_t kPoints = 256;
  alignas(kCacheLine) Real x[kPoints];
  alignas(kCacheLine) Real y[kPoints];
  alignas(kCacheLine) Real z[kPoints];

  template <typename T>
  void read(const T *points, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      x[i] = to_real(points[3 * i]);
      y[i] = to_real(points[3 * i + 1]);
      z[i] = to_real(points[3 * i + 2]);
    }
    for (std::int64_t i = count; i < kPoints; ++i) x[i] = y[i] = z[i] = static_cast<Real>(__builtin_nan(""));
  }
};

// A point is inside if its distance from the centre is less than half a side along the box's own x
// and y, and at most half its height along z. Sides are longer by `margin` on each end. A NaN in x
// or y is outside, one in z is not looked at. Sine and cosine are rounded from those in double.
template <typename Real>
class UprightBox {
 public:
  UprightBox() = default;

  template <typename T>
  UprightBox(const T *row, bool centred, Real margin)
      : x_(to_real(row[0])),
        y_(to_real(row[1])),
        bottom_(to_real(row[2])),
        dx_(to_real(row[3])),
        dy_(to_real(row[4])),
        dz_(to_real(row[5])),
        reach_x_(dx_ / 2 + margin),
        reach_y_(dy_ / 2 + margin),
        middle_(centred ? bottom_ : bottom_ + dz_ / 2) {
    const double angle = -static_cast<double>(to_real(row[6]));
    cosine_ = static_cast<Real>(__builtin_cos(angle));
    sine_ = static_cast<Real>(__builtin_sin(angle));
  }

  // Along the box's own axes, from its centre.
  Real along_x(Real x, Real y) const { return (x - x_) * cosine_ - (y - y_) * sine_; }
  Real along_y(Real x, Real y) const { return (x - x_) * sine_ + (y - y_) * cosine_; }

  Real bottom() const { return bottom_; }
  Real dx() const { return dx_; }
  Real dy() const { return dy_; }
  Real dz() const { return dz_; }

  // Sets inside[i] to 1 for points that are, else to 0. The loop has a fixed length, so that it
  // becomes vectors.
  void find(const UprightTile<Real> &tile, std::int32_t *__restrict inside) const {
    const Real half_z = dz_ / 2;
    for (std::int64_t i = 0; i < UprightTile<Real>::kPoints; ++i) {
      const Real apart_x = along_x(tile.x[i], tile.y[i]), apart_y = along_y(tile.x[i], tile.y[i]);
      const Real apart_z = tile.z[i] - middle_;
      const int beside = !(absolute(apart_x) < reach_x_) | !(absolute(apart_y) < reach_y_);
      inside[i] = 1 ^ (beside | (absolute(apart_z) > half_z));
    }
  }

 private:
  static Real absolute(Real value) {
    if constexpr (sizeof(Real) == sizeof(float)) return __builtin_fabsf(value);
    return __builtin_fabs(value);
  }

  Real x_, y_, bottom_, dx_, dy_, dz_;
  Real reach_x_, reach_y_, middle_;
  Real cosine_, sine_;
};

// Calls body(number of the point, x, y, z) for the points inside a box, in ascending order, until
// it returns false. Returns false if the call was interrupted.
template <typename T, typename Real, typename Body>
static inline bool each_inside(const UprightBox<Real> &box, const T *points, std::int64_t count, InterruptPoll &poll,
                               const Body &body) {
  constexpr std::int64_t kPoints = UprightTile<Real>::kPoints;
  UprightTile<Real> tile;
  std::int32_t inside[kPoints];
  for (std::int64_t first = 0; first < count; first += kPoints) {
    const std::int64_t some = smaller(kPoints, count - first);
    if (poll.interrupted(8 * kPoints)) return false;
    tile.read(points + 3 * first, some);
    box.find(tile, inside);
    for (std::int64_t i = 0; i < some; ++i) {
      if (inside[i] != 0 && !body(first + i, tile.x[i], tile.y[i], tile.z[i])) return true;
    }
  }
  return true;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_UPRIGHT_BOXES_H_
