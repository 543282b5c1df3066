// Vectors of floats as wide as the instruction level allows: loads and stores, transposing squares,
// whole rows.
#ifndef MLUOPS_CPU_VECTOR_H_
#define MLUOPS_CPU_VECTOR_H_

#include "cpu/half.h"
#include "cpu/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mluops {
namespace MLUOPS_LEVEL {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

#if defined(__AVX512F__)
// GCC's unmasked conversion intrinsics read an uninitialised variable and warn about it; with a
// full mask they compile to the same instruction.
constexpr __mmask16 kAllLanes = 0xffff;
#endif

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int32_t IntVector __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
typedef std::uint32_t UnsignedVector __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));

static inline Vector load(const float *from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

static inline Vector load(const Half *from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
#elif defined(__F16C__)
  return reinterpret_cast<Vector>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
#else
  Vector vector;
  for (int i = 0; i < kLanes; ++i) vector[i] = to_float(from[i]);
  return vector;
#endif
}

static inline void store(float *to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }

static inline void store(std::int32_t *to, IntVector vector) { std::memcpy(to, &vector, sizeof vector); }

static inline void store(Half *to, Vector vector) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to),
                      _mm512_maskz_cvtps_ph(kAllLanes, reinterpret_cast<__m512>(vector), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                   _mm256_cvtps_ph(reinterpret_cast<__m256>(vector), _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < kLanes; ++i) to[i] = to_half(vector[i]);
#endif
}

// The value in every lane. Subtracting 0 is exact and folds away; adding 0 would change the sign of
// -0.
static inline Vector all_lanes(float value) { return value - Vector{}; }

// a * b + c, rounded once, on every level.
static inline Vector fused_multiply_add(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  return reinterpret_cast<Vector>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  Vector sum;
  for (int i = 0; i < kLanes; ++i) sum[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return sum;
#endif
}

// a > b ? a : b; b if one of them is NaN.
static inline Vector larger_lanes(Vector a, Vector b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_maskz_max_ps(kAllLanes, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(_mm256_max_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
#else
  return a > b ? a : b;
#endif
}

// Bit i is the sign of lane i: for the result of a comparison, whether it holds there.
static inline unsigned lane_bits(IntVector lanes) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
#elif defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#elif defined(__x86_64__)
  return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(lanes)));
#else
  unsigned bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= (lanes[i] < 0 ? 1u : 0u) << i;
  return bits;
#endif
}

// Values rounded to half, ties to even, and widened again.
static inline Vector round_to_half(Vector vector) {
#if defined(__AVX512F__)
  const __m256i halves = _mm512_maskz_cvtps_ph(kAllLanes, reinterpret_cast<__m512>(vector), _MM_FROUND_TO_NEAREST_INT);
  return reinterpret_cast<Vector>(_mm512_maskz_cvtph_ps(kAllLanes, halves));
#elif defined(__F16C__)
  const __m128i halves = _mm256_cvtps_ph(reinterpret_cast<__m256>(vector), _MM_FROUND_TO_NEAREST_INT);
  return reinterpret_cast<Vector>(_mm256_cvtph_ps(halves));
#else
  const UnsignedVector bits = reinterpret_cast<UnsignedVector>(vector);
  const UnsignedVector sign = bits & 0x80000000u;
  const UnsignedVector magnitude = bits & 0x7fffffffu;
  const UnsignedVector rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & ~0x1fffu;
  const UnsignedVector infinity = UnsignedVector{} + 0x7f800000u;
  const UnsignedVector normal = rounded >= 0x47800000u ? infinity : rounded;  // 2^16 and more
  // Below 2^-14 the distance of two halves is 2^-24, as it is of two floats between 0.5 and 1.
  const Vector small = (reinterpret_cast<Vector>(magnitude) + 0.5f) - 0.5f;
  const UnsignedVector finite = magnitude < 0x38800000u ? reinterpret_cast<UnsignedVector>(small) : normal;
  return reinterpret_cast<Vector>(sign | (magnitude > 0x7f800000u ? magnitude : finite));
#endif
}

// Copy and clear less than a vector: two overlapping halves of a vector, or two quarters, and so
// on. Nothing if `count` is not positive.
template <int kPiece = kLanes / 2, typename T>
static inline void copy_short(T *to, const T *from, std::int64_t count) {
  if constexpr (kPiece > 0) {
    if (count < kPiece) return copy_short<kPiece / 2>(to, from, count);
    std::memcpy(to, from, kPiece * sizeof(T));
    std::memcpy(to + count - kPiece, from + count - kPiece, kPiece * sizeof(T));
  }
}

