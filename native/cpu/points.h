// Points with three coordinates, read a tile at a time.
#ifndef MLUOPS_CPU_POINTS_H_
#define MLUOPS_CPU_POINTS_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr std::int64_t kCoordinates = 3;
constexpr std::int64_t kTilePoints = 512;

// Some points as floats, one array for each coordinate. Up to the next whole vector, NaN stands
// behind the last one.
struct PointTile {
  alignas(kCacheLine) float x[kTilePoints];
  alignas(kCacheLine) float y[kTilePoints];
  alignas(kCacheLine) float z[kTilePoints];
  std::int64_t count;
  static_assert(kTilePoints % kLanes == 0, "a tile is whole vectors");

  // `number` is at most kTilePoints.
  template <typename T>
  void read(const T *points, std::int64_t number) {
    float rows[kTilePoints * kCoordinates];
    load_row(points, rows, number * kCoordinates);
    for (std::int64_t i = 0; i < number; ++i) {
      x[i] = rows[i * kCoordinates];
      y[i] = rows[i * kCoordinates + 1];
      z[i] = rows[i * kCoordinates + 2];
    }
    for (std::int64_t i = number; i % kLanes != 0; ++i) x[i] = y[i] = z[i] = __builtin_nanf("");
    count = number;
  }
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_POINTS_H_
