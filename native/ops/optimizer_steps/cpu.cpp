// AdamW on the CPU: each element is read and written once.
#include "cpu/exponential.h"
#include "cpu/root.h"
#include "ops/optimizer_steps/optimizer_steps.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kElementsPerPiece = 1 << 14;
constexpr float kLargest = 3.40282347e38f;

typedef std::uint16_t ShortVector __attribute__((vector_size(kLanes * sizeof(std::uint16_t))));

// Vectors of float, or single doubles.
template <typename Real>
struct Parts {
  using Value = Vector;
  static constexpr int kCount = kLanes;
  static Value read(const float *from) { return load(from); }
  static void write(float *to, Value value) { store(to, value); }
  // bfloat16 has the upper half of the bits of a float.
  static Value read(const std::uint16_t *from) {
    ShortVector halves;
    std::memcpy(&halves, from, sizeof halves);
    return reinterpret_cast<Vector>(__builtin_convertvector(halves, UnsignedVector) << 16);
  }
  static bool all(IntVector choice) { return lane_bits(choice) == (1u << kLanes) - 1; }
  static Value root(Value x) { return MLUOPS_LEVEL::root(x); }
};

template <>
struct Parts<double> {
  using Value = double;
  static constexpr int kCount = 1;
  static Value read(const double *from) { return *from; }
  static void write(double *to, Value value) { *to = value; }
  static bool all(bool choice) { return choice; }
  static Value root(Value x) { return __builtin_sqrt(x); }
};

// To nearest, ties to even; NaN stays NaN.
void write_rounded(std::uint16_t *to, Vector value) {
  const UnsignedVector bits = reinterpret_cast<UnsignedVector>(value);
  const UnsignedVector nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, quiet = (bits >> 16) | 0x40u;
  const ShortVector found = __builtin_convertvector(value == value ? nearest : quiet, ShortVector);
  std::memcpy(to, &found, sizeof found);
}

// What all elements share.
template <typename Real>
struct Rates {
  explicit Rates(const AdamWNumbers &n)
      : keep_momentum(static_cast<Real>(n.beta1)),
        add_momentum(static_cast<Real>(1 - n.beta1)),
        keep_velocity(static_cast<Real>(n.beta2)),
        add_velocity(static_cast<Real>(1 - n.beta2)),
        per_grad(static_cast<Real>(1 / n.grad_scale)),
        length(static_cast<Real>(n.lr / n.bias1)),
        per_root(static_cast<Real>(__builtin_sqrt(1 / n.bias2))),
        epsilon(static_cast<Real>(n.epsilon)),
        decay(static_cast<Real>(n.lr * n.weight_decay)),
        keep_param(static_cast<Real>(1 - n.lr * n.weight_decay)) {}
  Real keep_momentum, add_momentum, keep_velocity, add_velocity, per_grad, length, per_root, epsilon;
  Real decay, keep_param;
};

// Elements in groups; the last ones are moved to a whole group of zeros.
template <typename Real, typename Grad, bool kKeeps>
class Update {
  using P = Parts<Real>;
  using Value = typename P::Value;
  static constexpr bool kRounds = sizeof(Grad) < sizeof(Real);

 public:
  Update(const AdamWProblem &problem, const AdamWNumbers &numbers)
      : rates_(numbers),
        param_(static_cast<Real *>(problem.param)),
        momentum_(static_cast<Real *>(problem.momentum)),
        velocity_(static_cast<Real *>(problem.velocity)),
        grad_(static_cast<const Grad *>(problem.grad)),
        rounded_(problem.rounded) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    for_slices(begin, end, [&](std::int64_t first, std::int64_t last) {
      std::int64_t i = first;
      for (; i + P::kCount <= last; i += P::kCount)
        update(param_ + i, momentum_ + i, velocity_ + i, grad_ + i, kRounds ? rounded_ + i : nullptr);
      if (i < last) update_some(i, last - i);
    });
  }

 private:
  void update_some(std::int64_t first, std::int64_t count) const {
    Real param[P::kCount] = {}, momentum[P::kCount] = {}, velocity[P::kCount] = {};
    Grad grad[P::kCount] = {};
    std::uint16_t rounded[P::kCount];
    copy(param, param_ + first, count);
    copy(momentum, momentum_ + first, count);
    copy(velocity, velocity_ + first, count);
    copy(grad, grad_ + first, count);
    update(param, momentum, velocity, grad, rounded);
    copy(param_ + first, param, count);
    copy(momentum_ + first, momentum, count);
    copy(velocity_ + first, velocity, count);
    if constexpr (kRounds) copy(rounded_ + first, rounded, count);
  }

  template <typename T>
  static void copy(T *to, const T *from, std::int64_t count) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  }

  void update(Real *param, Real *momentum, Real *velocity, const Grad *grad, std::uint16_t *rounded) const {
    const Rates<Real> &r = rates_;
    const Value p = P::read(param), m = P::read(momentum), v = P::read(velocity), g = P::read(grad) * r.per_grad;
    Value next_m = m * r.keep_momentum + g * r.add_momentum;
    Value next_v = v * r.keep_velocity + g * r.add_velocity * g;
    const Value kept = kRounds ? p - p * r.decay : p * r.keep_param;  // these differ for infinities
    // The root first: next_v / bias2 is infinite for gradients of 2e19.
    Value next = kept - next_m * r.length / (P::root(next_v) * r.per_root + r.epsilon);
    if constexpr (kKeeps) {
      auto some = next - next == 0;
      if (__builtin_expect(!P::all(some), 0)) {
        some = some | (next_m - next_m == 0) | (next_v - next_v == 0);
        next = choose(some, next, p);
        next_m = choose(some, next_m, m);
        next_v = choose(some, next_v, v);
      }
    }
    P::write(param, next);
    P::write(momentum, next_m);
    P::write(velocity, next_v);
    if constexpr (kRounds) write_rounded(rounded, next);
  }

  const Rates<Real> rates_;
  Real *const param_, *const momentum_, *const velocity_;
  const Grad *const grad_;
  std::uint16_t *const rounded_;
};

template <typename Real, typename Grad, bool kKeeps>
void run(const AdamWProblem &problem, const AdamWNumbers &numbers) {
  Update<Real, Grad, kKeeps> update(problem, numbers);
  parallel_for(problem.count, larger(kElementsPerPiece, problem.count / 32), update);
}

template <typename Real>
void run_alike(const AdamWProblem &problem, const AdamWNumbers &numbers) {
  problem.keeps ? run<Real, Real, true>(problem, numbers) : run<Real, Real, false>(problem, numbers);
}

}  // namespace

mluOpStatus_t adam_w(const AdamWProblem &problem) {
  AdamWNumbers numbers = problem.numbers;
  if (problem.rounded != nullptr) {
    run<float, std::uint16_t, false>(problem, numbers);
    return MLUOP_STATUS_SUCCESS;
  }
  if (problem.step == nullptr) {
    problem.is_double ? run_alike<double>(problem, numbers) : run_alike<float>(problem, numbers);
    return MLUOP_STATUS_SUCCESS;
  }
  const float step = read_once(problem.step), next = step + 1.0f;
  numbers.bias1 = 1 - __builtin_pow(numbers.beta1, static_cast<double>(step));
  numbers.bias2 = 1 - __builtin_pow(numbers.beta2, static_cast<double>(step));
  run_alike<float>(problem, numbers);
  if (!interrupted()) *problem.step = next > kLargest ? kLargest : next;
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_adam_w, adam_w, AdamWProblem, problem.function);
