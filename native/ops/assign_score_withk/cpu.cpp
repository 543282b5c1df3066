// AssignScoreWithK on the CPU. Channels lie side by side in points, so the loops over them become
// vectors; the output has neighbours side by side, so some of these are computed before they are
// written.
#include "cpu/half.h"
#include "ops/assign_score_withk/assign_score_withk.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTileNeighbours = 16;
constexpr std::int64_t kTileChannels = 128;
constexpr std::int64_t kTileScores = 16;

inline float real(float value) { return value; }
inline float real(Half value) { return to_float(value); }
inline double real(double value) { return value; }

inline void put(float value, float *to) { *to = value; }
inline void put(float value, Half *to) { store(to, value); }
inline void put(double value, double *to) { *to = value; }

// Where the values of a call are.
template <typename T>
class Layout {
 public:
  Layout(const AssignScoreShape &shape, const void *points, const void *centers, const void *scores,
         const std::int32_t *numbers)
      : s(shape),
        points_(static_cast<const T *>(points)),
        centers_(static_cast<const T *>(centers)),
        scores_(static_cast<const T *>(scores)),
        numbers_(numbers) {}

  std::int64_t row_size() const { return s.scores * s.channels; }
  // Elements of [scores, channels] before point `number` of a batch.
  std::int64_t row(std::int64_t batch, std::int64_t number) const { return (batch * s.points + number) * row_size(); }
  const T *points(std::int64_t batch, std::int64_t number) const { return points_ + row(batch, number); }
  const T *centers(std::int64_t batch, std::int64_t number) const { return centers_ + row(batch, number); }

  // Of a neighbour of a centre; centres are counted through all batches.
  const T *scores(std::int64_t centre, std::int64_t neighbour) const {
    return scores_ + (centre * s.neighbours + neighbour) * s.scores;
  }
  // The number of a point, or -1 if it is none.
  std::int64_t number(std::int64_t centre, std::int64_t neighbour) const {
    const std::int64_t found = read_once(numbers_ + centre * s.neighbours + neighbour);
    return found >= 0 && found < s.points ? found : -1;
  }
  // The place of neighbour 0 of a centre in channel `channel` of an output.
  std::int64_t output(std::int64_t centre, std::int64_t channel) const {
    const std::int64_t batch = centre / s.centres;
    return ((batch * s.channels + channel) * s.centres + centre % s.centres) * s.neighbours;
  }

  const AssignScoreShape &s;

 private:
  const T *points_;
  const T *centers_;
  const T *scores_;
  const std::int32_t *numbers_;
};

// Values of some channels of some neighbours, channels side by side.
template <typename Real>
struct Tile {
  alignas(kCacheLine) Real values[kTileNeighbours][kTileChannels];
};

template <typename T>
class Forward {
 public:
  typedef decltype(real(T{})) Real;

  explicit Forward(const AssignScoreForwardProblem &problem)
      : layout_(problem.shape, problem.points, problem.centers, problem.scores, problem.numbers),
        s_(problem.shape),
        output_(static_cast<T *>(problem.output)) {}

  // Centres are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t centre = begin; centre < end; ++centre) {
      const std::int64_t middle = layout_.number(centre, 0);
      for (std::int64_t k = 0; k < s_.neighbours; k += kTileNeighbours) {
        const std::int64_t count = smaller(kTileNeighbours, s_.neighbours - k);
        for (std::int64_t o = 0; o < s_.channels; o += kTileChannels) {
          const std::int64_t channels = smaller(kTileChannels, s_.channels - o);
          if (poll.interrupted(count * channels * (s_.scores + 1))) return;
          tile(centre, middle, k, count, o, channels);
        }
      }
    }
  }

 private:
  void tile(std::int64_t centre, std::int64_t middle, std::int64_t k, std::int64_t count, std::int64_t o,
            std::int64_t channels) const {
    const std::int64_t batch = centre / s_.centres;
    Tile<Real> sums;
    for (std::int64_t i = 0; i < count; ++i) {
      Real *const own = sums.values[i];
      for (std::int64_t c = 0; c < channels; ++c) own[c] = 0;
      const std::int64_t number = middle < 0 ? -1 : layout_.number(centre, k + i);
      if (number < 0) continue;
      const T *const scores = layout_.scores(centre, k + i);
      const T *point = layout_.points(batch, number) + o, *center = layout_.centers(batch, middle) + o;
      for (std::int64_t m = 0; m < s_.scores; ++m, point += s_.channels, center += s_.channels)
        add(own, point, center, real(scores[m]), channels);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      T *const output = output_ + layout_.output(centre, o + c) + k;
      for (std::int64_t i = 0; i < count; ++i) put(sums.values[i][c], output + i);
    }
  }

  static void add(Real *__restrict own, const T *point, const T *center, Real score, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) own[c] += real(point[c]) * score - real(center[c]) * score;
  }

  const Layout<T> layout_;
  const AssignScoreShape &s_;
  T *const output_;
};

