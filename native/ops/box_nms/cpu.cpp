// Hard suppression of upright rectangles on the CPU, in half, float and double.
#include "cpu/bev_boxes.h"
#include "cpu/half.h"
#include "cpu/plane_boxes.h"
#include "cpu/suppression.h"
#include "ops/box_nms/box_nms.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Half is computed in float.
template <typename T>
struct SumOf {
  typedef float Type;
};
template <>
struct SumOf<double> {
  typedef double Type;
};

// The numbers of the boxes of one batch.
template <typename T>
class Rows {
 public:
  using Real = typename SumOf<T>::Type;
  Rows(const NmsProblem &problem, std::int64_t batch)
      : numbers_(problem.space ? 7 : 4),
        data_(static_cast<const T *>(problem.boxes) + batch * problem.count * numbers_),
        of_box_(problem.columns_first ? 1 : numbers_),
        of_number_(problem.columns_first ? problem.count : 1) {}

  T raw(std::int64_t box, int number) const { return data_[box * of_box_ + number * of_number_]; }
  Real at(std::int64_t box, int number) const { return to_sum(raw(box, number)); }

 private:
  const std::int64_t numbers_;
  const T *data_;
  const std::int64_t of_box_, of_number_;
};

double score_at(const NmsProblem &problem, std::int64_t i) {
  if (problem.score_type == MLUOP_DTYPE_DOUBLE) return read_once(static_cast<const double *>(problem.scores) + i);
  if (problem.score_type == MLUOP_DTYPE_HALF)
    return static_cast<double>(to_float(static_cast<const Half *>(problem.scores)[i]));
  return static_cast<double>(read_once(static_cast<const float *>(problem.scores) + i));
}

// Ranks the scores of a batch and a class that are high enough, and returns their number.
std::int64_t rank(const NmsProblem &problem, std::int64_t first, Ranked *ranked) {
  std::int64_t found = 0;
  for_slices(0, problem.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double score = score_at(problem, first + i);
      if (score > problem.least_score) ranked[found++] = Ranked{ranking_key(score), static_cast<std::int32_t>(i)};
    }
  });
  return found;
}

template <typename T>
class Picker {
 public:
  using Real = typename SumOf<T>::Type;
  using Box = PlaneBox<Real>;

  Picker(const NmsProblem &problem, const SuppressionMemory<Box> &memory, std::int32_t *kept)
      : problem_(problem), memory_(memory), kept_(kept) {}

  // The picks of one batch and class; returns their number.
  std::int64_t pick(std::int64_t batch, std::int64_t of_class) {
    const std::int64_t first = (batch * problem_.classes + of_class) * problem_.count;
    const std::int64_t count = rank(problem_, first, memory_.ranked);
    const Ranked *const ranked = sort_ranked(memory_.ranked, memory_.other, count);
    const Real offset = static_cast<Real>(problem_.offset);
    PlaneBlock<Real, false> block(static_cast<Real>(problem_.iou_threshold), offset);
    const Rows<T> rows(problem_, batch);
    const auto read = [&](std::int64_t number) { return box(rows, number, offset); };
    return suppress_ranked(ranked, count, read, block, memory_, problem_.most, kept_);
  }

  // Writes picks behind the `before` ones that are there already.
  void write(std::int64_t batch, std::int64_t of_class, std::int64_t picks, std::int64_t before) const {
    const Rows<T> rows(problem_, batch);
    const std::int64_t first = (batch * problem_.classes + of_class) * problem_.count;
    for (std::int64_t i = 0; i < picks; ++i) {
      const std::int64_t place = before + i, number = kept_[i];
      std::int32_t *const numbers = static_cast<std::int32_t *>(problem_.output);
      T *const values = static_cast<T *>(problem_.output);
      switch (problem_.output_mode) {
        case NmsOutput::kIndices:
          numbers[place] = kept_[i];
          break;
        case NmsOutput::kClasses:
          numbers[3 * place] = static_cast<std::int32_t>(batch);
          numbers[3 * place + 1] = static_cast<std::int32_t>(of_class);
          numbers[3 * place + 2] = kept_[i];
          break;
        case NmsOutput::kRows:
        case NmsOutput::kPlanes:
          for (int j = 0; j < 5; ++j) {
            T *const value =
                values + (problem_.output_mode == NmsOutput::kRows ? 5 * place + j : j * problem_.room + place);
            if (j == 0) {
              store(value, static_cast<Real>(score_at(problem_, first + number)));
            } else {
              *value = rows.raw(number, j - 1);
            }
          }
          break;
      }
    }
  }

  // Sets the places from `begin` to `end` to 0.
  void pad(std::int64_t begin, std::int64_t end) const {
    const bool values = problem_.output_mode == NmsOutput::kRows || problem_.output_mode == NmsOutput::kPlanes;
    const std::int64_t size = values ? static_cast<std::int64_t>(sizeof(T)) : 4;
    char *const output = static_cast<char *>(problem_.output);
    if (problem_.output_mode == NmsOutput::kPlanes) {
      for (std::int64_t j = 0; j < 5; ++j) clear(output + (j * problem_.room + begin) * size, (end - begin) * size);
      return;
    }
    const std::int64_t row = size * (values ? 5 : problem_.output_mode == NmsOutput::kClasses ? 3 : 1);
    clear(output + begin * row, (end - begin) * row);
  }

