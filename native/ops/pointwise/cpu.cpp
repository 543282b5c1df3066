// Operators on each element on the CPU. Elements are computed in blocks that stay in the L1 cache,
// in float where they are smaller; a block that is already there in this type, side by side, is
// read where it is.
#include <type_traits>

#include "cpu/nontemporal.h"
#include "cpu/root.h"
#include "ops/pointwise/cpu_functions.h"
#include "ops/pointwise/pointwise.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlock = 1024;     // elements
constexpr std::int64_t kGrain = 1 << 15;  // elements of a piece of work
constexpr std::int64_t kLongRows = 4096;  // elements side by side that are worth non-temporal stores

struct Bfloat16 {
  std::uint16_t bits;
};
// A half or bfloat16 of which the sign is all that changes.
struct Signed16 {
  std::uint16_t bits;
};
struct Complex {
  float real, imaginary;
};

// ---- formulas, for `count` elements side by side; an input may be the output --------------------

// T: float, or half, which is computed in float.
template <typename T, typename Function>
inline void each_vector(const T *x, T *out, std::int64_t count, const Function &function) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, function(load(x + i)));
  if (i < count) store_some(out + i, function(load_some(x + i, count - i)), count - i);
}

template <typename T, typename Function>
inline void each_vector(const T *x, const T *y, T *out, std::int64_t count, const Function &function) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, function(load(x + i), load(y + i)));
  if (i < count) store_some(out + i, function(load_some(x + i, count - i), load_some(y + i, count - i)), count - i);
}

template <typename Function>
inline void each_vector(const double *x, const double *y, double *out, std::int64_t count, const Function &function) {
  for (std::int64_t i = 0; i < count; i += kDoubleLanes)
    store_some(out + i, function(load_some(x + i, count - i), load_some(y + i, count - i)), count - i);
}

// Of floats, computed in double.
template <typename Function>
inline void each_in_double(const float *x, float *out, std::int64_t count, const Function &function) {
  std::int64_t i = 0;
  for (; i + kDoubleLanes <= count; i += kDoubleLanes) narrow_doubles(out + i, function(widen_floats(x + i)));
  if (i == count) return;
  float rest[kDoubleLanes];
  for (int lane = 0; lane < kDoubleLanes; ++lane) rest[lane] = i + lane < count ? x[i + lane] : 1.0f;
  narrow_doubles(rest, function(widen_floats(rest)));
  for (int lane = 0; i + lane < count; ++lane) out[i + lane] = rest[lane];
}

struct Abs {
  static constexpr bool kVectors = false;
  static void of(const Signed16 *x, const Signed16 *, Signed16 *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i].bits = x[i].bits & 0x7fffu;
  }
  static void of(const float *x, const float *, float *out, std::int64_t count) {
    each_vector(x, out, count, [](Vector value) {
      return reinterpret_cast<Vector>(reinterpret_cast<UnsignedVector>(value) & 0x7fffffffu);
    });
  }
  static void of(const double *x, const double *, double *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = __builtin_fabs(x[i]);
  }
  // The least integer stays what it is.
  static void of(const std::int32_t *x, const std::int32_t *, std::int32_t *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const UnsignedVector value = reinterpret_cast<UnsignedVector>(load_some(x + i, count - i));
      const UnsignedVector sign = reinterpret_cast<UnsignedVector>(reinterpret_cast<IntVector>(value) >> 31);
      store_some(out + i, reinterpret_cast<IntVector>((value ^ sign) - sign), count - i);
    }
  }
  // Squares of floats do not overflow in double. An infinite part decides, whatever the other is.
  static void of(const Complex *x, const Complex *, float *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double real = static_cast<double>(x[i].real), imaginary = static_cast<double>(x[i].imaginary);
      const bool infinite = __builtin_fabs(real) == kInfinity || __builtin_fabs(imaginary) == kInfinity;
      const double size = __builtin_sqrt(real * real + imaginary * imaginary);
      // A compiler takes a root for positive, but NaN may have a sign.
      out[i] = bits_to_float(float_to_bits(static_cast<float>(infinite ? kInfinity : size)) & 0x7fffffffu);
    }
  }
};

struct Sqrt {
  static constexpr bool kVectors = true;
  template <typename T>
  static void of(const T *x, const T *, T *out, std::int64_t count) {
    each_vector(x, out, count, [](Vector value) { return root(value); });
  }
  static void of(const double *x, const double *, double *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = __builtin_sqrt(x[i]);
  }
};

struct SqrtBackward {
  static constexpr bool kVectors = true;
  template <typename T>
  static void of(const T *y, const T *dy, T *out, std::int64_t count) {
    each_vector(y, dy, out, count, [](Vector of, Vector gradient) { return (0.5f * gradient) * (1.0f / of); });
  }
  static void of(const double *y, const double *dy, double *out, std::int64_t count) {
    each_vector(y, dy, out, count,
                [](DoubleVector of, DoubleVector gradient) { return (0.5 * gradient) * (1.0 / of); });
  }
};

