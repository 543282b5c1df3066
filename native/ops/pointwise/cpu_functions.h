// Logarithms, and logarithms of the gamma function, of many floats at once. They are computed in
// double, of which the rounding to float is nearly all of the error.
#ifndef MLUOPS_OPS_POINTWISE_CPU_FUNCTIONS_H_
#define MLUOPS_OPS_POINTWISE_CPU_FUNCTIONS_H_

#include "cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

typedef std::uint64_t DoubleBits __attribute__((vector_size(kDoubleLanes * sizeof(std::uint64_t))));
typedef float FloatsOfDoubles __attribute__((vector_size(kDoubleLanes * sizeof(float))));

constexpr double kInfinity = __builtin_inf(), kNaN = __builtin_nan("");

inline DoubleVector all_doubles(double value) { return value - DoubleVector{}; }

inline DoubleVector widen_floats(const float *from) {
  FloatsOfDoubles values;
  std::memcpy(&values, from, sizeof values);
  return __builtin_convertvector(values, DoubleVector);
}

inline void narrow_doubles(float *to, DoubleVector values) {
  const FloatsOfDoubles narrow = __builtin_convertvector(values, FloatsOfDoubles);
  std::memcpy(to, &narrow, sizeof narrow);
}

// The value of a polynomial whose first coefficient is that of the highest power.
template <int kCount>
inline DoubleVector polynomial(DoubleVector x, const double (&coefficients)[kCount]) {
  DoubleVector sum = all_doubles(coefficients[0]);
  for (int i = 1; i < kCount; ++i) sum = sum * x + coefficients[i];
  return sum;
}

// x = 2^exponent * (1 + fraction) for positive normal x, the fraction from sqrt(1/2) - 1 to
// sqrt(2) - 1; `log` is that of 1 + fraction.
struct Logarithm {
  DoubleVector exponent, log;

  // Terms of the series: 7 give 2^-39, 10 give all of double.
  template <int kTerms>
  [[gnu::always_inline]] static Logarithm of(DoubleVector x) {
    constexpr std::uint64_t kOne = 0x3ff0000000000000u, kRootOfHalf = 0x3fe6a09e667f3bcdu;
    const DoubleBits bits = reinterpret_cast<DoubleBits>(x), shifted = bits + (kOne - kRootOfHalf),
                     power = shifted >> 52;
    // 2^52 + n has the bits of n at its end.
    const DoubleVector whole = reinterpret_cast<DoubleVector>(power | 0x4330000000000000u);
    const DoubleVector part = reinterpret_cast<DoubleVector>(bits - (power << 52) + kOne) - 1.0;
    const DoubleVector s = part / (part + 2.0), z = s * s, twice = s + s;
    DoubleVector sum = all_doubles(1.0 / (2 * kTerms + 1));
    for (int k = kTerms - 1; k > 0; --k) sum = sum * z + 1.0 / (2 * k + 1);
    return {whole - (4503599627370496.0 + 1023.0), twice + twice * (sum * z)};
  }
};

constexpr double kLog2 = 0.69314718055994530942;

template <int kTerms>
inline DoubleVector natural_log(DoubleVector x) {
  const Logarithm parts = Logarithm::of<kTerms>(x);
  return parts.exponent * kLog2 + parts.log;
}

// For floats, 1 + part = (1 + rest) / inverse with one of 16 inverses, so that rest is small. An
// inverse is a float whose logarithm is a multiple of 2^-17, but for 2^-32: its sum with a whole
// exponent times log(2), of which 17 bits are behind the point, is exact. That of 1 is 1.
alignas(kCacheLine) constexpr float kInverse[16] = {
    0x1.656f92p+0f, 0x1.572d3ap+0f, 0x1.49b86p+0f,  0x1.3c3818p+0f, 0x1.303762p+0f, 0x1.25d36ap+0f,
    0x1.1ad1dap+0f, 0x1.126834p+0f, 0x1.084896p+0f, 1.0f,           0x1.eca60cp-1f, 0x1.ca474ep-1f,
    0x1.b2f40cp-1f, 0x1.9c190ap-1f, 0x1.87ab66p-1f, 0x1.75a016p-1f,
};
constexpr float multiple(int n) { return static_cast<float>(n) / 131072.0f; }
alignas(kCacheLine) constexpr float kLogOfInverse[16] = {
    multiple(-43749), multiple(-38413), multiple(-33170), multiple(-27690), multiple(-22618),
    multiple(-18063), multiple(-13059), multiple(-9101),  multiple(-4174),  0.0f,
    multiple(5050),   multiple(14529),  multiple(21376),  multiple(28451),  multiple(35115),
    multiple(41297),
};

