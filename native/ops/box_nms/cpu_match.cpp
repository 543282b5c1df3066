// Which boxes belong together on the CPU: each one to the kept one that suppresses it.
#include "cpu/plane_boxes.h"
#include "cpu/ranking.h"
#include "ops/box_nms/box_nms.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kColumns = 5;

template <typename Real>
class Matcher {
 public:
  using Box = PlaneBox<Real>;

  Matcher(const NmsMatchProblem &problem, Arena &arena)
      : problem_(problem),
        dets_(static_cast<const Real *>(problem.dets)),
        boxes_(arena.allocate<Box>(problem.count)),
        ranked_(arena.allocate<Ranked>(problem.count)),
        other_(arena.allocate<Ranked>(problem.count)),
        leader_(arena.allocate<std::int32_t>(problem.count)) {}

  // Finds for each place in the order of scores the place of the kept one.
  void match() {
    const std::int64_t count = problem_.count;
    rank();
    PlaneBlock<Real, true> block(static_cast<Real>(problem_.iou_threshold), 0);
    std::int32_t places[PlaneBlock<Real, true>::kMost];
    for (std::int64_t next = 0; next < count && !interrupted();) {
      block.clear();
      const std::int64_t begin = next;
      // A block ends where it is full, or where comparing all others with it is worth it.
      for (; next < count && next - begin < kSpan && block.count() < block.kMost; ++next) {
        if (leader_[next] >= 0) continue;
        const int found = block.first_above(boxes_[next]);
        if (found >= 0) {
          leader_[next] = places[found];
          continue;
        }
        places[block.count()] = leader_[next] = static_cast<std::int32_t>(next);
        block.add(boxes_[next]);
      }
      auto compare = [&](std::int64_t first, std::int64_t last) {
        InterruptPoll poll;
        for (std::int64_t i = next + first; i < next + last && !poll.interrupted(block.kMost); ++i) {
          if (leader_[i] >= 0) continue;
          const int found = block.first_above(boxes_[i]);
          if (found >= 0) leader_[i] = places[found];
        }
      };
      parallel_for(count - next, kGrain, compare);
    }
  }

  void write() const {
    for_slices(0, problem_.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t number = sorted_[i].index;
        problem_.order[i] = number;
        problem_.matches[number] = sorted_[leader_[i]].index;
      }
    });
  }

 private:
  static constexpr std::int64_t kSpan = 1024, kGrain = 1024;

  void rank() {
    for_slices(0, problem_.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double score = static_cast<double>(read_once(dets_ + kColumns * i + 4));
        // A NaN comes before all others.
        ranked_[i] = Ranked{score == score ? ranking_key(score) : 0, static_cast<std::int32_t>(i)};
      }
    });
    sorted_ = sort_ranked(ranked_, other_, problem_.count);
    if (interrupted()) return;
    for_slices(0, problem_.count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        boxes_[i] = Box(dets_ + kColumns * sorted_[i].index, 0);
        leader_[i] = -1;
      }
    });
  }

  const NmsMatchProblem &problem_;
  const Real *const dets_;
  Box *const boxes_;
  Ranked *const ranked_;
  Ranked *const other_;
  std::int32_t *const leader_;
  const Ranked *sorted_ = nullptr;
};

template <typename Real>
mluOpStatus_t run(const NmsMatchProblem &problem) {
  Arena size(nullptr);
  Matcher<Real>(problem, size);
  const Scratch<char> scratch(size.used());
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  Matcher<Real> matcher(problem, arena);
  matcher.match();
  if (!interrupted()) matcher.write();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t nms_match(const NmsMatchProblem &problem) {
  return problem.is_double ? run<double>(problem) : run<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_nms_match, nms_match, NmsMatchProblem, problem.function);
