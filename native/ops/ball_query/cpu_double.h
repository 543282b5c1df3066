// BallQuery in double: each centre goes through the points in order until it has all its samples.
#ifndef MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_
#define MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_

#include "cpu/points.h"
#include "ops/ball_query/ball_query.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

struct DoubleBallQuery {
  const BallQueryProblem &problem;

  // Centres are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t number = begin; number < end && !interrupted(); ++number) find(number);
  }

  void find(std::int64_t number) const {
    const double *centre = static_cast<const double *>(problem.new_xyz) + number * kCoordinates;
    const double *points = static_cast<const double *>(problem.xyz);
    points += number / problem.centres * problem.points * kCoordinates;
    std::int32_t *const slots = problem.indices + number * problem.samples;
    const double from = problem.min_radius * problem.min_radius, to = problem.max_radius * problem.max_radius;
    std::int64_t found = 0;
    for_slices(0, problem.points, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last && found < problem.samples; ++k) {
        const double *point = points + k * kCoordinates;
        const double dx = point[0] - centre[0], dy = point[1] - centre[1], dz = point[2] - centre[2];
        const double d2 = (dx * dx + dy * dy) + dz * dz;
        if (d2 == 0 || (d2 >= from && d2 < to)) slots[found++] = static_cast<std::int32_t>(k);
      }
    });
    if (found == 0) return;
    for_slices(found, problem.samples, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) slots[i] = slots[0];
    });
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_
