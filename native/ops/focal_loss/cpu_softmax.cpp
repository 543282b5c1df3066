// Focal losses of softmaxes on the CPU: half in float, and double. Sums are those of 16 partial
// sums, whatever the number of lanes.
#include "ops/focal_loss/cpu_exponential.h"
#include "ops/focal_loss/focal_loss.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kValuesPerPiece = 16384;
constexpr int kPartial = 16;

// The largest value of a row, and the sum of the exponentials of all values less that.
template <typename T>
class Normaliser {
 public:
  Normaliser(const T *row, std::int64_t count) : row_(row) {
    largest_ = largest_of(row, count);
    float sums[kPartial] = {};
    for (std::int64_t i = 0; i < count; i += kPartial) {
      float values[kPartial];
      exponentials(i, count, values);
      for (int j = 0; j < kPartial; ++j) sums[j] += values[j];
    }
    for (int j = 0; j < kPartial; ++j) sum_ += sums[j];
  }

  double log_probability(std::int64_t i) const {
    const double apart = static_cast<double>(to_float(row_[i])) - static_cast<double>(largest_);
    return apart - __builtin_log(static_cast<double>(sum_));
  }

  // Not yet divided by the sum; 0 behind the last column.
  void exponentials(std::int64_t first, std::int64_t count, float (&values)[kPartial]) const {
    for (int j = 0; j < kPartial; j += kLanes) {
      const std::int64_t left = count - first - j;
      Vector x = all_lanes(-__builtin_inff());
      if (left >= kLanes) {
        x = load(row_ + first + j) - largest_;
      } else {
        for (std::int64_t i = 0; i < left; ++i) x[i] = to_float(row_[first + j + i]) - largest_;
      }
      store(values + j, exponential(x));
    }
  }

  // Writes the parts of the sum times a factor.
  void write_parts(T *to, std::int64_t count, float factor) const {
    for (std::int64_t i = 0; i < count; i += kPartial) {
      float values[kPartial];
      exponentials(i, count, values);
      for (int j = 0; j < kPartial && i + j < count; j += kLanes) {
        const Vector parts = load(values + j) / sum_ * factor;
        if (i + j + kLanes <= count) {
          store(to + i + j, parts);
        } else {
          for (std::int64_t k = 0; i + j + k < count; ++k) store(to + i + j + k, parts[k]);
        }
      }
    }
  }

 private:
  static float largest_of(const T *row, std::int64_t count) {
    float largest = to_float(row[0]);
    std::int64_t i = 0;
    if (count >= kLanes) {
      Vector some = load(row);
      for (i = kLanes; i + kLanes <= count; i += kLanes) {
        const Vector next = load(row + i);
        some = some < next ? next : some;
      }
      for (int j = 0; j < kLanes; ++j) largest = larger(largest, some[j]);
    }
    for (; i < count; ++i) largest = larger(largest, to_float(row[i]));
    return largest;
  }

  const T *row_;
  float largest_, sum_ = 0;
};

template <>
class Normaliser<double> {
 public:
  Normaliser(const double *row, std::int64_t count) : row_(row) {
    largest_ = row[0];
    for (std::int64_t i = 1; i < count; ++i) largest_ = larger(largest_, row[i]);
    for (std::int64_t i = 0; i < count; ++i) sum_ += exponential(row[i] - largest_);
  }

  double log_probability(std::int64_t i) const { return row_[i] - largest_ - __builtin_log(sum_); }

  void write_parts(double *to, std::int64_t count, double factor) const {
    for (std::int64_t i = 0; i < count; ++i) to[i] = exponential(row_[i] - largest_) / sum_ * factor;
  }

 private:
  const double *row_;
  double largest_, sum_ = 0;
};

template <typename T>
struct SumOf {
  typedef float Type;
};
template <>
struct SumOf<double> {
  typedef double Type;
};

template <typename T>
class Rows {
 public:
  using Real = typename SumOf<T>::Type;
  explicit Rows(const SoftmaxFocalLossProblem &problem) : problem_(problem) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      if (poll.interrupted(2 * problem_.columns)) return;
      compute(row);
    }
  }

 private:
  void compute(std::int64_t row) const {
    const std::int64_t columns = problem_.columns, of_class = read_once(problem_.target + row);
    const T *const input = static_cast<const T *>(problem_.input) + row * columns;
    T *const output = static_cast<T *>(problem_.output) + row * (problem_.gradient ? columns : 1);
    if (of_class < 0 || of_class >= columns) {
      for (std::int64_t i = 0; i < (problem_.gradient ? columns : 1); ++i) store(output + i, Real{0});
    } else if (problem_.of_probabilities) {
      const double p = static_cast<double>(to_sum(input[of_class]));
      const double change = write_loss(output, p, 1 - p, __builtin_log(p), row);
      for (std::int64_t i = 0; problem_.gradient && i < columns; ++i)
        store(output + i, share(change, i == of_class, to_sum(input[i])));
    } else {
      const Normaliser<T> normaliser(input, columns);
      const double log = normaliser.log_probability(of_class), less = __builtin_expm1(log);
      const double change = write_loss(output, less + 1, -less, log, row);
      if (!problem_.gradient) return;
      normaliser.write_parts(output, columns, static_cast<Real>(-change));
      store(output + of_class, static_cast<Real>(-change * less));
    }
  }

  // Writes the loss, or returns its derivative by the logarithm of p.
  double write_loss(T *output, double p, double q, double log, std::int64_t row) const {
    const double gamma = problem_.gamma, bounded = at_least_least(log);
    const double power = gamma == 2 ? q * q : __builtin_pow(q, gamma);
    if (!problem_.gradient) {
      store(output, static_cast<Real>(-problem_.alpha * power * bounded));
      return 0;
    }
    const double next = gamma == 2 ? q : __builtin_pow(q, gamma - 1);
    const double part = q == 0 && gamma < 1 ? 0 : gamma * next * p * bounded;
    return problem_.alpha * (part - power) *
           static_cast<double>(to_sum(static_cast<const T *>(problem_.grad_output)[row]));
  }

  static Real share(double change, bool is_class, Real p) {
    return static_cast<Real>(change) * ((is_class ? Real{1} : Real{0}) - p);
  }

  const SoftmaxFocalLossProblem &problem_;
};

template <typename T>
mluOpStatus_t run(const SoftmaxFocalLossProblem &problem) {
  Rows<T> rows(problem);
  parallel_for(problem.rows, kValuesPerPiece / (2 * problem.columns) + 1, rows);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t softmax_focal_loss(const SoftmaxFocalLossProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return run<double>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? run<Half>(problem) : run<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_softmax_focal_loss, softmax_focal_loss, SoftmaxFocalLossProblem, problem.function);
