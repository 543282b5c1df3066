// Focal losses of sigmoids on the CPU: half in float, and double. All values are first computed as
// those of columns that are not the class of their row; there are few others.
#include "ops/focal_loss/cpu_exponential.h"
#include "ops/focal_loss/focal_loss.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kValuesPerPiece = 16384;

// What one value is.
class Formula {
 public:
  explicit Formula(const SigmoidFocalLossProblem &problem)
      : gradient_(problem.gradient), alpha_(problem.alpha), gamma_(problem.gamma), power_(problem.gamma) {}

  Vector of(Vector x, bool is_class) const { return value<Vector, float>(x, is_class); }
  double of(double x, bool is_class) const { return value<double, double>(x, is_class); }

 private:
  template <typename Value, typename Real>
  Value value(Value x, bool is_class) const {
    const Real alpha = static_cast<Real>(is_class ? -alpha_ : alpha_ - 1), gamma = static_cast<Real>(gamma_);
    const Sigmoid<Value> s(x);
    const Value log = at_least_least(is_class ? s.log_p : s.log_q);
    const Value factor = alpha * (is_class ? power_.of(s.q, s.log_q) : power_.of(s.p, s.log_p));
    if (!gradient_) return factor * log;
    return factor * (is_class ? s.q - gamma * s.p * log : gamma * s.q * log - s.p);
  }

  const bool gradient_;
  const double alpha_, gamma_;
  const Power power_;
};

template <typename T>
class Rows {
 public:
  explicit Rows(const SigmoidFocalLossProblem &problem)
      : problem_(problem),
        formula_(problem),
        input_(static_cast<const T *>(problem.input)),
        weight_(static_cast<const T *>(problem.weight)),
        grad_(static_cast<const T *>(problem.grad_output)),
        output_(static_cast<T *>(problem.output)) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t columns = problem_.columns, step = kValuesPerPiece / columns + 1;
    for (std::int64_t first = begin; first < end && !interrupted(); first += step) {
      const std::int64_t last = smaller(first + step, end);
      if (weight_ == nullptr) {
        if (!compute_others(first * columns, last * columns, 1)) return;
      } else {
        for (std::int64_t row = first; row < last; ++row) {
          if (!compute_others(row * columns, (row + 1) * columns, factor_of(class_of(row)))) return;
        }
      }
      compute_classes(first, last);
    }
  }

 private:
  // The column of a row's class; -1 if there is none.
  std::int64_t class_of(std::int64_t row) const {
    const std::int64_t number = read_once(problem_.target + row);
    return number >= 0 && number < problem_.columns ? number : -1;
  }

  float factor_of(std::int64_t of_class) const {
    return weight_ == nullptr || of_class < 0 ? 1.0f : to_float(weight_[of_class]);
  }

  static Vector load_some(const T *from, std::int64_t count) {
    if (count >= kLanes) return load(from);
    Vector values{};
    for (std::int64_t i = 0; i < count; ++i) values[i] = to_float(from[i]);
    return values;
  }

  // False if the call was interrupted.
  bool compute_others(std::int64_t begin, std::int64_t end, float factor) const {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end; i += kLanes) {
      if (poll.interrupted(4 * kLanes)) return false;
      const std::int64_t count = end - i;
      Vector values = formula_.of(load_some(input_ + i, count), false) * factor;
      if (grad_ != nullptr) values *= load_some(grad_ + i, count);
      if (count >= kLanes) {
        store(output_ + i, values);
      } else {
        for (std::int64_t j = 0; j < count; ++j) store(output_ + i + j, values[j]);
      }
    }
    return true;
  }

  // Values of the columns that are classes, many rows at a time.
  void compute_classes(std::int64_t begin, std::int64_t end) const {
    std::int64_t place[kLanes];
    float factor[kLanes];
    int count = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t of_class = class_of(row);
      if (of_class >= 0) {
        factor[count] = factor_of(of_class);
        place[count++] = row * problem_.columns + of_class;
      }
      if (count == kLanes || (row + 1 == end && count > 0)) {
        Vector x{};
        for (int i = 0; i < count; ++i) x[i] = to_float(input_[place[i]]);
        const Vector values = formula_.of(x, true);
        for (int i = 0; i < count; ++i) {
          float value = values[i] * factor[i];
          if (grad_ != nullptr) value *= to_float(grad_[place[i]]);
          store(output_ + place[i], value);
        }
        count = 0;
      }
    }
  }

  const SigmoidFocalLossProblem &problem_;
  const Formula formula_;
  const T *const input_;
  const T *const weight_;
  const T *const grad_;
  T *const output_;
};

class DoubleRows {
 public:
  explicit DoubleRows(const SigmoidFocalLossProblem &problem) : problem_(problem), formula_(problem) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    const double *const input = static_cast<const double *>(problem_.input);
    const double *const weight = static_cast<const double *>(problem_.weight);
    const double *const grad = static_cast<const double *>(problem_.grad_output);
    double *const output = static_cast<double *>(problem_.output);
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t of_class = read_once(problem_.target + row);
      const bool weighted = weight != nullptr && of_class >= 0 && of_class < problem_.columns;
      const double factor = weighted ? weight[of_class] : 1;
      for (std::int64_t column = 0; column < problem_.columns; ++column) {
        if (poll.interrupted(16)) return;
        const std::int64_t i = row * problem_.columns + column;
        const double value = formula_.of(input[i], column == of_class) * factor;
        output[i] = grad == nullptr ? value : value * grad[i];
      }
    }
  }

 private:
  const SigmoidFocalLossProblem &problem_;
  const Formula formula_;
};

template <typename Body>
mluOpStatus_t run(const SigmoidFocalLossProblem &problem) {
  Body body(problem);
  parallel_for(problem.rows, kValuesPerPiece / problem.columns + 1, body);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t sigmoid_focal_loss(const SigmoidFocalLossProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return run<DoubleRows>(problem);
  return problem.type == MLUOP_DTYPE_HALF ? run<Rows<Half>>(problem) : run<Rows<float>>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_sigmoid_focal_loss, sigmoid_focal_loss, SigmoidFocalLossProblem, problem.function);
