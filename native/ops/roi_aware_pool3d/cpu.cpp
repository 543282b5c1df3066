// RoiAwarePool3d on the CPU. A task owns a box: it lists the points of each voxel, then pools them.
// Of the gradient a task owns some channels of all points, so that sums have one order.
#include "cpu/nontemporal.h"
#include "cpu/upright_boxes.h"
#include "ops/roi_aware_pool3d/roi_aware_pool3d.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTile = 256;  // channels that are pooled together

// The voxel of a place along an axis that begins at 0; a NaN has the first.
template <typename Real>
inline std::int64_t voxel_along(Real place, Real extent, std::int64_t voxels) {
  const Real at = place / (extent / static_cast<Real>(voxels));
  if (!(at > 0)) return 0;
  return at < static_cast<Real>(voxels) ? static_cast<std::int64_t>(at) : voxels - 1;
}

template <typename T>
class Forward {
 public:
  typedef typename RealOf<T>::Type Real;

  explicit Forward(const RoiAwareForwardProblem &problem)
      : p_(problem), g_(problem.geometry), voxels_(g_.x * g_.y * g_.z) {}

  void run() {
    auto body = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t box = begin; box < end; ++box) {
        if (!clear(box, poll) || !list_points(box, poll) || !pool_box(box, poll)) return;
      }
    };
    parallel_for(g_.boxes, 1, body);
  }

 private:
  // These return false if the call was interrupted.
  bool clear(std::int64_t box, InterruptPoll &poll) const {
    const std::int64_t listed = voxels_ * g_.slots, bytes = 4 * g_.boxes * listed;
    std::int32_t *const indices = p_.indices + box * listed;
    constexpr std::int64_t kRun = 1 << 14;
    for (std::int64_t i = 0; i < listed; i += kRun) {
      const std::size_t part = static_cast<std::size_t>(smaller(kRun, listed - i)) * sizeof *indices;
      if (poll.interrupted(kRun)) return false;
      if (bytes >= streaming_bytes()) {
        fill_nontemporal(indices + i, 0, part);
      } else {
        std::memset(indices + i, 0, part);
      }
    }
    nontemporal_fence();
    return true;
  }

  bool list_points(std::int64_t box, InterruptPoll &poll) const {
    const UprightBox<Real> region(static_cast<const T *>(p_.rois) + box * kBoxNumbers, false, 0);
    std::int32_t *const indices = p_.indices + box * voxels_ * g_.slots;
    const auto add = [&](std::int64_t point, Real x, Real y, Real z) {
      const Real along_x = region.along_x(x, y) + region.dx() / 2, along_y = region.along_y(x, y) + region.dy() / 2;
      const std::int64_t i = voxel_along(along_x, region.dx(), g_.x), j = voxel_along(along_y, region.dy(), g_.y);
      const std::int64_t k = voxel_along(z - region.bottom(), region.dz(), g_.z);
      std::int32_t *const listed = indices + ((i * g_.y + j) * g_.z + k) * g_.slots;
      if (*listed + 1 < g_.slots) {
        listed[*listed + 1] = static_cast<std::int32_t>(point);
        ++*listed;
      }
      return true;
    };
    return each_inside(region, static_cast<const T *>(p_.pts), g_.points, poll, add);
  }

  bool pool_box(std::int64_t box, InterruptPoll &poll) const {
    for (std::int64_t voxel = box * voxels_; voxel < (box + 1) * voxels_; ++voxel) {
      const std::int32_t *const listed = p_.indices + voxel * g_.slots;
      for (std::int64_t c = 0; c < g_.channels; c += kTile) {
        const std::int64_t count = smaller(kTile, g_.channels - c), place = voxel * g_.channels + c;
        if (poll.interrupted((*listed + 1) * count)) return false;
        T *const pooled = static_cast<T *>(p_.pooled) + place;
        if (*listed == 0) {
          std::memset(pooled, 0, static_cast<std::size_t>(count) * sizeof(T));
          std::memset(p_.argmax + place, g_.average ? 0 : 0xff, static_cast<std::size_t>(count) * sizeof *p_.argmax);
        } else if (g_.average) {
          average(listed, c, count, pooled, p_.argmax + place);
        } else {
          maximum(listed, c, count, pooled, p_.argmax + place);
        }
      }
    }
    return true;
  }

  const T *feature(std::int64_t point) const { return static_cast<const T *>(p_.features) + point * g_.channels; }

  static void put(float *to, float value) { *to = value; }
  static void put(double *to, double value) { *to = value; }
  static void put(Half *to, float value) { *to = to_half(value); }

  void average(const std::int32_t *listed, std::int64_t c, std::int64_t count, T *pooled, std::int32_t *argmax) const {
    Real sums[kTile];
    for (std::int64_t k = 0; k < count; ++k) sums[k] = 0;
    for (std::int32_t n = 1; n <= *listed; ++n) {
      const T *const from = feature(listed[n]) + c;
      for (std::int64_t k = 0; k < count; ++k) sums[k] += to_real(from[k]);
    }
    for (std::int64_t k = 0; k < count; ++k) put(pooled + k, sums[k] / static_cast<Real>(*listed));
    std::memset(argmax, 0, static_cast<std::size_t>(count) * sizeof *argmax);
  }

  void maximum(const std::int32_t *listed, std::int64_t c, std::int64_t count, T *pooled, std::int32_t *argmax) const {
    Real most[kTile];
    std::int32_t place[kTile];
    for (std::int64_t k = 0; k < count; ++k) {
      most[k] = static_cast<Real>(-__builtin_inf());
      place[k] = -1;
    }
    for (std::int32_t n = 1; n <= *listed; ++n) {
      const std::int32_t point = listed[n];
      const T *const from = feature(point) + c;
      for (std::int64_t k = 0; k < count; ++k) {
        const Real value = to_real(from[k]);
        place[k] = value > most[k] ? point : place[k];
        most[k] = value > most[k] ? value : most[k];
      }
    }
    for (std::int64_t k = 0; k < count; ++k) {
      put(pooled + k, place[k] < 0 ? 0 : most[k]);
      argmax[k] = place[k];
    }
  }

  const RoiAwareForwardProblem &p_;
  const RoiAwareGeometry &g_;
  const std::int64_t voxels_;
};

