// Furthest point sampling on the CPU. Each pick depends on the one before, so that threads share
// batches. A pick updates only the parts of a tree that it is near to, the fewer the more picks
// there are.
#include "cpu/stacked.h"
#include "cpu/tiles.h"
#include "ops/furthest_point_sampling/cpu_double.h"
#include "ops/furthest_point_sampling/cpu_tree.h"

MLUOPS_BEGIN_LEVEL
namespace {

struct Batches {
  explicit Batches(const FurthestPointSamplingProblem &p)
      : problem(p), points{p.batches, p.points, p.point_rows}, samples{p.batches, p.samples, p.sample_rows} {}

  // What is added to the indices of a batch.
  std::int32_t base(std::int64_t batch) const {
    return points.first == nullptr ? 0 : static_cast<std::int32_t>(points.begin(batch));
  }
  void pick_nothing(std::int64_t batch) const {
    for_slices(samples.begin(batch), samples.end(batch), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) problem.indices[i] = -1;
    });
  }
  std::int64_t most_points() const {
    std::int64_t most = 0;
    for (std::int64_t batch = 0; batch < problem.batches; ++batch) most = larger(most, points.count(batch));
    return most;
  }

  const FurthestPointSamplingProblem &problem;
  const BatchRows points, samples;
};

template <typename T>
class Sampling {
 public:
  Sampling(const Batches &batches, std::int64_t most_points, char *memory)
      : batches_(batches), problem_(batches.problem), most_points_(most_points), memory_(memory) {}

  static std::int64_t bytes(std::int64_t most_points) { return FurthestTree::bytes(most_points); }

  void sample(int slot, std::int64_t batch) const {
    const std::int64_t first = batches_.points.begin(batch), count = batches_.points.count(batch);
    if (count == 0) return batches_.pick_nothing(batch);
    const T *rows = static_cast<const T *>(problem_.xyz) + first * kCoordinates;
    FurthestTree tree(memory_ + slot * bytes(most_points_), most_points_);
    tree.build(read_candidates(rows, count, tree.points()), static_cast<float>(problem_.most));
    if (interrupted()) return;  // the tree is not whole
    std::int32_t *const indices = problem_.indices + batches_.samples.begin(batch);
    const std::int64_t samples = batches_.samples.count(batch);
    InterruptPoll poll;
    std::int32_t pick = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      if (poll.interrupted(FurthestTree::kWidth)) return;
      if (i > 0) pick = next(rows, pick, tree, poll);
      indices[i] = batches_.base(batch) + pick;
    }
    write(tree, first, count);
  }

 private:
  std::int64_t read_candidates(const T *rows, std::int64_t count, TreePoint *points) const {
    std::int64_t kept = 0;
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Place place(rows + i * kCoordinates);
        points[kept] = {{place.x, place.y, place.z}, static_cast<std::int32_t>(i)};
        const float norm = (place.x * place.x + place.y * place.y) + place.z * place.z;
        kept += place.finite() && !(static_cast<double>(norm) <= problem_.min_squared_norm);
      }
    });
    return kept;
  }

  static std::int32_t next(const T *rows, std::int32_t pick, FurthestTree &tree, InterruptPoll &poll) {
    const Place place(rows + static_cast<std::int64_t>(pick) * kCoordinates);
    if (place.finite()) tree.add(place, poll);
    return larger<std::int32_t>(tree.furthest().index, 0);
  }

  void write(const FurthestTree &tree, std::int64_t first, std::int64_t count) const {
    T *const distances = static_cast<T *>(problem_.distances) + first;
    for (std::int64_t i = 0; i < count; ++i) store(distances + i, static_cast<float>(problem_.most));
    tree.each([&](std::int32_t index, float distance) { store(distances + index, distance); });
  }

  const Batches &batches_;
  const FurthestPointSamplingProblem &problem_;
  const std::int64_t most_points_;
  char *const memory_;  // of the trees of all slots
};

template <typename T>
mluOpStatus_t run(const Batches &batches) {
  const std::int64_t most_points = batches.most_points(), threads = thread_count();
  // With fewer batches than threads, all threads build each tree.
  const bool shared = batches.problem.batches >= threads;
  const std::int64_t slots = shared ? threads : 1;
  const Scratch<char> memory(slots * Sampling<T>::bytes(most_points));
  if (memory.data() == nullptr) return out_of_memory(batches.problem.function);
  const Sampling<T> sampling(batches, most_points, memory.data());
  auto body = [&](int slot, std::int64_t batch) { sampling.sample(slot, batch); };
  if (shared) {
    parallel_slots(batches.problem.batches, slots, body);
  } else {
    for (std::int64_t batch = 0; batch < batches.problem.batches && !interrupted(); ++batch) body(0, batch);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_in_double(const Batches &batches) {
  const FurthestPointSamplingProblem &p = batches.problem;
  auto body = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t batch = begin; batch < end; ++batch) {
      const std::int64_t first = batches.points.begin(batch), count = batches.points.count(batch);
      if (count == 0) {
        batches.pick_nothing(batch);
        continue;
      }
      DoubleCloud{static_cast<const double *>(p.xyz) + first * kCoordinates,
                  static_cast<double *>(p.distances) + first,
                  p.indices + batches.samples.begin(batch),
                  count,
                  batches.samples.count(batch),
                  batches.base(batch),
                  p.most,
                  p.min_squared_norm}
          .sample();
    }
  };
  parallel_for(p.batches, 1, body);
  return MLUOP_STATUS_SUCCESS;
}