 private:
  static void clear(char *from, std::int64_t bytes) {
    if (bytes > 0) std::memset(from, 0, static_cast<std::size_t>(bytes));
  }

  Box box(const Rows<T> &rows, std::int64_t number, Real offset) const {
    const Real a = rows.at(number, 0), b = rows.at(number, 1), c = rows.at(number, 2), d = rows.at(number, 3);
    if (problem_.centred) return Box(a - c / 2, b - d / 2, a + c / 2, b + d / 2, offset);
    return Box(smaller_of(a, c), smaller_of(b, d), larger_of(a, c), larger_of(b, d), offset);
  }

  const NmsProblem &problem_;
  const SuppressionMemory<Box> &memory_;
  std::int32_t *const kept_;
};

// Memory of a call, which `Box` decides about.
template <typename Box>
class Workspace {
 public:
  explicit Workspace(std::int64_t count) : scratch_(bytes(count)) {}
  bool missing() const { return scratch_.data() == nullptr; }
  Arena arena() const { return Arena(scratch_.data()); }

 private:
  static std::int64_t bytes(std::int64_t count) {
    Arena arena(nullptr);
    SuppressionMemory<Box>(arena, count);
    arena.template allocate<std::int32_t>(count);
    return arena.used();
  }
  const Scratch<char> scratch_;
};

template <typename T>
mluOpStatus_t pick_all(const NmsProblem &problem) {
  using Box = typename Picker<T>::Box;
  const Workspace<Box> workspace(problem.count);
  if (workspace.missing()) return out_of_memory(problem.function);
  Arena arena = workspace.arena();
  const SuppressionMemory<Box> memory(arena, problem.count);
  Picker<T> picker(problem, memory, arena.allocate<std::int32_t>(problem.count));
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < problem.batches * problem.classes && !interrupted(); ++i) {
    const std::int64_t batch = i / problem.classes, of_class = i % problem.classes;
    const std::int64_t picks = picker.pick(batch, of_class);
    picker.write(batch, of_class, picks, found);
    found += picks;
  }
  if (problem.pad) picker.pad(found, problem.batches * problem.classes * problem.most);
  *problem.picks = static_cast<std::int32_t>(found);
  return MLUOP_STATUS_SUCCESS;
}

// Boxes in space, in the order in which they stand.
template <typename T>
mluOpStatus_t pick_in_space(const NmsProblem &problem) {
  using Real = typename SumOf<T>::Type;
  using Box = BevBox<Real>;
  const Workspace<Box> workspace(problem.count);
  if (workspace.missing()) return out_of_memory(problem.function);
  Arena arena = workspace.arena();
  const SuppressionMemory<Box> memory(arena, problem.count);
  for_slices(0, problem.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) memory.ranked[i] = Ranked{0, static_cast<std::int32_t>(i)};
  });
  const auto overlap = [](const Box &a, const Box &b) { return overlap_of(a, b, false); };
  NearBlock<Real, Box, decltype(overlap)> block{overlap, static_cast<Real>(problem.iou_threshold), {}};
  const Rows<T> rows(problem, 0);
  const auto read = [&rows](std::int64_t number) {
    Real row[7];
    for (int j = 0; j < 7; ++j) row[j] = rows.at(number, j);
    return Box(row);
  };
  const std::int64_t most = block.threshold < 0 ? 1 : problem.count;  // then the first one suppresses all others
  const std::int64_t found = suppress_ranked(memory.ranked, problem.count, read, block, memory, most,
                                             static_cast<std::int32_t *>(problem.output));
  *problem.picks = static_cast<std::int32_t>(found);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run(const NmsProblem &problem) {
  return problem.space ? pick_in_space<T>(problem) : pick_all<T>(problem);
}

template <typename Real>
mluOpStatus_t keep(const Nms2dProblem &problem) {
  using Box = PlaneBox<Real>;
  const Workspace<Box> workspace(problem.count);
  if (workspace.missing()) return out_of_memory(problem.function);
  Arena arena = workspace.arena();
  const SuppressionMemory<Box> memory(arena, problem.count);
  const std::int64_t count = ranked_scores(static_cast<const Real *>(problem.scores), problem.count, memory.ranked);
  const Ranked *const ranked = sort_ranked(memory.ranked, memory.other, count);
  const Real offset = static_cast<Real>(problem.offset);
  PlaneBlock<Real, false> block(static_cast<Real>(problem.iou_threshold), offset);
  const Real *const boxes = static_cast<const Real *>(problem.boxes);
  const auto read = [=](std::int64_t number) { return Box(boxes + 4 * number, offset); };
  *problem.kept_count =
      static_cast<std::int32_t>(suppress_ranked(ranked, count, read, block, memory, count, problem.kept));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t nms(const NmsProblem &problem) {
  if (problem.box_type == MLUOP_DTYPE_DOUBLE) return run<double>(problem);
  return problem.box_type == MLUOP_DTYPE_HALF ? run<Half>(problem) : run<float>(problem);
}

mluOpStatus_t nms2d(const Nms2dProblem &problem) {
  return problem.is_double ? keep<double>(problem) : keep<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_nms, nms, NmsProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_nms2d, nms2d, Nms2dProblem, problem.function);
