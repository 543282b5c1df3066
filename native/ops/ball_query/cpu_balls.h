// The balls of a call: which distances count, and how results are written.
#ifndef MLUOPS_OPS_BALL_QUERY_CPU_BALLS_H_
#define MLUOPS_OPS_BALL_QUERY_CPU_BALLS_H_

#include "cpu/stacked.h"
#include "cpu/tree_search.h"
#include "ops/ball_query/ball_query.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

template <typename Real>
struct Balls {
  explicit Balls(const BallQueryProblem &p)
      : problem(p),
        centres{p.batches, p.centres, p.centre_rows},
        points{p.batches, p.points, p.point_rows},
        samples(p.samples),
        stacked(p.centre_rows != nullptr),
        from(square(p.min_radius)),
        to(square(p.max_radius)),
        always(stacked ? -1 : 0) {}

  // Radii of the function of the ABI are floats, and so are their squares.
  static Real square(double radius) { return static_cast<Real>(radius) * static_cast<Real>(radius); }

  // Whether a tree may be worth its building. More samples than a part of the points are found
  // sooner by looking at all of them.
  bool may_need_tree(std::int64_t batch) const {
    constexpr std::int64_t kPart = 8;
    const std::int64_t count = points.count(batch);
    return samples <= count / kPart && tree_pays(centres.count(batch), count);
  }

  // Writes the points that a centre has found, which stand in its slots.
  void fill(std::int64_t centre, std::int64_t found) const {
    std::int32_t *const slots = problem.indices + centre * samples;
    if (found == 0 && !stacked) return;
    if (found == 0) slots[0] = -1;
    const std::int32_t rest = found == 0 ? 0 : slots[0];
    for_slices(found == 0 ? 1 : found, samples, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) slots[i] = rest;
    });
  }

  const BallQueryProblem &problem;
  const BatchRows centres, points;
  const std::int64_t samples;
  const bool stacked;
  const Real from, to;  // squares of the radii
  const Real always;    // this squared distance counts whatever the radii are
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BALL_QUERY_CPU_BALLS_H_