// By a matrix: each pick reads one of its rows.
template <typename T, typename Real>
class MatrixSampling {
 public:
  MatrixSampling(const FurthestPointSamplingWithDistProblem &problem, Real *rooms) : problem_(problem), rooms_(rooms) {}

  void operator()(int slot, std::int64_t batch) const {
    const std::int64_t points = problem_.points;
    const T *matrix = static_cast<const T *>(problem_.matrix) + batch * points * points;
    Real *const distances = rooms_ + slot * points;
    std::int32_t *const indices = problem_.indices + batch * problem_.samples;
    for (std::int64_t k = 0; k < points; ++k) distances[k] = static_cast<Real>(problem_.most);
    std::int64_t pick = 0;
    for (std::int64_t i = 0; i < problem_.samples && !interrupted(); ++i) {
      if (i > 0) pick = next(matrix + pick * points, distances);
      indices[i] = static_cast<std::int32_t>(pick);
    }
    T *const result = static_cast<T *>(problem_.distances) + batch * points;
    for (std::int64_t k = 0; k < points; ++k) store(result + k, distances[k]);
  }

 private:
  // The first of the greatest distances, after these were made smaller. Blocks are compared by
  // their greatest ones, so that only one block is searched.
  std::int64_t next(const T *row, Real *distances) const {
    Real greatest = -1;
    std::int64_t furthest = problem_.points;
    for_slices(0, problem_.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; k += kBlock) {
        const Real most = lower(row + k, distances + k, smaller(kBlock, end - k));
        furthest = most > greatest ? k : furthest;
        greatest = most > greatest ? most : greatest;
      }
    });
    for (std::int64_t k = furthest; k < problem_.points; ++k) {
      if (distances[k] == greatest) return k;
    }
    return 0;  // all are below -1
  }

  // Makes distances as small as the row, and returns the greatest.
  static Real lower(const T *row, Real *distances, std::int64_t count) {
    typedef typename Arithmetic<T>::Vector Vector;
    constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
    Vector greatest = Arithmetic<T>::everywhere(-1);
    std::int64_t k = 0;
    for (; k + kWidth <= count; k += kWidth) {
      const Vector given = load_some(row + k, kWidth), before = load_some(distances + k, kWidth);
      const Vector least = given < before ? given : before;
      store_some(distances + k, least, kWidth);
      greatest = least > greatest ? least : greatest;
    }
    Real most = -1;
    for (int lane = 0; lane < kWidth; ++lane) most = greatest[lane] > most ? greatest[lane] : most;
    for (; k < count; ++k) {
      const Real given = to_sum(row[k]);
      distances[k] = given < distances[k] ? given : distances[k];
      most = distances[k] > most ? distances[k] : most;
    }
    return most;
  }

  static constexpr std::int64_t kBlock = 512;
  const FurthestPointSamplingWithDistProblem &problem_;
  Real *const rooms_;  // distances of each slot
};

template <typename T, typename Real>
mluOpStatus_t run_by_matrix(const FurthestPointSamplingWithDistProblem &problem) {
  const std::int64_t slots = smaller<std::int64_t>(thread_count(), problem.batches);
  const Scratch<Real> rooms(slots * problem.points);
  if (rooms.data() == nullptr) return out_of_memory(problem.function);
  const MatrixSampling<T, Real> body(problem, rooms.data());
  parallel_slots(problem.batches, slots, body);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t furthest_point_sampling(const FurthestPointSamplingProblem &problem) {
  const Batches batches(problem);
  if (problem.type == MLUOP_DTYPE_DOUBLE) return run_in_double(batches);
  return problem.type == MLUOP_DTYPE_HALF ? run<Half>(batches) : run<float>(batches);
}

mluOpStatus_t furthest_point_sampling_with_dist(const FurthestPointSamplingWithDistProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return run_by_matrix<double, double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? run_by_matrix<Half, float>(problem) : run_by_matrix<float, float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_furthest_point_sampling, furthest_point_sampling, FurthestPointSamplingProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_furthest_point_sampling_with_dist, furthest_point_sampling_with_dist,
                          FurthestPointSamplingWithDistProblem, problem.function);
