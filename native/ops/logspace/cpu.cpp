// Powers with evenly spaced exponents on the CPU, computed in double and rounded to float first.
#include "cpu/half.h"
#include "cpu/tiles.h"
#include "ops/logspace/logspace.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kGrain = 1 << 13, kBlock = 256;

// 2^x for x from -1000 to 1000: 2^n times a series of 2^f, f from -1/2 to 1/2. The error is 2^-51
// of the result.
inline DoubleVector power_of_two(DoubleVector x) {
  typedef std::uint64_t Bits __attribute__((vector_size(kDoubleLanes * sizeof(std::uint64_t))));
  // log(2)^k / k!, from k = 13 down.
  static constexpr double kSeries[] = {1.3691488853904128881e-12, 2.5678435993488205142e-11,
                                       4.4455382718708114976e-10, 7.0549116208011233299e-09,
                                       1.0178086009239699728e-07, 1.3215486790144309489e-06,
                                       1.5252733804059840280e-05, 1.5403530393381609954e-04,
                                       1.3333558146428443423e-03, 9.6181291076284771620e-03,
                                       5.5504108664821579953e-02, 2.4022650695910071233e-01,
                                       6.9314718055994530942e-01, 1.0};
  // Adding this and taking it away rounds to the next whole number, which the last bits of the sum
  // are.
  constexpr double kRound = 6755399441055744.0;
  const DoubleVector shifted = x + kRound, rest = x - (shifted - kRound);
  DoubleVector sum = kSeries[0] - DoubleVector{};
  for (int i = 1; i < 14; ++i) sum = sum * rest + kSeries[i];
  return sum * reinterpret_cast<DoubleVector>((reinterpret_cast<Bits>(shifted) + 1023) << 52);
}

inline void put(float *to, float value) { *to = value; }
inline void put(Half *to, float value) { *to = to_half(value); }
// Towards 0, within the range of the type; NaN gives 0.
inline void put(std::int32_t *to, float value) {
  const bool inside = value > -2147483648.0f && value < 2147483648.0f;
  *to = inside ? static_cast<std::int32_t>(value) : value >= 2147483648.0f ? INT32_MAX : value < 0 ? INT32_MIN : 0;
}

template <typename T>
class Powers {
 public:
  explicit Powers(const LogspaceProblem &problem) : p_(problem) {
    if (p_.steps > 1) step_ = (p_.end - p_.start) / static_cast<double>(p_.steps - 1);
    const double base = static_cast<double>(p_.base);
    plain_ = base > 0 && base < __builtin_inf() && is_finite(p_.start) && is_finite(p_.end);
    if (plain_) log_ = __builtin_log2(base);
  }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (; begin < end; begin += kBlock) {
      const std::int64_t count = smaller(kBlock, end - begin);
      if (poll.interrupted(count)) return;
      float found[kBlock];
      if (plain_)
        plain(begin, count, found);
      else
        for (std::int64_t i = 0; i < count; ++i) found[i] = __builtin_powf(p_.base, static_cast<float>(at(begin + i)));
      for (std::int64_t i = 0; i < count; ++i) put(static_cast<T *>(p_.result) + begin + i, found[i]);
    }
  }

 private:
  static bool is_finite(double value) { return value - value == 0; }

  // The first half is counted from the start, the second from the end, so that both are met.
  double at(std::int64_t i) const {
    return i < p_.steps / 2 || p_.steps == 1 ? p_.start + step_ * static_cast<double>(i)
                                             : p_.end - step_ * static_cast<double>(p_.steps - 1 - i);
  }

  void plain(std::int64_t first, std::int64_t count, float *found) const {
    for (std::int64_t i = 0; i < count; i += kDoubleLanes) {
      DoubleVector exponent;
      for (int lane = 0; lane < kDoubleLanes; ++lane) exponent[lane] = at(smaller(first + i + lane, p_.steps - 1));
      exponent *= log_;
      exponent = exponent > 1000.0 ? 1000.0 - DoubleVector{} : exponent < -1000.0 ? -1000.0 - DoubleVector{} : exponent;
      const DoubleVector power = power_of_two(exponent);
      for (int lane = 0; lane < kDoubleLanes; ++lane) found[i + lane] = static_cast<float>(power[lane]);
    }
  }

  const LogspaceProblem &p_;
  double step_ = 0, log_ = 0;
  bool plain_;
};

template <typename T>
void fill(const LogspaceProblem &problem) {
  Powers<T> powers(problem);
  parallel_for(problem.steps, kGrain, powers);
}

}  // namespace

mluOpStatus_t logspace(const LogspaceProblem &problem) {
  if (problem.dtype == MLUOP_DTYPE_INT32)
    fill<std::int32_t>(problem);
  else if (problem.dtype == MLUOP_DTYPE_HALF)
    fill<Half>(problem);
  else
    fill<float>(problem);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_logspace, logspace, LogspaceProblem, problem.function);