struct LogE {
  static constexpr bool kVectors = true;
  template <typename T>
  static void of(const T *x, const T *, T *out, std::int64_t count) {
    each_vector(x, out, count, [](Vector value) { return log_of_floats(value); });
  }
  static void of(const double *x, const double *, double *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = __builtin_log(x[i]);
  }
};

template <typename Base>
struct Log {
  static constexpr bool kVectors = false;
  static void of(const float *x, const float *, float *out, std::int64_t count) {
    each_in_double(x, out, count, [](DoubleVector value) { return log_of<Base>(value); });
  }
  static void of(const double *x, const double *, double *out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = Base::of(x[i]);
  }
};

struct Div {
  static constexpr bool kVectors = true;
  template <typename T>
  static void of(const T *x, const T *y, T *out, std::int64_t count) {
    each_vector(x, y, out, count, [](Vector a, Vector b) { return a / b; });
  }
  static void of(const double *x, const double *y, double *out, std::int64_t count) {
    each_vector(x, y, out, count, [](DoubleVector a, DoubleVector b) { return a / b; });
  }
};

struct Lgamma {
  static constexpr bool kVectors = false;
  static void of(const float *x, const float *, float *out, std::int64_t count) {
    bool negative = false;
    for (std::int64_t i = 0; i < count; ++i) negative |= x[i] < 0;
    if (negative)
      each_in_double(x, out, count, [](DoubleVector value) { return lgamma_of<true>(value); });
    else
      each_in_double(x, out, count, [](DoubleVector value) { return lgamma_of<false>(value); });
  }
  static void of(const double *x, const double *, double *out, std::int64_t count) {
    int sign;
    for (std::int64_t i = 0; i < count; ++i) out[i] = __builtin_lgamma_r(x[i], &sign);
  }
};

// ---- types --------------------------------------------------------------------------------------

inline float widen_bfloat16(Bfloat16 value) { return bits_to_float(static_cast<std::uint32_t>(value.bits) << 16); }