// Gradients of some channels of the neighbours k to k + count of a centre.
template <typename T, typename Real>
inline void read_gradients(const Layout<T> &layout, const T *grad_output, std::int64_t centre, std::int64_t k,
                           std::int64_t count, std::int64_t o, std::int64_t channels, Tile<Real> *tile) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const T *const from = grad_output + layout.output(centre, o + c) + k;
    for (std::int64_t i = 0; i < count; ++i) tile->values[i][c] = real(from[i]);
  }
}

// The gradient of scores: a sum over channels for each neighbour and score.
template <typename T>
class ScoreGradient {
 public:
  typedef decltype(real(T{})) Real;

  explicit ScoreGradient(const AssignScoreBackwardProblem &problem)
      : layout_(problem.shape, problem.points, problem.centers, problem.scores, problem.numbers),
        s_(problem.shape),
        grad_output_(static_cast<const T *>(problem.grad_output)),
        grad_scores_(static_cast<T *>(problem.grad_scores)) {}

  // Centres are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t centre = begin; centre < end; ++centre) {
      const std::int64_t middle = layout_.number(centre, 0);
      for (std::int64_t k = 0; k < s_.neighbours; k += kTileNeighbours) {
        const std::int64_t count = smaller(kTileNeighbours, s_.neighbours - k);
        for (std::int64_t m = 0; m < s_.scores; m += kTileScores) {
          const std::int64_t scores = smaller(kTileScores, s_.scores - m);
          if (poll.interrupted(count * scores * (s_.channels + 1))) return;
          tile(centre, middle, k, count, m, scores);
        }
      }
    }
  }

 private:
  void tile(std::int64_t centre, std::int64_t middle, std::int64_t k, std::int64_t count, std::int64_t m,
            std::int64_t scores) const {
    const std::int64_t batch = centre / s_.centres;
    Real sums[kTileNeighbours][kTileScores] = {};
    Tile<Real> gradients;
    for (std::int64_t o = 0; o < s_.channels; o += kTileChannels) {
      const std::int64_t channels = smaller(kTileChannels, s_.channels - o);
      read_gradients(layout_, grad_output_, centre, k, count, o, channels, &gradients);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t number = middle < 0 ? -1 : layout_.number(centre, k + i);
        if (number < 0) continue;
        const std::int64_t first = m * s_.channels + o;
        const T *const point = layout_.points(batch, number) + first;
        const T *const center = layout_.centers(batch, middle) + first;
        for (std::int64_t j = 0; j < scores; ++j) {
          const std::int64_t place = j * s_.channels;
          sums[i][j] = add(sums[i][j], point + place, center + place, gradients.values[i], channels);
        }
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T *const result = grad_scores_ + (centre * s_.neighbours + k + i) * s_.scores + m;
      for (std::int64_t j = 0; j < scores; ++j) put(sums[i][j], result + j);
    }
  }

  static Real add(Real sum, const T *point, const T *center, const Real *gradient, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) sum += (real(point[c]) - real(center[c])) * gradient[c];
    return sum;
  }

  const Layout<T> layout_;
  const AssignScoreShape &s_;
  const T *const grad_output_;
  T *const grad_scores_;
};

// Gradients of points and centers. A task owns some scores of a batch, and some channels of these,
// so that additions to a place have one order.
template <typename T>
class PointGradients {
 public:
  typedef decltype(real(T{})) Real;

  explicit PointGradients(const AssignScoreBackwardProblem &problem)
      : layout_(problem.shape, problem.points, problem.centers, problem.scores, problem.numbers),
        s_(problem.shape),
        grad_output_(static_cast<const T *>(problem.grad_output)),
        points_(static_cast<T *>(problem.grad_points)),
        centers_(static_cast<T *>(problem.grad_centers)),
        channel_tiles_((s_.channels + kTileChannels - 1) / kTileChannels) {
    // As many scores as give every thread a task; one where results are added up aside.
    const std::int64_t threads = thread_count(), others = s_.batches * channel_tiles_;
    const std::int64_t parts = kAside ? s_.scores : smaller(s_.scores, (threads + others - 1) / others);
    part_ = (s_.scores + parts - 1) / parts;
    parts_ = (s_.scores + part_ - 1) / part_;
  }

  std::int64_t tasks() const { return s_.batches * parts_ * channel_tiles_; }
  // Numbers that a task adds up aside: of both results, for each point.
  std::int64_t aside() const { return kAside ? 2 * s_.points * smaller(kTileChannels, s_.channels) : 0; }

