// RoiPointPool3d on the CPU. A task owns a box.
#include "cpu/upright_boxes.h"
#include "ops/roi_point_pool3d/roi_point_pool3d.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kRun = 1 << 14;  // values between two polls

template <typename T>
class Pool {
 public:
  typedef typename RealOf<T>::Type Real;

  explicit Pool(const RoiPointPool3dProblem &problem) : p_(problem), width_(3 + problem.channels) {}

  // Boxes are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t box = begin; box < end; ++box) {
      if (!gather(box, poll)) return;
    }
  }

 private:
  // False if the call was interrupted.
  bool gather(std::int64_t box, InterruptPoll &poll) const {
    const std::int64_t first = box / p_.boxes * p_.points;  // of its batch
    const UprightBox<Real> region(static_cast<const T *>(p_.rows) + box * kBoxNumbers, false, 0);
    T *const rows = static_cast<T *>(p_.pooled) + box * p_.samples * width_;
    std::int64_t found = 0;
    const auto take = [&](std::int64_t point, Real, Real, Real) {
      T *const row = rows + found++ * width_;
      std::memcpy(row, static_cast<const T *>(p_.xyz) + 3 * (first + point), 3 * sizeof(T));
      copy(row + 3, static_cast<const T *>(p_.features) + (first + point) * p_.channels, p_.channels);
      return found < p_.samples && !poll.interrupted(p_.channels);
    };
    if (!each_inside(region, static_cast<const T *>(p_.xyz) + 3 * first, p_.points, poll, take)) return false;
    if (interrupted()) return false;
    p_.empty[box] = found == 0;
    if (found == 0) {
      for_slices(0, p_.samples * width_, [&](std::int64_t from, std::int64_t to) {
        std::memset(rows + from, 0, static_cast<std::size_t>(to - from) * sizeof(T));
      });
    } else {  // what stands before is repeated
      copy(rows + found * width_, rows, (p_.samples - found) * width_);
    }
    return true;
  }

  static void copy(T *to, const T *from, std::int64_t count) {
    for (std::int64_t i = 0; i < count && (i == 0 || !interrupted()); i += kRun) {
      const std::int64_t some = smaller(kRun, count - i);
      for (std::int64_t k = i; k < i + some; ++k) to[k] = from[k];
    }
  }

  const RoiPointPool3dProblem &p_;
  const std::int64_t width_;
};

template <typename T>
void pool(const RoiPointPool3dProblem &problem) {
  Pool<T> body(problem);
  parallel_for(problem.batches * problem.boxes, 1, body);
}

}  // namespace

mluOpStatus_t roi_point_pool3d(const RoiPointPool3dProblem &problem) {
  if (problem.is_double) {
    pool<double>(problem);
  } else if (problem.half) {
    pool<Half>(problem);
  } else {
    pool<float>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_point_pool3d, roi_point_pool3d, RoiPointPool3dProblem, problem.function);