inline Bfloat16 to_bfloat16(float value) {
  const std::uint32_t bits = float_to_bits(value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

// What elements are computed in.
template <typename T>
struct Computed {
  typedef T Type;
  static T from(T value) { return value; }
  static T to(T value) { return value; }
};
template <>
struct Computed<Half> {
  typedef float Type;
  static float from(Half value) { return to_float(value); }
  static Half to(float value) { return to_half(value); }
};
template <>
struct Computed<Bfloat16> {
  typedef float Type;
  static float from(Bfloat16 value) { return widen_bfloat16(value); }
  static Bfloat16 to(float value) { return to_bfloat16(value); }
};
// Integers whose results are floats.
struct Whole {
  std::int32_t value;
};
template <>
struct Computed<Whole> {
  typedef float Type;
  static float from(Whole whole) { return static_cast<float>(whole.value); }
};

template <typename T, typename Value>
void gather(const T *from, std::int64_t stride, Value *to, std::int64_t count) {
  if (stride == 0) {
    const Value value = Computed<T>::from(*from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = value;
  } else if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = Computed<T>::from(from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = Computed<T>::from(from[i * stride]);
  }
}
inline void gather(const Half *from, std::int64_t stride, float *to, std::int64_t count) {
  if (stride == 1) return load_row(from, to, count);
  gather<Half, float>(from, stride, to, count);
}
inline void gather(const Half *from, std::int64_t stride, Half *to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

template <typename T, typename Value>
void scatter(const Value *from, T *to, std::int64_t stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * stride] = Computed<T>::to(from[i]);
}
inline void scatter(const float *from, Half *to, std::int64_t stride, std::int64_t count) {
  if (stride == 1) return store_row(to, from, count);
  scatter<Half, float>(from, to, stride, count);
}
inline void scatter(const Half *from, Half *to, std::int64_t stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * stride] = from[i];
}

// ---- walking over the elements ------------------------------------------------------------------

// kDirect: the formula takes the elements in their type.
template <typename F, typename In, typename Out, bool kDirect = false>
class Walk {
 public:
  explicit Walk(const PointwiseProblem &problem) : p_(problem), inner_(problem.dims[problem.rank - 1]) {
    const std::int64_t bytes = problem.count * static_cast<std::int64_t>(sizeof(Out));
    streams_ = inner_ >= kLongRows && stride(problem.operands - 1) == 1 && bytes >= streaming_bytes();
  }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    while (begin < end) {
      std::int64_t place[kMostOperands];
      find(begin / inner_, place);
      const std::int64_t first = begin % inner_, last = smaller(inner_, first + (end - begin));
      for (std::int64_t i = first; i < last;) {
        const std::int64_t count = smaller(length(place[p_.operands - 1] + i), last - i);
        if (poll.interrupted(count)) return;
        block(place, i, count);
        i += count;
      }
      begin += last - first;
    }
    if (streams_) nontemporal_fence();
  }

 private:
  typedef typename std::conditional<kDirect, In, typename Computed<In>::Type>::type InValue;
  typedef typename std::conditional<kDirect, Out, typename Computed<Out>::Type>::type OutValue;

  std::int64_t stride(int operand) const { return p_.strides[operand][p_.rank - 1]; }

  // The places where a row begins.
  void find(std::int64_t row, std::int64_t *place) const {
    for (int k = 0; k < p_.operands; ++k) place[k] = 0;
    for (int dim = p_.rank - 2; dim >= 0; --dim) {
      const std::int64_t index = row % p_.dims[dim];
      row /= p_.dims[dim];
      for (int k = 0; k < p_.operands; ++k) place[k] += index * p_.strides[k][dim];
    }
  }

  // Elements of a block; blocks that are streamed end where a cache line ends.
  std::int64_t length(std::int64_t at) const {
    if (!streams_) return kBlock;
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(static_cast<Out *>(p_.out) + at);
    return kBlock - static_cast<std::int64_t>(address % kCacheLine / sizeof(Out));
  }

  const InValue *input(int k, const std::int64_t *place, std::int64_t at, std::int64_t count, InValue *room) const {
    const In *const from = static_cast<const In *>(p_.in[k]) + place[k] + at * stride(k);
    if constexpr (std::is_same<In, InValue>::value) {
      if (stride(k) == 1) return from;
    }
    gather(from, stride(k), room, count);
    return room;
  }

  void block(const std::int64_t *place, std::int64_t at, std::int64_t count) const {
    alignas(kCacheLine) InValue first[kBlock], second[kBlock];
    alignas(kCacheLine) OutValue found[kBlock];
    const InValue *const x = input(0, place, at, count, first);
    const InValue *const y = p_.operands == 3 ? input(1, place, at, count, second) : nullptr;
    const int last = p_.operands - 1;
    Out *const to = static_cast<Out *>(p_.out) + place[last] + at * stride(last);
    if constexpr (std::is_same<Out, OutValue>::value) {
      if (stride(last) == 1 && !streams_) return F::of(x, y, to, count);
    }
    F::of(x, y, found, count);
    if (!streams_) return scatter(found, to, stride(last), count);
    if constexpr (std::is_same<Out, OutValue>::value) {
      copy_nontemporal(to, found, static_cast<std::size_t>(count) * sizeof(Out));
    } else {
      alignas(kCacheLine) Out narrow[kBlock];
      scatter(found, narrow, 1, count);
      copy_nontemporal(to, narrow, static_cast<std::size_t>(count) * sizeof(Out));
    }
  }

  const PointwiseProblem &p_;
  const std::int64_t inner_;
  bool streams_;
};

template <typename F, typename In, typename Out, bool kDirect = false>
void walk(const PointwiseProblem &problem) {
  Walk<F, In, Out, kDirect> body(problem);
  parallel_for(problem.count, kGrain, body);
}

template <typename F>
void walk_floating(const PointwiseProblem &problem) {
  if (problem.in_type == MLUOP_DTYPE_DOUBLE) return walk<F, double, double>(problem);
  if constexpr (F::kVectors) {
    if (problem.in_type == MLUOP_DTYPE_HALF) return walk<F, Half, Half, true>(problem);
  } else {
    if (problem.in_type == MLUOP_DTYPE_HALF) return walk<F, Half, Half>(problem);
  }
  walk<F, float, float>(problem);
}

void walk_abs(const PointwiseProblem &problem) {
  if (problem.in_type == MLUOP_DTYPE_INT32) return walk<Abs, std::int32_t, std::int32_t>(problem);
  if (problem.in_type == MLUOP_DTYPE_COMPLEX_FLOAT) return walk<Abs, Complex, float>(problem);
  if (problem.in_type == MLUOP_DTYPE_DOUBLE) return walk<Abs, double, double>(problem);
  if (problem.in_type == MLUOP_DTYPE_FLOAT) return walk<Abs, float, float>(problem);
  walk<Abs, Signed16, Signed16>(problem);
}

void walk_sqrt(const PointwiseProblem &problem) {
  if (problem.in_type == MLUOP_DTYPE_INT32) return walk<Sqrt, Whole, float>(problem);
  if (problem.in_type == MLUOP_DTYPE_BFLOAT16) return walk<Sqrt, Bfloat16, Bfloat16>(problem);
  walk_floating<Sqrt>(problem);
}

}  // namespace

mluOpStatus_t pointwise(const PointwiseProblem &problem) {
  switch (problem.formula) {
    case Formula::kAbs:
      walk_abs(problem);
      break;
    case Formula::kSqrt:
      walk_sqrt(problem);
      break;
    case Formula::kSqrtBackward:
      walk_floating<SqrtBackward>(problem);
      break;
    case Formula::kLogE:
      walk_floating<LogE>(problem);
      break;
    case Formula::kLog2:
      walk_floating<Log<Base2>>(problem);
      break;
    case Formula::kLog10:
      walk_floating<Log<Base10>>(problem);
      break;
    case Formula::kDiv:
      walk_floating<Div>(problem);
      break;
    case Formula::kLgamma:
      walk_floating<Lgamma>(problem);
      break;
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_pointwise, pointwise, PointwiseProblem, problem.function);