  void run(std::int64_t task, float *aside) const {
    const std::int64_t o = task % channel_tiles_ * kTileChannels, part = task / channel_tiles_ % parts_;
    const std::int64_t batch = task / channel_tiles_ / parts_;
    const Slice slice{batch, o, smaller(kTileChannels, s_.channels - o), part * part_,
                      smaller((part + 1) * part_, s_.scores)};
    if constexpr (kAside) {
      const std::int64_t size = s_.points * slice.channels;
      add_all(slice, aside, aside + size, slice.channels, -slice.m * slice.channels);
      for (std::int64_t number = 0; number < s_.points; ++number) {
        const std::int64_t place = layout_.row(batch, number) + slice.m * s_.channels + o;
        const float *const from = aside + number * slice.channels;
        for (std::int64_t c = 0; c < slice.channels; ++c) {
          put(from[c], points_ + place + c);
          put(from[size + c], centers_ + place + c);
        }
      }
    } else {
      const std::int64_t first = layout_.row(batch, 0) + o;
      add_all(slice, points_ + first, centers_ + first, layout_.row_size(), 0);
    }
  }

 private:
  static constexpr bool kAside = sizeof(T) < sizeof(float);

  // Channels o to o + channels and scores m to end of a batch.
  struct Slice {
    std::int64_t batch, o, channels, m, end;
  };

  // Adds to results whose points are `stride` apart. Score m of a point begins at m times the
  // channels of a row there, plus `shift`.
  void add_all(const Slice &slice, Real *points, Real *centers, std::int64_t stride, std::int64_t shift) const {
    const std::int64_t score_stride = kAside ? slice.channels : s_.channels;
    for (std::int64_t number = 0; number < s_.points; ++number) {
      for (std::int64_t m = slice.m; m < slice.end; ++m) {
        const std::int64_t place = number * stride + m * score_stride + shift;
        for (std::int64_t c = 0; c < slice.channels; ++c) points[place + c] = centers[place + c] = 0;
      }
    }
    InterruptPoll poll;
    Tile<Real> gradients;
    const std::int64_t first = slice.batch * s_.centres;
    for (std::int64_t centre = first; centre < first + s_.centres; ++centre) {
      const std::int64_t middle = layout_.number(centre, 0);
      if (middle < 0) continue;
      for (std::int64_t k = 0; k < s_.neighbours; k += kTileNeighbours) {
        const std::int64_t count = smaller(kTileNeighbours, s_.neighbours - k);
        if (poll.interrupted(count * slice.channels * (slice.end - slice.m))) return;
        read_gradients(layout_, grad_output_, centre, k, count, slice.o, slice.channels, &gradients);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t number = layout_.number(centre, k + i);
          if (number < 0) continue;
          const T *const scores = layout_.scores(centre, k + i);
          for (std::int64_t m = slice.m; m < slice.end; ++m) {
            const std::int64_t place = m * score_stride + shift;
            add(points + number * stride + place, real(scores[m]), gradients.values[i], slice.channels);
            subtract(centers + middle * stride + place, real(scores[m]), gradients.values[i], slice.channels);
          }
        }
      }
    }
  }

  static void add(Real *__restrict to, Real score, const Real *gradient, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) to[c] += score * gradient[c];
  }
  static void subtract(Real *__restrict to, Real score, const Real *gradient, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) to[c] -= score * gradient[c];
  }

  const Layout<T> layout_;
  const AssignScoreShape &s_;
  const T *const grad_output_;
  T *const points_;
  T *const centers_;
  const std::int64_t channel_tiles_;
  std::int64_t part_, parts_;
};

constexpr std::int64_t kValuesPerPiece = 16384;

std::int64_t centres_per_piece(const AssignScoreShape &shape) {
  return kValuesPerPiece / (shape.neighbours * shape.scores * shape.channels + 1) + 1;
}

template <typename T>
mluOpStatus_t forward(const AssignScoreForwardProblem &problem) {
  Forward<T> assign(problem);
  parallel_for(problem.shape.batches * problem.shape.centres, centres_per_piece(problem.shape), assign);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t backward(const AssignScoreBackwardProblem &problem) {
  const AssignScoreShape &shape = problem.shape;
  if (shape.batches * shape.points * shape.scores * shape.channels > 0) {
    const PointGradients<T> gradients(problem);
    const std::int64_t slots = useful_slots(gradients.tasks(), kValuesPerPiece);
    const Scratch<float> aside(slots * gradients.aside());
    if (aside.data() == nullptr) return out_of_memory(problem.function);
    parallel_slots(gradients.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
      if (!interrupted()) gradients.run(task, aside.data() + slot * gradients.aside());
    });
  }
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  ScoreGradient<T> scores(problem);
  parallel_for(shape.batches * shape.centres, centres_per_piece(shape), scores);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t assign_score_forward(const AssignScoreForwardProblem &problem) {
  if (problem.shape.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.shape.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t assign_score_backward(const AssignScoreBackwardProblem &problem) {
  if (problem.shape.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.shape.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_assign_score_forward, assign_score_forward, AssignScoreForwardProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_assign_score_backward, assign_score_backward, AssignScoreBackwardProblem,
                          problem.function);