// table[index modulo 16] for each lane.
inline Vector lookup(const float (&table)[16], IntVector index) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_maskz_permutexvar_ps(kAllLanes, reinterpret_cast<__m512i>(index), reinterpret_cast<__m512>(load(table))));
#elif defined(__AVX2__)
  const __m256i places = reinterpret_cast<__m256i>(index);
  const __m256 first = _mm256_permutevar8x32_ps(_mm256_load_ps(table), places);
  const __m256 second = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), places);
  return reinterpret_cast<Vector>(
      _mm256_blendv_ps(first, second, reinterpret_cast<__m256>(_mm256_slli_epi32(places, 28))));
#else
  Vector found;
  for (int i = 0; i < kLanes; ++i) found[i] = table[index[i] & 15];
  return found;
#endif
}

// x = 2^exponent * (1 + rest) / inverse for positive normal x; rest is from -0.0288 to 0.045.
struct Reduced {
  Vector exponent, rest, log_of_inverse;

  static Reduced of(Vector x) {
    constexpr std::int32_t kLeast = 0x3f330000;  // 0.7; a 16th of 0.7 to 1.4 has 2^19 of the bits
    const IntVector bits = reinterpret_cast<IntVector>(x), above = bits - kLeast, power = above >> 23;
    const Vector scaled = reinterpret_cast<Vector>(bits - (power << 23));
    return {__builtin_convertvector(power, Vector),
            fused_multiply_add(scaled, lookup(kInverse, above >> 19), all_lanes(-1.0f)),
            lookup(kLogOfInverse, above >> 19)};
  }
};

// log(x) for positive normal x, in float; the error is below 0.9 units in the last place. `scaled`:
// 2^-exponent of what x was multiplied with.
inline Vector log_of_normal(Vector x, Vector scaled) {
  constexpr float kLog2High = 90852.0f / 131072.0f, kLog2Low = 1.42860682e-6f;
  const Reduced parts = Reduced::of(x);
  const Vector exponent = parts.exponent + scaled, rest = parts.rest;
  // (log(1 + rest) - rest) / rest^2; the error of the logarithm is below 2e-9 of it.
  Vector series = fused_multiply_add(rest, all_lanes(0.194972441f), all_lanes(-0.250162118f));
  series = fused_multiply_add(series, rest, all_lanes(0.333336471f));
  series = fused_multiply_add(series, rest, all_lanes(-0.499999975f));
  const Vector low = fused_multiply_add(exponent, all_lanes(kLog2Low), series * (rest * rest));
  const Vector high = fused_multiply_add(exponent, all_lanes(kLog2High), parts.log_of_inverse), sum = high + rest;
  return sum + ((high - sum + rest) + low);  // high is 0 or larger than rest: the sum loses nothing
}

// The same for any floats.
inline Vector log_of_floats(Vector x) {
  constexpr float kLeastNormal = 1.17549435e-38f, kInfinite = __builtin_inff();
  const IntVector others = ~((x >= kLeastNormal) & (x < kInfinite));
  if (__builtin_expect(lane_bits(others) == 0, true)) return log_of_normal(x, Vector{});
  const auto tiny = x < kLeastNormal;
  const Vector found = log_of_normal(tiny ? x * 8388608.0f : x, tiny ? all_lanes(-23.0f) : Vector{});
  const Vector below = x == 0.0f ? all_lanes(-kInfinite) : x < 0.0f ? all_lanes(__builtin_nanf("")) : x;
  return x > 0.0f ? (x < kInfinite ? found : x) : below;
}

// A float that is widened is normal, but for 0.
template <typename Base>
inline DoubleVector log_of(DoubleVector x) {
  const Logarithm parts = Logarithm::of<7>(x);
  const DoubleVector found = parts.exponent * Base::kOfTwo + parts.log * Base::kOfE;
  const DoubleVector below = x == 0.0 ? all_doubles(-kInfinity) : x < 0.0 ? all_doubles(kNaN) : x;
  return x > 0.0 ? (x < kInfinity ? found : x) : below;
}

struct Base2 {
  static constexpr double kOfTwo = 1, kOfE = 1.4426950408889634074;
  static double of(double x) { return __builtin_log2(x); }
};
struct Base10 {
  static constexpr double kOfTwo = 0.30102999566398119521, kOfE = 0.43429448190325182765;
  static double of(double x) { return __builtin_log10(x); }
};

