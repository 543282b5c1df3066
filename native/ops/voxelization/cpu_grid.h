// The cell of a point on the grid.
#ifndef MLUOPS_OPS_VOXELIZATION_CPU_GRID_H_
#define MLUOPS_OPS_VOXELIZATION_CPU_GRID_H_

#include "cpu/half.h"
#include "cpu/kernel.h"
#include "ops/voxelization/voxelization.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kAxes = 3;

inline float real(Half value) { return to_float(value); }
inline float real(float value) { return value; }
inline double real(double value) { return value; }

// A cell, z first; a point outside of the grid has -1 three times.
struct Cell {
  std::int32_t z, y, x;
};

// T is the type of the arrays, Real the one that is computed in.
template <typename T, typename Real>
class Cells {
 public:
  explicit Cells(const VoxelGrid &grid) {
    const T *const size = static_cast<const T *>(grid.size), *const range = static_cast<const T *>(grid.range);
    for (int axis = 0; axis < kAxes; ++axis) {
      size_[axis] = real(size[axis]);
      low_[axis] = real(range[axis]);
      const Real extent = real(range[kAxes + axis]) - low_[axis];
      // A NaN compares false, and so does a size that is not positive.
      const bool some = size_[axis] > 0 && extent > 0 && extent - extent == 0 && low_[axis] - low_[axis] == 0;
      const Real cells = some ? round_half_away(extent / size_[axis]) : 0;
      cells_[axis] = cells < kMostCells ? cells : kMostCells;
    }
  }

  // Without branches, which would go either way from point to point.
  Cell of(const T *row) const {
    const Real x = place(row, 0), y = place(row, 1), z = place(row, 2);
    const bool inside = is_inside(x, 0) & is_inside(y, 1) & is_inside(z, 2);
    return Cell{number(inside, z), number(inside, y), number(inside, x)};
  }

 private:
  // Cells that an int32 can count, of which float has 2^31 as the next larger number.
  static constexpr Real kMostCells = 2147483648.0;

  Real place(const T *row, int axis) const { return floor_of((real(row[axis]) - low_[axis]) / size_[axis]); }
  bool is_inside(Real place, int axis) const { return (place >= 0) & (place < cells_[axis]); }
  static std::int32_t number(bool inside, Real place) { return static_cast<std::int32_t>(inside ? place : -1); }

  static Real floor_of(Real value) {
    if constexpr (sizeof(Real) == sizeof(float)) return __builtin_floorf(value);
    return __builtin_floor(value);
  }
  static Real round_half_away(Real value) {
    if constexpr (sizeof(Real) == sizeof(float)) return __builtin_roundf(value);
    return __builtin_round(value);
  }

  Real size_[kAxes], low_[kAxes], cells_[kAxes];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_VOXELIZATION_CPU_GRID_H_
