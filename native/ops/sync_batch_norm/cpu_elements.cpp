// The elements of batch normalisation on the CPU: (x - mean) * scale + bias, and the gradient. What
// depends on the channel alone is computed once, in double, and rounded to the type of the sums.
#include "cpu/tiles.h"
#include "ops/sync_batch_norm/sync_batch_norm.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kShortest = 16;  // values of a channel side by side that make it a row
constexpr std::int64_t kPiece = 16384;  // values of a piece
constexpr std::int64_t kMostColumns = 4096;

// y of x.
struct Normalised {
  static constexpr int kInputs = 1;
  enum {
    kMean,
    kScale,
    kBias,
    kConstants
  };

  template <typename Vector>
  static Vector of(const Vector *in, const Vector *constant) {
    return (in[0] - constant[kMean]) * constant[kScale] + constant[kBias];
  }
};

// The gradient of x, of that of y and x.
struct Gradient {
  static constexpr int kInputs = 2;
  enum {
    kMean,
    kScale,
    kMeanDy,
    kFactor,
    kConstants
  };

  template <typename Vector>
  static Vector of(const Vector *in, const Vector *constant) {
    return ((in[0] - constant[kMeanDy]) - (in[1] - constant[kMean]) * constant[kFactor]) * constant[kScale];
  }
};

template <typename T, typename Formula>
class Elements {
 public:
  typedef typename Arithmetic<T>::Value Value;
  typedef typename Arithmetic<T>::Vector Vector;

  // `constants` has kConstants arrays of as many columns as there are.
  Elements(const ChannelShape &shape, const void *first, const void *second, const Value *constants, void *to)
      : long_(shape.inner >= kShortest),
        columns_(columns_of(shape)),
        rows_(shape.batches * (long_ ? columns_ : 1)),
        length_(long_ ? shape.inner : columns_),
        in_{static_cast<const T *>(first), static_cast<const T *>(second)},
        constants_(constants),
        to_(static_cast<T *>(to)) {}

  static std::int64_t columns_of(const ChannelShape &shape) {
    return shape.inner >= kShortest ? shape.channels : shape.channels * shape.inner;
  }

  void run() const {
    const std::int64_t most = smaller(length_, long_ ? kPiece : kMostColumns), runs = (length_ + most - 1) / most;
    auto some = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t number = begin; number < end; ++number) {
        if (poll.interrupted(most)) return;
        const std::int64_t row = number / runs, from = number % runs * most, count = smaller(most, length_ - from);
        if (long_)
          apply_row(row * length_ + from, count, row % columns_);
        else
          apply_columns(row * length_ + from, count, from);
      }
    };
    parallel_for(rows_ * runs, kPiece / most + 1, some);
  }

 private:
  static constexpr int kWidth = Arithmetic<T>::kWidth;

  void apply_row(std::int64_t at, std::int64_t count, std::int64_t channel) const {
    Vector constant[Formula::kConstants];
    for (int k = 0; k < Formula::kConstants; ++k)
      constant[k] = Arithmetic<T>::everywhere(constants_[k * columns_ + channel]);
    std::int64_t i = 0;
    for (; i + kWidth <= count; i += kWidth) apply(at + i, kWidth, constant);
    if (i < count) apply(at + i, count - i, constant);
  }

  void apply_columns(std::int64_t at, std::int64_t count, std::int64_t column) const {
    std::int64_t i = 0;
    for (; i + kWidth <= count; i += kWidth) apply_beside(at + i, kWidth, column + i);
    if (i < count) apply_beside(at + i, count - i, column + i);
  }

  [[gnu::always_inline]] void apply_beside(std::int64_t at, std::int64_t count, std::int64_t column) const {
    Vector constant[Formula::kConstants];
    for (int k = 0; k < Formula::kConstants; ++k) constant[k] = load_some(constants_ + k * columns_ + column, count);
    apply(at, count, constant);
  }

  [[gnu::always_inline]] void apply(std::int64_t at, std::int64_t count, const Vector *constant) const {
    Vector in[Formula::kInputs];
    for (int k = 0; k < Formula::kInputs; ++k) in[k] = load_some(in_[k] + at, count);
    store_some(to_ + at, Formula::of(in, constant), count);
  }

  const bool long_;
  const std::int64_t columns_, rows_, length_;
  const T *const in_[2];
  const Value *const constants_;
  T *const to_;
};

// Of a channel; `otherwise` where there is no array.
template <typename Real>
inline double number(const void *array, std::int64_t channel, double otherwise) {
  return array == nullptr ? otherwise : static_cast<double>(static_cast<const Real *>(array)[channel]);
}

template <typename T>
mluOpStatus_t normalise_values(const NormaliseProblem &p) {
  typedef Elements<T, Normalised> Of;
  typedef typename Of::Value Real;
  const std::int64_t columns = Of::columns_of(p.shape), each = columns / p.shape.channels;
  const Scratch<Real> constants(Normalised::kConstants * columns);
  if (constants.data() == nullptr) return out_of_memory(p.function);
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int64_t c = column / each;
    Real *const to = constants.data() + column;
    to[Normalised::kMean * columns] = static_cast<Real>(number<Real>(p.mean, c, 0));
    to[Normalised::kScale * columns] = static_cast<Real>(number<Real>(p.invstd, c, 1) * number<Real>(p.filter, c, 1));
    to[Normalised::kBias * columns] = static_cast<Real>(number<Real>(p.bias, c, 0));
  }
  Of(p.shape, p.x, nullptr, constants.data(), p.y).run();
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t differentiate(const NormaliseBackwardProblem &p) {
  typedef Elements<T, Gradient> Of;
  typedef typename Of::Value Real;
  const std::int64_t columns = Of::columns_of(p.shape), each = columns / p.shape.channels;
  const Scratch<Real> constants(Gradient::kConstants * columns);
  if (constants.data() == nullptr) return out_of_memory(p.function);
  double count = 1;
  if (p.has_counts) {
    std::int64_t sum = 0;
    for (std::int64_t d = 0; d < p.counts; ++d) sum += static_cast<const std::int32_t *>(p.count)[d];
    count = static_cast<double>(sum);
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int64_t c = column / each;
    const double invstd = number<Real>(p.invstd, c, 1);
    Real *const to = constants.data() + column;
    to[Gradient::kMean * columns] = static_cast<Real>(number<Real>(p.mean, c, 0));
    to[Gradient::kScale * columns] = static_cast<Real>(invstd * number<Real>(p.filter, c, 1));
    to[Gradient::kMeanDy * columns] = static_cast<Real>(number<Real>(p.dy, c, 0) / count);
    to[Gradient::kFactor * columns] = static_cast<Real>(invstd * invstd * (number<Real>(p.dy_xmu, c, 0) / count));
  }
  Of(p.shape, p.diff_y, p.x, constants.data(), p.diff_x).run();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t normalise(const NormaliseProblem &problem) {
  if (problem.shape.dtype == MLUOP_DTYPE_DOUBLE) return normalise_values<double>(problem);
  if (problem.shape.dtype == MLUOP_DTYPE_HALF) return normalise_values<Half>(problem);
  return normalise_values<float>(problem);
}

mluOpStatus_t normalise_backward(const NormaliseBackwardProblem &problem) {
  if (problem.shape.dtype == MLUOP_DTYPE_DOUBLE) return differentiate<double>(problem);
  if (problem.shape.dtype == MLUOP_DTYPE_HALF) return differentiate<Half>(problem);
  return differentiate<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_normalise, normalise, NormaliseProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_normalise_backward, normalise_backward, NormaliseBackwardProblem, problem.function);
