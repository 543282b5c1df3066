// ThreeInterpolate on the CPU. Forward gathers from one row of features at a time, which stays in the nearest cache. Backward
// first inverts the indices of each batch: for every source point the list of (target, weight) in ascending order of targets.
// Each gradient is then one sum in a fixed order, without scattered additions.
#include "cpu/half.h"
#include "cpu/kernel.h"
#include "ops/three_interpolate/three_interpolate.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTargetBlock = 512;

inline bool valid(std::int32_t index, std::int64_t sources) { return index >= 0 && index < sources; }

template <typename T>
struct Forward {
  const ThreeInterpolateForwardProblem &problem;
  std::int64_t target_blocks;

  // Tasks: batch, then block of targets.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % target_blocks * kTargetBlock;
      block(task / target_blocks, first, smaller(kTargetBlock, problem.geometry.targets - first));
    }
  }

  void block(std::int64_t batch, std::int64_t first, std::int64_t count) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    std::int32_t index[kNeighbours][kTargetBlock];
    float weight[kNeighbours][kTargetBlock];
    const bool all_valid = load(batch, first, count, index, weight);
    for (std::int64_t channel = 0; channel < g.channels; ++channel) {
      const T *source = static_cast<const T *>(problem.features) + (batch * g.channels + channel) * g.sources;
      T *target = static_cast<T *>(problem.output) + (batch * g.channels + channel) * g.targets + first;
      if (all_valid) {
        for (std::int64_t n = 0; n < count; ++n) {
          const float first_term = weight[0][n] * to_float(source[index[0][n]]);
          const float two_terms = first_term + weight[1][n] * to_float(source[index[1][n]]);
          store(target + n, two_terms + weight[2][n] * to_float(source[index[2][n]]));
        }
      } else {
        for (std::int64_t n = 0; n < count; ++n) store(target + n, masked_sum(source, index, weight, n));
      }
    }
  }

  // Splits indices and weights by neighbour; tells whether every index names a source.
  bool load(std::int64_t batch, std::int64_t first, std::int64_t count, std::int32_t (*index)[kTargetBlock],
            float (*weight)[kTargetBlock]) const {
    const std::int64_t offset = (batch * problem.geometry.targets + first) * kNeighbours;
    const std::int32_t *indices = problem.indices + offset;
    const T *weights = static_cast<const T *>(problem.weights) + offset;
    bool all_valid = true;
    for (std::int64_t n = 0; n < count; ++n) {
      for (int i = 0; i < kNeighbours; ++i) {
        index[i][n] = indices[n * kNeighbours + i];
        weight[i][n] = to_float(weights[n * kNeighbours + i]);
        all_valid &= valid(index[i][n], problem.geometry.sources);
      }
    }
    return all_valid;
  }

  // An index without source adds 0, whatever its weight.
  float masked_sum(const T *source, const std::int32_t (*index)[kTargetBlock], const float (*weight)[kTargetBlock],
                   std::int64_t n) const {
    float sum = 0.0f;
    for (int i = 0; i < kNeighbours; ++i) {
      if (valid(index[i][n], problem.geometry.sources)) sum += weight[i][n] * to_float(source[index[i][n]]);
    }
    return sum;
  }
};

// The indices of one batch, inverted: entries begin[m] .. begin[m + 1] are the uses of source m, in ascending order of targets
// and, within one, of neighbours.
struct Uses {
  std::int32_t *begin;
  std::int32_t *target;
  float *weight;
};

template <typename T>
struct Backward {
  const ThreeInterpolateBackwardProblem &problem;
  std::int32_t *begins;   // [batches, sources + 1]
  std::int32_t *targets;  // [batches, targets * kNeighbours]
  float *weights;         // likewise

