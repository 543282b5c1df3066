// Furthest point sampling in double: each pick is compared with all points.
#ifndef MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_DOUBLE_H_
#define MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_DOUBLE_H_

#include "cpu/points.h"
#include "ops/furthest_point_sampling/furthest_point_sampling.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The points of a batch.
struct DoubleCloud {
  const double *xyz;
  double *distances;
  std::int32_t *indices;
  std::int64_t points, samples;
  std::int32_t base;  // what is added to indices
  double most, min_squared_norm;

  void sample() const {
    for_slices(0, points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) distances[k] = most;
    });
    std::int64_t pick = 0;
    for (std::int64_t i = 0; i < samples && !interrupted(); ++i) {
      if (i > 0) pick = next(pick);
      indices[i] = base + static_cast<std::int32_t>(pick);
    }
  }

 private:
  std::int64_t next(std::int64_t pick) const {
    const double x = xyz[pick * kCoordinates], y = xyz[pick * kCoordinates + 1], z = xyz[pick * kCoordinates + 2];
    std::int64_t furthest = 0;
    double greatest = -1;
    for_slices(0, points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const double *point = xyz + k * kCoordinates;
        if (!is_candidate(point)) continue;
        const double dx = point[0] - x, dy = point[1] - y, dz = point[2] - z;
        const double d2 = (dx * dx + dy * dy) + dz * dz;
        if (d2 < distances[k]) distances[k] = d2;
        if (distances[k] > greatest) greatest = distances[k], furthest = k;
      }
    });
    return furthest;
  }

  bool is_candidate(const double *point) const {
    const double x = point[0], y = point[1], z = point[2];
    if (!(x - x == 0 && y - y == 0 && z - z == 0)) return false;
    return !((x * x + y * y) + z * z <= min_squared_norm);
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FURTHEST_POINT_SAMPLING_CPU_DOUBLE_H_
