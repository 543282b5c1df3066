// DynamicPointToVoxel on the CPU. The points are sorted by their places, so that those of a voxel
// lie side by side in their order; threads reduce the voxels.
#include "ops/dynamic_point_to_voxel/cpu/backward.h"
#include "ops/dynamic_point_to_voxel/cpu/order.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kAhead = 12;  // points whose features are prefetched

template <typename Real>
class Forward {
 public:
  explicit Forward(const ScatterForwardProblem &problem) : p_(problem) {}

  void run() {
    Arena arena(aligned(p_.workspace));
    std::int32_t *const places = arena.allocate<std::int32_t>(kAxes * p_.points);
    std::uint64_t *const first = arena.allocate<std::uint64_t>(p_.points);
    std::uint64_t *const second = arena.allocate<std::uint64_t>(p_.points);
    std::int32_t *const starts = arena.allocate<std::int32_t>(p_.points);  // before, counts of the sort
    const PlaceOrder order(p_.coors, p_.points, places, first, second, starts);
    if (interrupted()) return;
    const std::int64_t voxels = list(order, starts);
    if (interrupted()) return;
    *p_.needed = voxels;
    if (voxels > p_.rows) return;
    *p_.voxel_num = static_cast<std::int32_t>(voxels);
    if (p_.marked != nullptr) mark(places);
    reduce(order, starts, voxels);
    if (interrupted()) return;
    finish(places, voxels);
  }

 private:
  // Lists where the points of each voxel begin in the order. Returns the number of voxels.
  std::int64_t list(const PlaceOrder &order, std::int32_t *starts) const {
    std::int64_t voxels = 0;
    for_slices(0, order.count(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        starts[voxels] = static_cast<std::int32_t>(i);
        voxels += order.begins(i);
      }
    });
    return voxels;
  }

  void mark(const std::int32_t *places) const {
    for_slices(0, p_.points, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(p_.marked + kAxes * begin, places + kAxes * begin,
                  static_cast<std::size_t>(kAxes * (end - begin)) * sizeof *places);
    });
  }

  void reduce(const PlaceOrder &order, const std::int32_t *starts, std::int64_t voxels) const {
    auto body = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t v = begin; v < end; ++v) {
        const std::int64_t first = starts[v], last = v + 1 < voxels ? starts[v + 1] : order.count();
        for (std::int64_t i = first; i < last; ++i) p_.map[order.point(i)] = static_cast<std::int32_t>(v);
        p_.counts[v] = static_cast<std::int32_t>(last - first);
        std::memcpy(p_.voxel_coors + kAxes * v, order.place(first), kAxes * sizeof(std::int32_t));
        if (!reduce_voxel(order, first, last, static_cast<Real *>(p_.voxel_feats) + v * p_.channels, poll)) return;
      }
    };
    parallel_for(voxels, kValuesPerPiece / p_.channels + 1, body);
  }

  // False if the call was interrupted.
  bool reduce_voxel(const PlaceOrder &order, std::int64_t first, std::int64_t last, Real *to,
                    InterruptPoll &poll) const {
    for (std::int64_t c = 0; c < p_.channels; c += kTile) {
      const std::int64_t count = smaller(kTile, p_.channels - c);
      fill(to + c, count);
      for (std::int64_t i = first; i < last; ++i) {
        if (poll.interrupted(count)) return false;
        if (i + kAhead < order.count())
          __builtin_prefetch(static_cast<const Real *>(p_.feats) + order.point(i + kAhead) * p_.channels + c);
        add(to + c, static_cast<const Real *>(p_.feats) + order.point(i) * p_.channels + c, count);
      }
      if (p_.reduce == MLUOP_REDUCE_DMEAN) {
        for (std::int64_t k = c; k < c + count; ++k) to[k] /= static_cast<Real>(last - first);
      }
    }
    return true;
  }

  void fill(Real *to, std::int64_t count) const {
    const Real value = p_.reduce == MLUOP_REDUCE_DMAX ? static_cast<Real>(-__builtin_inf()) : 0;
    for (std::int64_t k = 0; k < count; ++k) to[k] = value;
  }

  void add(Real *__restrict to, const Real *__restrict from, std::int64_t count) const {
    if (p_.reduce == MLUOP_REDUCE_DMAX) {
      for (std::int64_t k = 0; k < count; ++k) to[k] = from[k] > to[k] ? from[k] : to[k];
    } else {
      for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
    }
  }

  // Writes what belongs to no voxel: rows behind them, and the map of points without one.
  void finish(const std::int32_t *places, std::int64_t voxels) const {
    Real *const rest = static_cast<Real *>(p_.voxel_feats) + voxels * p_.channels;
    auto behind = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end && !interrupted(); i += kValuesPerPiece)
        fill(rest + i, smaller(kValuesPerPiece, end - i));
    };
    parallel_for((p_.rows - voxels) * p_.channels, kValuesPerPiece, behind);
    for_slices(voxels, p_.rows, [&](std::int64_t begin, std::int64_t end) {
      std::memset(p_.counts + begin, 0, static_cast<std::size_t>(end - begin) * sizeof *p_.counts);
      std::memset(p_.voxel_coors + kAxes * begin, 0xff,
                  static_cast<std::size_t>(kAxes * (end - begin)) * sizeof *p_.voxel_coors);
    });
    for_slices(0, p_.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (places[kAxes * i] < 0) p_.map[i] = -1;
      }
    });
  }

  const ScatterForwardProblem &p_;
};

}  // namespace

mluOpStatus_t scatter_forward(const ScatterForwardProblem &problem) {
  if (problem.is_double) {
    Forward<double>(problem).run();
  } else {
    Forward<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t scatter_backward(const ScatterBackwardProblem &problem) {
  if (problem.is_double) {
    ScatterBackward<double>(problem).run();
  } else {
    ScatterBackward<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_scatter_forward, scatter_forward, ScatterForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_scatter_backward, scatter_backward, ScatterBackwardProblem, problem.function);