// Sum is the type in which gradients are added up.
template <typename T>
class Backward {
 public:
  typedef typename RealOf<T>::Type Real;

  explicit Backward(const RoiAwareBackwardProblem &problem)
      : p_(problem), g_(problem.geometry), voxels_(g_.boxes * g_.x * g_.y * g_.z) {
    constexpr std::int64_t kFewest = 8, kValuesPerTask = 1 << 15;
    const std::int64_t worth = voxels_ * g_.channels / kValuesPerTask + 1;
    tasks_ = smaller(smaller<std::int64_t>(thread_count(), (g_.channels + kFewest - 1) / kFewest), worth);
    width_ = (g_.channels + tasks_ - 1) / tasks_;
  }

  mluOpStatus_t run() {
    // Half is added up in float.
    const Scratch<Real> sums(sizeof(T) == sizeof(Real) ? 0 : g_.points * g_.channels);
    if (sums.data() == nullptr) return out_of_memory(p_.function);
    Real *const total = sizeof(T) == sizeof(Real) ? static_cast<Real *>(p_.grad_in) : sums.data();
    auto body = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t c = smaller(task * width_, g_.channels), count = smaller(width_, g_.channels - c);
        if (!add_all(total, c, count)) return;
      }
    };
    parallel_for(tasks_, 1, body);
    if (sizeof(T) != sizeof(Real) && !interrupted()) store_sums(total);
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  bool add_all(Real *total, std::int64_t c, std::int64_t count) const {
    InterruptPoll poll;
    for (std::int64_t point = 0; point < g_.points; ++point) {
      if (poll.interrupted(count)) return false;
      std::memset(total + point * g_.channels + c, 0, static_cast<std::size_t>(count) * sizeof(Real));
    }
    for (std::int64_t voxel = 0; voxel < voxels_; ++voxel) {
      if (poll.interrupted(count)) return false;
      if (g_.average) {
        if (!share(total, voxel, c, count, poll)) return false;
      } else {
        give(total, voxel, c, count);
      }
    }
    return true;
  }

  void give(Real *total, std::int64_t voxel, std::int64_t c, std::int64_t count) const {
    const std::int64_t place = voxel * g_.channels + c;
    const T *const gradient = static_cast<const T *>(p_.grad_out) + place;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t point = read_once(p_.argmax + place + k);
      if (point >= 0 && point < g_.points) total[point * g_.channels + c + k] += to_real(gradient[k]);
    }
  }

  bool share(Real *total, std::int64_t voxel, std::int64_t c, std::int64_t count, InterruptPoll &poll) const {
    const std::int32_t *const listed = p_.indices + voxel * g_.slots;
    const std::int64_t number = smaller<std::int64_t>(read_once(listed), g_.slots - 1);
    const Real part = 1 / static_cast<Real>(number);
    const T *const gradient = static_cast<const T *>(p_.grad_out) + voxel * g_.channels + c;
    for (std::int64_t n = 1; n <= number; ++n) {
      if (poll.interrupted(count)) return false;
      const std::int64_t point = read_once(listed + n);
      if (point < 0 || point >= g_.points) continue;
      Real *const to = total + point * g_.channels + c;
      for (std::int64_t k = 0; k < count; ++k) to[k] += rounded(to_real(gradient[k]) * part);
    }
    return true;
  }

  // Products of halves are halves.
  static Real rounded(Real value) {
    if constexpr (sizeof(T) == sizeof(Real)) return value;
    return to_float(to_half(static_cast<float>(value)));
  }

  void store_sums(const Real *total) const {
    for_slices(0, g_.points * g_.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) put(static_cast<T *>(p_.grad_in) + i, total[i]);
    });
  }

  static void put(Half *to, float value) { *to = to_half(value); }
  template <typename Other>
  static void put(Other *, Other) {}  // sums stand in place already

  const RoiAwareBackwardProblem &p_;
  const RoiAwareGeometry &g_;
  const std::int64_t voxels_;
  std::int64_t tasks_, width_;
};

}  // namespace

mluOpStatus_t roi_aware_forward(const RoiAwareForwardProblem &problem) {
  if (problem.geometry.is_double) {
    Forward<double>(problem).run();
  } else if (problem.geometry.half) {
    Forward<Half>(problem).run();
  } else {
    Forward<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t roi_aware_backward(const RoiAwareBackwardProblem &problem) {
  if (problem.geometry.is_double) return Backward<double>(problem).run();
  return problem.geometry.half ? Backward<Half>(problem).run() : Backward<float>(problem).run();
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_aware_forward, roi_aware_forward, RoiAwareForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_aware_backward, roi_aware_backward, RoiAwareBackwardProblem, problem.function);