  Uses uses(std::int64_t batch) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    const std::int64_t entries = g.targets * kNeighbours;
    return Uses{begins + batch * (g.sources + 1), targets + batch * entries, weights + batch * entries};
  }

  void invert(std::int64_t batch) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    const std::int64_t entries = g.targets * kNeighbours;
    const std::int32_t *index = problem.indices + batch * entries;
    const T *weight = static_cast<const T *>(problem.weights) + batch * entries;
    const Uses list = uses(batch);
    for (std::int64_t m = 0; m <= g.sources; ++m) list.begin[m] = 0;
    for (std::int64_t e = 0; e < entries; ++e) {
      if (valid(index[e], g.sources)) ++list.begin[index[e]];
    }
    std::int32_t used = 0;
    for (std::int64_t m = 0; m <= g.sources; ++m) {
      const std::int32_t uses_of_source = list.begin[m];
      list.begin[m] = used;
      used += uses_of_source;
    }
    for (std::int64_t e = 0; e < entries; ++e) {
      if (!valid(index[e], g.sources)) continue;
      const std::int32_t place = list.begin[index[e]]++;
      list.target[place] = static_cast<std::int32_t>(e / kNeighbours);
      list.weight[place] = to_float(weight[e]);
    }
    // Filling moved every start to the next one's place.
    for (std::int64_t m = g.sources; m > 0; --m) list.begin[m] = list.begin[m - 1];
    list.begin[0] = 0;
  }

  void sum(std::int64_t batch, std::int64_t channel) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    const Uses list = uses(batch);
    const T *gradient = static_cast<const T *>(problem.grad_output) + (batch * g.channels + channel) * g.targets;
    T *result = static_cast<T *>(problem.grad_features) + (batch * g.channels + channel) * g.sources;
    for (std::int64_t m = 0; m < g.sources; ++m) {
      float total = 0.0f;
      for (std::int32_t e = list.begin[m]; e < list.begin[m + 1]; ++e) {
        total += list.weight[e] * to_float(gradient[list.target[e]]);
      }
      store(result + m, total);
    }
  }
};

template <typename T>
mluOpStatus_t run_forward(const ThreeInterpolateForwardProblem &problem) {
  const ThreeInterpolateGeometry &g = problem.geometry;
  Forward<T> forward{problem, (g.targets + kTargetBlock - 1) / kTargetBlock};
  const std::int64_t grain = 4096 / (g.channels * smaller(kTargetBlock, g.targets)) + 1;
  parallel_for(g.batches * forward.target_blocks, grain, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_backward(const ThreeInterpolateBackwardProblem &problem) {
  const ThreeInterpolateGeometry &g = problem.geometry;
  const std::int64_t entries = g.batches * g.targets * kNeighbours;
  const Scratch<std::int32_t> begins(g.batches * (g.sources + 1));
  const Scratch<std::int32_t> targets(entries);
  const Scratch<float> weights(entries);
  if (begins.data() == nullptr || targets.data() == nullptr || weights.data() == nullptr) {
    return fail(MLUOP_STATUS_ALLOC_FAILED, "mluOpThreeInterpolateBackward", "out of memory");
  }
  const Backward<T> backward{problem, begins.data(), targets.data(), weights.data()};
  auto invert = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t batch = begin; batch < end; ++batch) backward.invert(batch);
  };
  parallel_for(g.batches, 8192 / (g.targets + g.sources) + 1, invert);
  auto sum = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) backward.sum(row / g.channels, row % g.channels);
  };
  parallel_for(g.batches * g.channels, 8192 / (g.targets + g.sources) + 1, sum);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t three_interpolate_forward(const ThreeInterpolateForwardProblem &problem) {
  return problem.geometry.half ? run_forward<Half>(problem) : run_forward<float>(problem);
}

mluOpStatus_t three_interpolate_backward(const ThreeInterpolateBackwardProblem &problem) {
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_forward, three_interpolate_forward, ThreeInterpolateForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_backward, three_interpolate_backward, ThreeInterpolateBackwardProblem);