// log(gamma(x)) / ((x - 1) * (x - 2)) from 1 to 2, by powers of x - 1.5; the error is 2^-56 of it.
constexpr double kBetweenZeros[] = {1.1820969445467145217e-05,  -1.8527803997032961357e-05, 1.3584275459130942424e-05,
                                    -2.1487702520625762706e-05, 4.2816428627947791919e-05,  -6.7937330273970465121e-05,
                                    0.00010541715222185904925,  -0.00016857179450351722231, 0.00027130273545114007501,
                                    -0.00043803516132580535874, 0.00071152027520512986139,  -0.0011644113772196050024,
                                    0.0019229162321227923268,   -0.0032120742206072906765,  0.0054464578422195529335,
                                    -0.0094256224448296490022,  0.016797098631213949559,    -0.031308487501053271819,
                                    0.062911401074564846288,    -0.14595989591430593792,    0.48312895054098088938};

// The same with an error of 2^-38.
constexpr double kBetweenZerosShort[] = {-0.000241615047648291734, 0.000386931878217243673, -0.000411204906719844622,
                                         0.000668933354957945147,  -0.00116913434920214645, 0.00193041790681301313,
                                         -0.00321165345797072678,  0.00544578938686796222,  -0.00942564015801071711,
                                         0.0167971267738142192,    -0.0313084872228461102,  0.0629114006325409205,
                                         -0.145959895915016411,    0.483128950542109646};

// Of Stirling's series, by powers of 1 / x^2; the last four give 2^-39 from 8 on.
constexpr double kStirling[] = {-3617.0 / 122400, 1.0 / 156,  -691.0 / 360360, 1.0 / 1188,
                                -1.0 / 1680,      1.0 / 1260, -1.0 / 360,      1.0 / 12};
constexpr double kStirlingShort[] = {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
constexpr double kHalfLogOfTwoPi = 0.91893853320467274178, kPi = 3.14159265358979323846;

// sin(pi * x) / x from -1/2 to 1/2, by powers of x^2.
constexpr double kSineOfPi[] = {5.3926646626081284894e-10,  -2.294842899726987311e-08, 7.9520540014755127848e-07,
                                -2.1915353447830215827e-05, 0.00046630280576761256442, -0.0073704309457143507773,
                                0.082145886611128228799,    -0.59926452932079207689,   2.5501640398773454439,
                                -5.1677127800499700292,     3.1415926535897932385};

// For x >= 0. Below 8 the argument is brought between 1 and 2, where the logarithm of gamma has its
// zeros as factors: gamma(x) = gamma(x - n) * (x - 1) * ... * (x - n). Nothing is subtracted then
// of which little remains, and 2^-37 is enough for floats; kExact: all of double, for what
// reflection makes of it.
template <bool kExact>
inline DoubleVector lgamma_of_positive(DoubleVector x) {
  const auto large = x >= 8.0, small = x < 1.0;
  DoubleVector product = all_doubles(1.0), between = small ? x + 1.0 : x;
  for (int j = 1; j < 7; ++j) {
    const auto more = x >= j + 1.0;
    product = more ? product * (x - static_cast<double>(j)) : product;
    between = more ? x - static_cast<double>(j) : between;
  }
  DoubleVector found;
  if constexpr (kExact)
    found = polynomial(between - 1.5, kBetweenZeros);
  else
    found = polynomial(between - 1.5, kBetweenZerosShort);
  found *= (between - 1.0) * (between - 2.0);
  const DoubleVector inverse = 1.0 / (large ? x : all_doubles(8.0));
  DoubleVector series;
  if constexpr (kExact)
    series = polynomial(inverse * inverse, kStirling);
  else
    series = polynomial(inverse * inverse, kStirlingShort);
  series = series * inverse + kHalfLogOfTwoPi - x;
  const DoubleVector factor = large ? x - 0.5 : small ? all_doubles(-1.0) : all_doubles(1.0);
  return (large ? series : found) + factor * natural_log<kExact ? 10 : 7>(large || small ? x : product);
}

// For any widened float; kNegative: some may be negative. gamma(x) * gamma(-x) is
// -pi / (x * sin(pi * x)).
template <bool kNegative>
inline DoubleVector lgamma_of(DoubleVector x) {
  const DoubleVector size = x < 0.0 ? -x : x;
  DoubleVector found = lgamma_of_positive<kNegative>(size);
  if constexpr (kNegative) {
    // Adding this and taking it away rounds to the next whole number.
    constexpr double kRound = 6755399441055744.0;
    const DoubleVector rest = size - ((size + kRound) - kRound), sine = polynomial(rest * rest, kSineOfPi) * rest;
    const DoubleVector mirrored = natural_log<10>(kPi / (size * (sine < 0.0 ? -sine : sine))) - found;
    // Floats from 2^23 on are whole.
    const auto pole = rest == 0.0 || size >= 8388608.0;
    found = x < 0.0 ? (pole ? all_doubles(kInfinity) : mirrored) : found;
  }
  return x == 0.0 || size == kInfinity ? all_doubles(kInfinity) : x != x ? x : found;
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINTWISE_CPU_FUNCTIONS_H_
