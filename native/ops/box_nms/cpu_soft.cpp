// Soft suppression of upright rectangles on the CPU: scores are lowered instead (arXiv:1704.04503).
#include "cpu/plane_boxes.h"
#include "ops/box_nms/box_nms.h"

MLUOPS_BEGIN_LEVEL
namespace {

// The boxes that are not dropped, of which the picked ones come first.
template <typename Real>
class SoftPicker {
 public:
  SoftPicker(const SoftNmsProblem &problem, Arena &arena)
      : problem_(problem),
        threshold_(static_cast<Real>(problem.iou_threshold)),
        sigma_(static_cast<Real>(problem.sigma)),
        least_(static_cast<Real>(problem.min_score)),
        offset_(static_cast<Real>(problem.offset)),
        boxes_(arena.allocate<PlaneBox<Real>>(problem.count)),
        scores_(arena.allocate<Real>(problem.count)),
        numbers_(arena.allocate<std::int32_t>(problem.count)),
        left_(problem.count) {}

  void run() {
    const Real *const boxes = static_cast<const Real *>(problem_.boxes);
    for_slices(0, problem_.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        boxes_[i] = PlaneBox<Real>(boxes + 4 * i, offset_);
        scores_[i] = read_once(static_cast<const Real *>(problem_.scores) + i);
        numbers_[i] = static_cast<std::int32_t>(i);
      }
    });
    for (std::int64_t i = 0; i < left_ && !interrupted(); ++i) {
      exchange(i, highest(i));
      Real *const row = static_cast<Real *>(problem_.dets) + 5 * i;
      row[0] = boxes_[i].x1;
      row[1] = boxes_[i].y1;
      row[2] = boxes_[i].x2;
      row[3] = boxes_[i].y2;
      row[4] = scores_[i];
      problem_.kept[i] = numbers_[i];
      lower(i);
      drop(i + 1);
    }
    *problem_.kept_count = static_cast<std::int32_t>(left_);
  }

 private:
  static constexpr std::int64_t kGrain = 2048;

  // The first of the highest scores from a place on.
  std::int64_t highest(std::int64_t from) const {
    std::int64_t best = from;
    for_slices(from, left_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (scores_[i] > scores_[best]) best = i;
      }
    });
    return best;
  }

  void exchange(std::int64_t a, std::int64_t b) {
    const PlaneBox<Real> box = boxes_[a];
    const Real score = scores_[a];
    const std::int32_t number = numbers_[a];
    move(b, a);
    boxes_[b] = box;
    scores_[b] = score;
    numbers_[b] = number;
  }

  void move(std::int64_t from, std::int64_t to) {
    boxes_[to] = boxes_[from];
    scores_[to] = scores_[from];
    numbers_[to] = numbers_[from];
  }

  // Lowers the scores behind a pick.
  void lower(std::int64_t pick) {
    const PlaneBox<Real> box = boxes_[pick];
    auto part = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t i = pick + 1 + begin; i < pick + 1 + end && !poll.interrupted(8); ++i)
        scores_[i] *= weight(part_of_both(box, boxes_[i], offset_));
    };
    parallel_for(left_ - pick - 1, kGrain, part);
  }

  Real weight(Real overlap) const {
    if (problem_.method == SoftNms::kGaussian) {
      if (overlap == 0) return 1;
      return static_cast<Real>(__builtin_exp(static_cast<double>(-(overlap * overlap) / sigma_)));
    }
    if (!(overlap >= threshold_)) return 1;
    return problem_.method == SoftNms::kLinear ? 1 - overlap : 0;
  }

  void drop(std::int64_t from) {
    InterruptPoll poll;
    for (std::int64_t i = from; i < left_ && !poll.interrupted(1);) {
      if (scores_[i] < least_) {
        move(--left_, i);
      } else {
        ++i;
      }
    }
  }

  const SoftNmsProblem &problem_;
  const Real threshold_, sigma_, least_, offset_;
  PlaneBox<Real> *const boxes_;
  Real *const scores_;
  std::int32_t *const numbers_;
  std::int64_t left_;
};

template <typename Real>
mluOpStatus_t pick(const SoftNmsProblem &problem) {
  Arena size(nullptr);
  SoftPicker<Real>(problem, size);
  const Scratch<char> scratch(size.used());
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  SoftPicker<Real>(problem, arena).run();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t soft_nms(const SoftNmsProblem &problem) {
  return problem.is_double ? pick<double>(problem) : pick<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_soft_nms, soft_nms, SoftNmsProblem, problem.function);
