// Overlaps of quadrilaterals and suppression by them on the CPU, in float and in double.
#include "cpu/box_pairs.h"
#include "cpu/suppression.h"
#include "ops/quadri_boxes/cpu_mmcv.h"
#include "ops/quadri_boxes/cpu_quadri.h"
#include "ops/quadri_boxes/quadri_boxes.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real, typename Value>
void compare(const BoxIouQuadriProblem &problem, const Value &value) {
  BoxPairs<QuadriBox<Real>, Real, Value> pairs(static_cast<const Real *>(problem.first), problem.first_count,
                                               static_cast<const Real *>(problem.second), problem.second_count,
                                               static_cast<Real *>(problem.ious), value);
  if (problem.aligned) {
    pairs.run_aligned();
  } else {
    pairs.run();
  }
}

template <typename Real>
mluOpStatus_t compare(const BoxIouQuadriProblem &problem) {
  using Box = QuadriBox<Real>;
  const bool of_first = problem.of_first;
  if (problem.by_mmcv) {
    compare<Real>(
        problem, [of_first](const Box &a, const Box &b) { return static_cast<Real>(overlap_by_mmcv(a, b, of_first)); });
  } else {
    compare<Real>(problem, [of_first](const Box &a, const Box &b) {
      return static_cast<Real>(overlap_of_quadris(a, b, of_first));
    });
  }
  return MLUOP_STATUS_SUCCESS;
}

// Bytes that a call needs.
template <typename Box>
std::int64_t needed_for(std::int64_t count) {
  Arena size(nullptr);
  SuppressionMemory<Box>(size, count);
  return size.used();
}

template <typename Real>
mluOpStatus_t keep(const QuadriSuppressionProblem &problem) {
  using Box = QuadriBox<Real>;
  const Scratch<char> scratch(needed_for<Box>(problem.count));
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  const SuppressionMemory<Box> memory(arena, problem.count);
  const auto overlap = [](const Box &a, const Box &b) { return static_cast<Real>(overlap_of_quadris(a, b, false)); };
  const Candidates<Real> candidates{static_cast<const Real *>(problem.boxes), problem.columns,
                                    static_cast<const Real *>(problem.scores), problem.count};
  const Real threshold = static_cast<Real>(problem.iou_threshold);
  *problem.kept_count = static_cast<std::int32_t>(suppress(candidates, overlap, threshold, memory, problem.kept));
  return MLUOP_STATUS_SUCCESS;
}

// A quadrilateral with its score, which orders it; NaN is the highest one.
template <typename Real>
struct ScoredQuadri : QuadriBox<Real> {
  std::uint64_t key;

  ScoredQuadri() = default;
  explicit ScoredQuadri(const Real *row) : QuadriBox<Real>(row), key(key_of(static_cast<double>(read_once(row + 8)))) {}

 private:
  static std::uint64_t key_of(double score) { return score == score ? ranking_key(score) : 0; }
};

// Kept boxes that suppress those of a lower score alone.
template <typename Box>
class ScoredBlock {
 public:
  static constexpr int kMost = 64;
  explicit ScoredBlock(double threshold) : threshold_(threshold) {}
  void clear() { count_ = 0; }
  void add(const Box &box) { boxes_[count_++] = box; }

  bool any_above(const Box &box) const {
    for (int i = 0; i < count_; ++i) {
      if (boxes_[i].key != box.key && overlap_of_quadris(boxes_[i], box, false) > threshold_) return true;
    }
    return false;
  }

 private:
  const double threshold_;
  Box boxes_[kMost];
  int count_ = 0;
};

template <typename Real>
mluOpStatus_t keep_scored(const QuadriSuppressionProblem &problem) {
  using Box = ScoredQuadri<Real>;
  const Scratch<char> scratch(needed_for<Box>(problem.count));
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  const SuppressionMemory<Box> memory(arena, problem.count);
  const Real *const boxes = static_cast<const Real *>(problem.boxes);
  const std::int64_t columns = problem.columns;
  for_slices(0, problem.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      memory.ranked[i] = Ranked{Box(boxes + i * columns).key, static_cast<std::int32_t>(i)};
  });
  const Ranked *const ranked = sort_ranked(memory.ranked, memory.other, problem.count);
  ScoredBlock<Box> block(problem.iou_threshold);
  const auto read = [=](std::int64_t index) { return Box(boxes + index * columns); };
  *problem.kept_count = static_cast<std::int32_t>(
      suppress_ranked(ranked, problem.count, read, block, memory, problem.count, problem.kept));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t box_iou_quadri(const BoxIouQuadriProblem &problem) {
  return problem.is_double ? compare<double>(problem) : compare<float>(problem);
}

mluOpStatus_t quadri_suppression(const QuadriSuppressionProblem &problem) {
  if (problem.scored) return problem.is_double ? keep_scored<double>(problem) : keep_scored<float>(problem);
  return problem.is_double ? keep<double>(problem) : keep<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_box_iou_quadri, box_iou_quadri, BoxIouQuadriProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_quadri_suppression, quadri_suppression, QuadriSuppressionProblem, problem.function);
