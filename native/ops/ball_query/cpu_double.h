// BallQuery in double: each centre goes through the points in order until it has all its samples.
#ifndef MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_
#define MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_

#include "ops/ball_query/cpu_balls.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

struct DoubleBallQuery {
  const Balls<double> &balls;

  // Centres are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t number = begin; number < end && !interrupted(); ++number) find(number);
  }

  void find(std::int64_t number) const {
    const std::int64_t batch = balls.centres.batch_of(number);
    const double *centre = static_cast<const double *>(balls.problem.new_xyz) + number * kCoordinates;
    const double *points = static_cast<const double *>(balls.problem.xyz) + balls.points.begin(batch) * kCoordinates;
    std::int32_t *const slots = balls.problem.indices + number * balls.samples;
    std::int64_t found = 0;
    for_slices(0, balls.points.count(batch), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last && found < balls.samples; ++k) {
        const double *point = points + k * kCoordinates;
        const double dx = point[0] - centre[0], dy = point[1] - centre[1], dz = point[2] - centre[2];
        const double d2 = (dx * dx + dy * dy) + dz * dz;
        if (d2 == balls.always || (d2 >= balls.from && d2 < balls.to)) slots[found++] = static_cast<std::int32_t>(k);
      }
    });
    balls.fill(number, found);
  }
};

void run_in_double(const BallQueryProblem &problem) {
  constexpr std::int64_t kLeast = 8, kDistances = 1 << 16;
  const Balls<double> balls(problem);
  DoubleBallQuery body{balls};
  const std::int64_t points = balls.points.all() / problem.batches + 1;
  parallel_for(balls.centres.all(), larger(kLeast, kDistances / points), body);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BALL_QUERY_CPU_DOUBLE_H_