template <int kPiece = kLanes / 2>
static inline void clear_short(float *to, std::int64_t count) {
  if constexpr (kPiece > 0) {
    if (count < kPiece) return clear_short<kPiece / 2>(to, count);
    std::memset(to, 0, kPiece * sizeof(float));
    std::memset(to + count - kPiece, 0, kPiece * sizeof(float));
  }
}

template <int... kLane>
struct Lanes {};

#if defined(__AVX512F__)
typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> AllLanes;
#elif defined(__AVX2__)
typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7> AllLanes;
#else
typedef Lanes<0, 1, 2, 3> AllLanes;
#endif

template <int... kLane>
static inline IntVector lane_numbers(Lanes<kLane...>) {
  return IntVector{kLane...};
}

// All bits of lanes begin .. end, no bits of the others.
static inline UnsignedVector window_bits(std::int64_t begin, std::int64_t end) {
  const IntVector lane = lane_numbers(AllLanes());
  const IntVector below_end = lane < static_cast<std::int32_t>(smaller<std::int64_t>(end, kLanes));
  const IntVector below_begin = lane < static_cast<std::int32_t>(larger<std::int64_t>(begin, 0));
  return reinterpret_cast<UnsignedVector>(below_end & ~below_begin);
}

#if defined(__AVX512F__)
static inline __mmask16 window_mask(std::int64_t begin, std::int64_t end) {
  const std::uint32_t below_end = end >= kLanes ? 0xffffu : end <= 0 ? 0u : (1u << end) - 1;
  const std::uint32_t below_begin = begin <= 0 ? 0u : begin >= kLanes ? 0xffffu : (1u << begin) - 1;
  return static_cast<__mmask16>(below_end & ~below_begin);
}
#elif defined(__AVX2__)
static inline __m256i window_mask(std::int64_t begin, std::int64_t end) {
  return reinterpret_cast<__m256i>(window_bits(begin, end));
}
#endif

static inline Vector masked(Vector vector, UnsignedVector bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<UnsignedVector>(vector) & bits);
}

// Lanes begin .. end of `from`, the others 0; only these are read.
static inline Vector load_window(const float *from, std::int64_t begin, std::int64_t end) {
  if (begin <= 0 && end >= kLanes) return load(from);
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(window_mask(begin, end), from));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(_mm256_maskload_ps(from, window_mask(begin, end)));
#else
  float values[kLanes] = {};
  for (std::int64_t i = larger<std::int64_t>(begin, 0); i < smaller<std::int64_t>(end, kLanes); ++i)
    values[i] = from[i];
  return load(values);
#endif
}

// Writes only lanes begin .. end. Masked stores of AVX2 are slow on many CPUs.
static inline void store_window(float *to, Vector vector, std::int64_t begin, std::int64_t end) {
  if (begin <= 0 && end >= kLanes) {
    store(to, vector);
    return;
  }
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, window_mask(begin, end), reinterpret_cast<__m512>(vector));
#else
  float values[kLanes];
  store(values, vector);
  const std::int64_t first = larger<std::int64_t>(begin, 0);
  if (first < end) copy_short(to + first, values + first, smaller<std::int64_t>(end, kLanes) - first);
#endif
}

// The first `count` values, the others 0.
static inline Vector load_some(const float *from, std::int64_t count) { return load_window(from, 0, count); }

static inline Vector load_some(const Half *from, std::int64_t count) {
  if (count >= kLanes) return load(from);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return reinterpret_cast<Vector>(
      _mm512_maskz_cvtph_ps(kAllLanes, _mm256_maskz_loadu_epi16(window_mask(0, count), from)));
#else
  Half values[kLanes] = {};
  copy_short(values, from, count);
  return load(values);
#endif
}

