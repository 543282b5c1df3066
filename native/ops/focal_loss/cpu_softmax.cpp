// Focal losses of softmaxes on the CPU: half in float, and double. Sums are those of 16 partial
// sums, whatever the number of lanes; functions of the sums of 16 rows are found together.
#include "ops/focal_loss/cpu_exponential.h"
#include "ops/focal_loss/focal_loss.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kValuesPerPiece = 16384;
constexpr int kPartial = 16;
constexpr std::int64_t kShortColumns = 1024;  // of rows that are still in the cache when they are read again

// The largest value of a row, and the sum of the exponentials of all values less that.
template <typename T>
class Normaliser {
 public:
  Normaliser() = default;
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

  float sum() const { return sum_; }
  float apart(std::int64_t i) const { return to_float(row_[i]) - largest_; }

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
        const Vector parts = load(values + j) * (factor / sum_);
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

  const T *row_ = nullptr;
  float largest_ = 0, sum_ = 0;
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
    const bool in_lanes = sizeof(T) < sizeof(double) && !problem_.of_probabilities;
    const std::int64_t together = in_lanes && problem_.columns <= kShortColumns ? kPartial : 1;
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; row += together) {
      const std::int64_t count = smaller(together, end - row);
      if (poll.interrupted(2 * count * problem_.columns)) return;
      if constexpr (sizeof(T) < sizeof(double)) {
        if (in_lanes) {
          compute_lanes(row, static_cast<int>(count));
          continue;
        }
      }
      compute(row);
    }
  }

 private:
  const T *input(std::int64_t row) const { return static_cast<const T *>(problem_.input) + row * problem_.columns; }
  std::int64_t width() const { return problem_.gradient ? problem_.columns : 1; }
  T *output(std::int64_t row) const { return static_cast<T *>(problem_.output) + row * width(); }

  // The class of a row, -1 if it has none; then what is written is 0.
  std::int64_t class_of(std::int64_t row) const {
    const std::int64_t of_class = read_once(problem_.target + row);
    if (of_class >= 0 && of_class < problem_.columns) return of_class;
    for (std::int64_t i = 0; i < width(); ++i) store(output(row) + i, Real{0});
    return -1;
  }

  void compute(std::int64_t row) const {
    const std::int64_t columns = problem_.columns, of_class = class_of(row);
    if (of_class < 0) return;
    const T *const from = input(row);
    T *const to = output(row);
    if (problem_.of_probabilities) {
      const double p = static_cast<double>(to_sum(from[of_class]));
      const double change = write_loss(to, p, 1 - p, __builtin_log(p), row);
      for (std::int64_t i = 0; problem_.gradient && i < columns; ++i)
        store(to + i, share(change, i == of_class, to_sum(from[i])));
    } else if constexpr (sizeof(T) == sizeof(double)) {
      const Normaliser<double> normaliser(from, columns);
      const double log = normaliser.log_probability(of_class), less = __builtin_expm1(log);
      write_gradient(row, of_class, normaliser, write_loss(to, less + 1, -less, log, row), -less);
    }
  }

  // Some rows, each of which has a lane where functions of its sum are found.
  void compute_lanes(std::int64_t row, int count) const {
    Normaliser<T> normalisers[kPartial];
    std::int64_t classes[kPartial];
    float sums[kPartial] = {}, logs[kPartial] = {}, p[kPartial], q[kPartial];
    for (int i = 0; i < count; ++i) {
      classes[i] = class_of(row + i);
      if (classes[i] < 0) continue;
      normalisers[i] = Normaliser<T>(input(row + i), problem_.columns);
      sums[i] = normalisers[i].sum();
      logs[i] = normalisers[i].apart(classes[i]);
    }
    for (int i = 0; i < count; i += kLanes) {
      const Vector sum = load(sums + i), apart = load(logs + i), own = exponential(apart);
      store(p + i, own / sum);
      store(q + i, (sum - own) / sum);
      store(logs + i, apart - log_from_one(sum));
    }
    for (int i = 0; i < count; ++i) {
      if (classes[i] < 0) continue;
      const double change = write_loss(output(row + i), static_cast<double>(p[i]), static_cast<double>(q[i]),
                                       static_cast<double>(logs[i]), row + i);
      write_gradient(row + i, classes[i], normalisers[i], change, static_cast<double>(q[i]));
    }
  }

  // `change` is the derivative of the loss by the logarithm of p = 1 - q.
  void write_gradient(std::int64_t row, std::int64_t of_class, const Normaliser<T> &normaliser, double change,
                      double q) const {
    if (!problem_.gradient) return;
    normaliser.write_parts(output(row), problem_.columns, static_cast<Real>(-change));
    store(output(row) + of_class, static_cast<Real>(change * q));
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
