// VoxelPooling on the CPU. A task owns a band of rows of a map and goes through the points of its
// batch in their order, so that sums have one order, whatever the number of threads.
#include "cpu/kernel.h"
#include "ops/voxel_pooling/voxel_pooling.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kAxes = 3;
constexpr std::int64_t kTile = 1 << 13;  // channels between two polls
constexpr std::int64_t kValuesPerPiece = 16384;

template <typename Real>
class Forward {
 public:
  explicit Forward(const VoxelPoolingForwardProblem &problem) : p_(problem), g_(problem.geometry) {
    const std::int64_t worth = (g_.points + g_.height * g_.width) * g_.channels / kValuesPerPiece + 1;
    const std::int64_t threads = thread_count(), each = threads > 1 ? 4 : 1;
    bands_ = smaller(smaller((threads * each + g_.batches - 1) / g_.batches, g_.height), worth);
    rows_ = (g_.height + bands_ - 1) / bands_;
  }

  void run() {
    auto places = [&](std::int64_t begin, std::int64_t end) { note(begin, end); };
    parallel_for(g_.batches * g_.points, kValuesPerPiece / kAxes, places);
    if (interrupted()) return;
    auto bands = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        if (!add_band(task / bands_, task % bands_)) return;
      }
    };
    parallel_for(g_.batches * bands_, 1, bands);
  }

 private:
  // Points are counted through all batches.
  void note(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end && !poll.interrupted(kAxes); ++i) {
      const std::int64_t x = read_once(p_.geom + kAxes * i), y = read_once(p_.geom + kAxes * i + 1);
      const std::int64_t z = read_once(p_.geom + kAxes * i + 2);
      const bool inside = x >= 0 && x < g_.width && y >= 0 && y < g_.height && z >= 0 && z < p_.depth;
      std::int32_t *const memo = p_.memo + kAxes * i;
      memo[0] = inside ? static_cast<std::int32_t>(i / g_.points) : -1;
      memo[1] = inside ? static_cast<std::int32_t>(y) : -1;
      memo[2] = inside ? static_cast<std::int32_t>(x) : -1;
    }
  }

  // False if the call was interrupted.
  bool add_band(std::int64_t batch, std::int64_t band) const {
    const std::int64_t top = smaller(band * rows_, g_.height), bottom = smaller(top + rows_, g_.height);
    Real *const map = static_cast<Real *>(p_.output) + batch * g_.height * g_.width * g_.channels;
    for_slices(top * g_.width * g_.channels, bottom * g_.width * g_.channels,
               [&](std::int64_t first, std::int64_t last) {
                 std::memset(map + first, 0, static_cast<std::size_t>(last - first) * sizeof(Real));
               });
    InterruptPoll poll;
    for (std::int64_t i = batch * g_.points; i < (batch + 1) * g_.points; ++i) {
      if (poll.interrupted(kAxes)) return false;
      const std::int64_t y = p_.memo[kAxes * i + 1], x = p_.memo[kAxes * i + 2];
      if (y < top || y >= bottom) continue;
      Real *const to = map + (y * g_.width + x) * g_.channels;
      const Real *const from = static_cast<const Real *>(p_.input) + i * g_.channels;
      for (std::int64_t c = 0; c < g_.channels; c += kTile) {
        const std::int64_t count = smaller(kTile, g_.channels - c);
        if (poll.interrupted(count)) return false;
        add(to + c, from + c, count);
      }
    }
    return !interrupted();
  }

  static void add(Real *__restrict to, const Real *__restrict from, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
  }

  const VoxelPoolingForwardProblem &p_;
  const VoxelPoolingGeometry &g_;
  std::int64_t bands_, rows_;
};

void gather(const VoxelPoolingBackwardProblem &problem) {
  const VoxelPoolingGeometry &g = problem.geometry;
  const std::int64_t row = g.channels * problem.item_size;
  auto body = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t batch = read_once(problem.memo + kAxes * i), y = read_once(problem.memo + kAxes * i + 1);
      const std::int64_t x = read_once(problem.memo + kAxes * i + 2);
      const bool inside = batch >= 0 && batch < g.batches && y >= 0 && y < g.height && x >= 0 && x < g.width;
      char *const to = static_cast<char *>(problem.grad_input) + i * row;
      const char *const from =
          static_cast<const char *>(problem.grad_output) + (inside ? ((batch * g.height + y) * g.width + x) * row : 0);
      for (std::int64_t k = 0; k < row; k += kTile) {
        const std::size_t bytes = static_cast<std::size_t>(smaller(kTile, row - k));
        if (poll.interrupted(static_cast<std::int64_t>(bytes) / 4 + 1)) return;
        if (inside) {
          std::memcpy(to + k, from + k, bytes);
        } else {
          std::memset(to + k, 0, bytes);
        }
      }
    }
  };
  parallel_for(g.batches * g.points, kValuesPerPiece / g.channels + 1, body);
}

}  // namespace

mluOpStatus_t voxel_pooling_forward(const VoxelPoolingForwardProblem &problem) {
  if (problem.is_double) {
    Forward<double>(problem).run();
  } else {
    Forward<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t voxel_pooling_backward(const VoxelPoolingBackwardProblem &problem) {
  gather(problem);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_voxel_pooling_forward, voxel_pooling_forward, VoxelPoolingForwardProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_voxel_pooling_backward, voxel_pooling_backward, VoxelPoolingBackwardProblem,
                          problem.function);