static inline IntVector load_some(const std::int32_t *from, std::int64_t count) {
  IntVector vector = {};
  if (count >= kLanes) {
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
#if defined(__AVX512F__)
  return reinterpret_cast<IntVector>(_mm512_maskz_loadu_epi32(window_mask(0, count), from));
#elif defined(__AVX2__)
  return reinterpret_cast<IntVector>(_mm256_maskload_epi32(from, window_mask(0, count)));
#else
  for (std::int64_t i = 0; i < count; ++i) vector[i] = from[i];
  return vector;
#endif
}

static inline void store_some(std::int32_t *to, IntVector vector, std::int64_t count) {
  if (count >= kLanes) {
    store(to, vector);
    return;
  }
#if defined(__AVX512F__)
  _mm512_mask_storeu_epi32(to, window_mask(0, count), reinterpret_cast<__m512i>(vector));
#else
  std::int32_t values[kLanes];
  store(values, vector);
  copy_short(to, values, count);
#endif
}

static inline void store_some(float *to, Vector vector, std::int64_t count) { store_window(to, vector, 0, count); }

static inline void store_some(Half *to, Vector vector, std::int64_t count) {
  if (count >= kLanes) {
    store(to, vector);
    return;
  }
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  _mm256_mask_storeu_epi16(
      to, window_mask(0, count),
      _mm512_maskz_cvtps_ph(kAllLanes, reinterpret_cast<__m512>(vector), _MM_FROUND_TO_NEAREST_INT));
#else
  Half values[kLanes];
  store(values, vector);
  copy_short(to, values, count);
#endif
}

// Lane k of the result is lane Source::of(k) of a and b concatenated.
template <typename Source, int... kLane>
static inline Vector pick(Vector a, Vector b, Lanes<kLane...>) {
  return __builtin_shufflevector(a, b, Source::of(kLane)...);
}

// In each group of four lanes: the low or high two of a and of b alternately, kRun lanes of each at
// a time.
template <int kRun, int kHigh>
struct Interleaved {
  static constexpr int of(int k) {
    return (k % 4 / kRun % 2 != 0 ? kLanes : 0) + k / 4 * 4 + 2 * kHigh + (kRun == 1 ? k % 4 / 2 : k % 2);
  }
};

// Groups of four kFirst and kFirst + kStep of a, then of b; with two groups only, group kFirst of
// each.
template <int kFirst, int kStep>
struct Fours {
  static constexpr int kHalf = kLanes / 2;
  static constexpr int of(int k) { return (k >= kHalf ? kLanes : 0) + (kFirst + k % kHalf / 4 * kStep) * 4 + k % 4; }
};

template <typename Upper, typename Lower>
static inline void combine(Vector &a, Vector &b) {
  const Vector upper = pick<Upper>(a, b, AllLanes());
  b = pick<Lower>(a, b, AllLanes());
  a = upper;
}

// Transposes the 4 x 4 squares in each group of four lanes of four vectors.
static inline void transpose_fours(Vector &a, Vector &b, Vector &c, Vector &d) {
  combine<Interleaved<1, 0>, Interleaved<1, 1>>(a, b);
  combine<Interleaved<1, 0>, Interleaved<1, 1>>(c, d);
  combine<Interleaved<2, 0>, Interleaved<2, 1>>(a, c);
  combine<Interleaved<2, 0>, Interleaved<2, 1>>(b, d);
  const Vector second = c;
  c = b;
  b = second;
}

// Transposes a square of values. First the 4 x 4 squares within groups of four lanes, since
// shuffles within a group cost half as much as shuffles across groups, then the groups.
static inline void transpose(Vector (&rows)[kLanes]) {
  for (int i = 0; i < kLanes; i += 4) transpose_fours(rows[i], rows[i + 1], rows[i + 2], rows[i + 3]);
#if defined(__AVX512F__)
  for (int i = 0; i < 4; ++i) {
    combine<Fours<0, 1>, Fours<2, 1>>(rows[i], rows[i + 4]);
    combine<Fours<0, 1>, Fours<2, 1>>(rows[i + 8], rows[i + 12]);
    combine<Fours<0, 2>, Fours<1, 2>>(rows[i], rows[i + 8]);
    combine<Fours<0, 2>, Fours<1, 2>>(rows[i + 4], rows[i + 12]);
    const Vector second = rows[i + 8];
    rows[i + 8] = rows[i + 4];
    rows[i + 4] = second;
  }
#elif defined(__AVX2__)
  for (int i = 0; i < 4; ++i) combine<Fours<0, 1>, Fours<1, 1>>(rows[i], rows[i + 4]);
#endif
}

// A square of values whose rows are `stride` apart in memory. The pointer advances row by row:
// otherwise GCC keeps one offset per row, in more registers than exist.
static inline void load_square(Vector (&rows)[kLanes], const float *from, std::int64_t stride) {
  for (Vector &row : rows) {
    row = load(from);
    from += stride;
  }
}

static inline void store_square(float *to, std::int64_t stride, const Vector (&rows)[kLanes]) {
  for (const Vector &row : rows) {
    store(to, row);
    to += stride;
  }
}

// Convert whole rows. The last vector may overlap the one before it.
template <typename T>
static inline void load_row(const T *from, float *row, std::int64_t count) {
  if (count < kLanes) {
    for (std::int64_t i = 0; i < count; ++i) row[i] = to_float(from[i]);
    return;
  }
  for (std::int64_t i = 0; i < count - kLanes; i += kLanes) store(row + i, load(from + i));
  store(row + count - kLanes, load(from + count - kLanes));
}

template <typename T>
static inline void store_row(T *to, const float *row, std::int64_t count) {
  if (count < kLanes) {
    for (std::int64_t i = 0; i < count; ++i) store(to + i, row[i]);
    return;
  }
  for (std::int64_t i = 0; i < count - kLanes; i += kLanes) store(to + i, load(row + i));
  store(to + count - kLanes, load(row + count - kLanes));
}

// Prefetches the cache line of the value at `offset`, which may be past the end. For access
// patterns that hardware prefetchers do not recognise. kWrite is 1 for data that will be written;
// kCache is 3 for L1, 2 for L2. GCC treats functions that only prefetch as free of effects and
// drops calls of them, so each must be always_inline.
template <int kWrite, int kCache = 3, typename T>
[[gnu::always_inline]] static inline void prefetch_value(const T *values, std::int64_t offset) {
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(values);
  __builtin_prefetch(reinterpret_cast<const void *>(start + static_cast<std::uintptr_t>(offset) * sizeof(T)), kWrite,
                     kCache);
}

// The same for `count` values from `offset` on, including the line of the last one. Unrolled by
// kLines, some lines perhaps twice: the exit of an exact loop would be mispredicted too often.
template <int kWrite, int kCache = 3, int kLines = 4, typename T>
[[gnu::always_inline]] static inline void prefetch(const T *values, std::int64_t offset, std::int64_t count) {
  constexpr std::int64_t kValues = kCacheLine / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLines * kValues) {
#pragma GCC unroll 8
    for (int line = 0; line < kLines; ++line) {
      prefetch_value<kWrite, kCache>(values, offset + smaller(i + line * kValues, count - 1));
    }
  }
  prefetch_value<kWrite, kCache>(values, offset + count - 1);
}

