// The gradient of the features. That of a maximum goes through the points of each voxel in their
// order, for which they are listed by voxels first.
#ifndef MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_BACKWARD_H_
#define MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_BACKWARD_H_

#include "cpu/kernel.h"
#include "ops/dynamic_point_to_voxel/dynamic_point_to_voxel.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr std::int64_t kTile = 256;  // channels that are looked at together
constexpr std::int64_t kValuesPerPiece = 16384;

inline char *aligned(void *workspace) {
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(workspace);
  return static_cast<char *>(workspace) + (kCacheLine - start % kCacheLine) % kCacheLine;
}

template <typename Real>
class ScatterBackward {
 public:
  explicit ScatterBackward(const ScatterBackwardProblem &problem) : p_(problem) {
    const std::int64_t known = problem.voxel_num == nullptr ? problem.rows : read_once(problem.voxel_num);
    voxels_ = smaller(larger<std::int64_t>(known, 0), problem.rows);
  }

  void run() {
    if (p_.reduce == MLUOP_REDUCE_DMAX && voxels_ > 0) {
      give_to_maxima();
    } else {
      share();
    }
  }

 private:
  // The voxel of a point; `voxels_` if it is none.
  std::int64_t voxel_of(std::int64_t point) const {
    const std::int32_t voxel = read_once(p_.map + point);
    return voxel >= 0 && voxel < voxels_ ? voxel : voxels_;
  }

  const Real *row(const void *array, std::int64_t number) const {
    return static_cast<const Real *>(array) + number * p_.channels;
  }

  Real *result(std::int64_t point) const { return static_cast<Real *>(p_.grad_feats) + point * p_.channels; }

  void share() const {
    auto body = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t voxel = voxel_of(i);
        const bool mean = p_.reduce == MLUOP_REDUCE_DMEAN;
        const Real divisor = voxel < voxels_ && mean ? static_cast<Real>(p_.counts[voxel]) : 1;
        for (std::int64_t c = 0; c < p_.channels; c += kTile) {
          const std::int64_t count = smaller(kTile, p_.channels - c);
          if (poll.interrupted(count)) return;
          if (voxel < voxels_) {
            divide(result(i) + c, row(p_.grad_voxel_feats, voxel) + c, divisor, count);
          } else {
            std::memset(result(i) + c, 0, static_cast<std::size_t>(count) * sizeof(Real));
          }
        }
      }
    };
    parallel_for(p_.points, kValuesPerPiece / p_.channels + 1, body);
  }

  static void divide(Real *__restrict to, const Real *__restrict from, Real divisor, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = from[k] / divisor;
  }

  void give_to_maxima() {
    Arena arena(aligned(p_.workspace));
    std::int32_t *const starts = arena.allocate<std::int32_t>(p_.rows + 3);
    std::int32_t *const points = arena.allocate<std::int32_t>(p_.points);
    if (!list_points(starts, points)) return;
    auto body = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t v = begin; v < end; ++v) {
        if (!give(v, points + starts[v], starts[v + 1] - starts[v], poll)) return;
      }
    };
    const std::int64_t each = p_.points * p_.channels / (voxels_ + 1) + 1;
    parallel_for(voxels_ + 1, kValuesPerPiece / each + 1, body);
  }

  // Lists the points of each voxel, and of none, in their order; those of v begin at starts[v].
  // A point is looked at once, as its voxel may change during the call. False if the call was
  // interrupted.
  bool list_points(std::int32_t *starts, std::int32_t *points) const {
    std::int32_t *const voxel = static_cast<std::int32_t *>(p_.grad_feats);  // room for one of each point
    std::memset(starts, 0, static_cast<std::size_t>(voxels_ + 3) * sizeof *starts);
    for_slices(0, p_.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        voxel[i] = static_cast<std::int32_t>(voxel_of(i));
        ++starts[voxel[i] + 2];
      }
    });
    if (interrupted()) return false;
    for (std::int64_t v = 0; v < voxels_ + 2; ++v) starts[v + 1] += starts[v];
    for_slices(0, p_.points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) points[starts[voxel[i] + 1]++] = static_cast<std::int32_t>(i);
    });
    return !interrupted();
  }

  bool give(std::int64_t voxel, const std::int32_t *points, std::int64_t number, InterruptPoll &poll) const {
    for (std::int64_t c = 0; c < p_.channels; c += kTile) {
      const std::int64_t count = smaller(kTile, p_.channels - c);
      if (poll.interrupted(count)) return false;
      std::int32_t open[kTile];  // 1 until a point has the maximum
      for (std::int64_t k = 0; k < count; ++k) open[k] = voxel < voxels_;
      for (std::int64_t i = 0; i < number; ++i) {
        if (poll.interrupted(count)) return false;
        const std::int64_t point = points[i];
        if (voxel == voxels_) {
          std::memset(result(point) + c, 0, static_cast<std::size_t>(count) * sizeof(Real));
          continue;
        }
        const Real *const value = row(p_.feats, point) + c, *const most = row(p_.voxel_feats, voxel) + c;
        take(result(point) + c, row(p_.grad_voxel_feats, voxel) + c, value, most, open, count);
      }
    }
    return true;
  }

  static void take(Real *__restrict to, const Real *__restrict gradient, const Real *__restrict value,
                   const Real *__restrict most, std::int32_t *__restrict open, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const bool has = (open[k] != 0) & (value[k] == most[k]);
      to[k] = has ? gradient[k] : 0;
      open[k] = has ? 0 : open[k];
    }
  }

  const ScatterBackwardProblem &p_;
  std::int64_t voxels_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_BACKWARD_H_
