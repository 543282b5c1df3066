// The parts that focal losses are made of.
#ifndef MLUOPS_OPS_FOCAL_LOSS_CPU_EXPONENTIAL_H_
#define MLUOPS_OPS_FOCAL_LOSS_CPU_EXPONENTIAL_H_

#include "cpu/exponential.h"

namespace mluops {
namespace MLUOPS_LEVEL {

static inline Vector at_least_least(Vector x) { return x < kLeastLog ? all_lanes(kLeastLog) : x; }
static inline double at_least_least(double x) { return x < kLeastLogDouble ? kLeastLogDouble : x; }

// base^gamma, where the base is at most 1 and its logarithm is known.
class Power {
 public:
  explicit Power(double gamma) : gamma_(gamma) {}

  template <typename Value>
  Value of(Value base, Value log) const {
    if (gamma_ == 2) return base * base;
    if (gamma_ == 0) return base == base ? one(base) : base;
    const Value power = exponential(times(log));
    return choose(base == 0.0f, base - base, power);  // 0 * infinity is not 0
  }

 private:
  static Vector one(Vector) { return all_lanes(1.0f); }
  static double one(double) { return 1; }
  Vector times(Vector log) const { return log * static_cast<float>(gamma_); }
  double times(double log) const { return log * gamma_; }

  const double gamma_;
};

// sigmoid(x) and that of -x, with their logarithms.
template <typename Value>
struct Sigmoid {
  Value p, q, log_p, log_q;

  explicit Sigmoid(Value x) {
    const auto negative = x < 0.0f;
    const Value small = exponential(choose(negative, x, -x)), whole = small + 1.0f;
    const Value low = small / whole, high = 1.0f / whole, log = log_of_one_more(small);
    const Value zero = small - small;
    p = choose(negative, low, high);
    q = choose(negative, high, low);
    log_p = choose(negative, x, zero) - log;
    log_q = choose(negative, zero, -x) - log;
  }
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOCAL_LOSS_CPU_EXPONENTIAL_H_