// Copy and clear mostly short rows without a call. The last vector may overlap the one before it.
static inline void copy_row(float *to, const float *from, std::int64_t count) {
  if (count < kLanes) {
#if defined(__AVX512F__)
    if (count <= 0) return;
    store_window(to, load_window(from, 0, count), 0, count);
#else
    copy_short(to, from, count);
#endif
    return;
  }
  for (std::int64_t i = 0; i < count - kLanes; i += kLanes) store(to + i, load(from + i));
  store(to + count - kLanes, load(from + count - kLanes));
}

static inline void copy_row(Half *to, const Half *from, std::int64_t count) {
  constexpr std::int64_t kHalves = 2 * kLanes;  // per vector register
  if (count < kHalves) return copy_short<kHalves / 2>(to, from, count);
  for (std::int64_t i = 0; i < count - kHalves; i += kHalves) std::memcpy(to + i, from + i, kHalves * sizeof(Half));
  std::memcpy(to + count - kHalves, from + count - kHalves, kHalves * sizeof(Half));
}

static inline void clear_floats(float *to, std::int64_t count) {
  if (count < kLanes) {
    if (count <= 0) return;
#if defined(__AVX512F__)
    store_window(to, Vector{}, 0, count);
#else
    clear_short(to, count);
#endif
    return;
  }
  for (std::int64_t i = 0; i < count - kLanes; i += kLanes) store(to + i, Vector{});
  store(to + count - kLanes, Vector{});
}

// Keeps a vector in a register between check and use, so that it is not read again: inputs may
// change during a call.
static inline IntVector read_vector_once(IntVector value) {
#if defined(MLUOPS_TESTS_EMULATED_AVX512_H_)
  asm("" : "+m"(value));  // no register is this wide
#elif defined(__AVX512F__)
  asm("" : "+v"(value));
#elif defined(__x86_64__)
  asm("" : "+x"(value));
#elif defined(__aarch64__)
  asm("" : "+w"(value));
#else
  asm("" : "+m"(value));
#endif
  return value;
}

// Clears any number of floats, until the call is interrupted.
static inline void clear_floats_interruptible(float *to, std::int64_t count) {
  for_slices(0, count, [&](std::int64_t begin, std::int64_t end) { clear_floats(to + begin, end - begin); });
}

// Like clear_floats; may overwrite up to kLanes - 1 floats after the row.
static inline void clear_floats_may_overrun(float *to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) store(to + i, Vector{});
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_VECTOR_H_
