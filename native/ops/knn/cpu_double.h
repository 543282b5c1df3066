// Knn in double: each place goes through the points in order.
#ifndef MLUOPS_OPS_KNN_CPU_DOUBLE_H_
#define MLUOPS_OPS_KNN_CPU_DOUBLE_H_

#include "cpu/points.h"
#include "ops/knn/knn.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

struct DoubleNeighbour {
  double d2;
  std::int32_t index;
};

struct DoubleKnn {
  const KnnProblem &problem;
  DoubleNeighbour *const lists;  // one for each slot

  // Places are counted through all batches.
  void operator()(int slot, std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      if (poll.interrupted(problem.points + problem.nearest)) return;
      find(number, lists + slot * problem.nearest);
    }
  }

 private:
  void find(std::int64_t number, DoubleNeighbour *list) const {
    const double *place = static_cast<const double *>(problem.new_xyz) + number * kCoordinates;
    const double *points = static_cast<const double *>(problem.xyz);
    points += number / problem.places * problem.points * kCoordinates;
    for (std::int64_t i = 0; i < problem.nearest; ++i) list[i] = {__builtin_inf(), 0};
    for_slices(0, problem.points, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        const double *point = points + k * kCoordinates;
        const double dx = point[0] - place[0], dy = point[1] - place[1], dz = point[2] - place[2];
        insert({(dx * dx + dy * dy) + dz * dz, static_cast<std::int32_t>(k)}, list);
      }
    });
    for (std::int64_t i = 0; i < problem.nearest; ++i) {
      static_cast<double *>(problem.dist2)[number * problem.nearest + i] = list[i].d2;
      problem.indices[number * problem.nearest + i] = list[i].index;
    }
  }

  // Keeps the earlier index unless the distance is smaller, which a NaN never is.
  void insert(const DoubleNeighbour &found, DoubleNeighbour *list) const {
    std::int64_t place = problem.nearest - 1;
    if (!(found.d2 < list[place].d2)) return;
    for (; place > 0 && found.d2 < list[place - 1].d2; --place) list[place] = list[place - 1];
    list[place] = found;
  }
};

mluOpStatus_t knn_in_double(const KnnProblem &problem) {
  constexpr std::int64_t kDistances = 1 << 16, kLeast = 8;
  const Scratch<DoubleNeighbour> lists(thread_count() * problem.nearest);
  if (lists.data() == nullptr) return out_of_memory(problem.function);
  const DoubleKnn body{problem, lists.data()};
  parallel_ranges(problem.batches * problem.places, larger(kLeast, kDistances / (problem.points + 1)), body);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_KNN_CPU_DOUBLE_H_
