// The instructions of AVX-512 that the kernels use by name, written out for CPUs without them:
// included before everything else, it lets tests run the kernels of x86-64-v4 everywhere. What is
// not here does not compile.
#ifndef MLUOPS_TESTS_EMULATED_AVX512_H_
#define MLUOPS_TESTS_EMULATED_AVX512_H_

// The header's AVX-512 functions can be declared only while the compiler seems to lack AVX-512.
#include <immintrin.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#define __AVX512F__ 1
#define __AVX512BW__ 1
#define __AVX512CD__ 1
#define __AVX512DQ__ 1
#define __AVX512VL__ 1

namespace emulated {

constexpr int kLanes = 16;

template <typename Lane>
struct Lanes {
  Lane lane[kLanes];
};

template <typename Lane, typename Vector>
inline Lanes<Lane> lanes_of(Vector vector) {
  static_assert(sizeof(Lanes<Lane>) == sizeof vector, "a vector of sixteen lanes");
  Lanes<Lane> lanes;
  std::memcpy(&lanes, &vector, sizeof lanes);
  return lanes;
}

template <typename Vector, typename Lane>
inline Vector vector_of(const Lanes<Lane> &lanes) {
  Vector vector;
  std::memcpy(&vector, &lanes, sizeof vector);
  return vector;
}

// Only selected lanes are read or written.
template <typename Vector, typename Lane>
inline Vector load_chosen(__mmask16 mask, const void *from) {
  Lanes<Lane> lanes = {};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) std::memcpy(&lanes.lane[i], static_cast<const char *>(from) + i * sizeof(Lane), sizeof(Lane));
  }
  return vector_of<Vector>(lanes);
}

template <typename Lane, typename Vector>
inline void store_chosen(void *to, __mmask16 mask, Vector vector) {
  const Lanes<Lane> lanes = lanes_of<Lane>(vector);
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) std::memcpy(static_cast<char *>(to) + i * sizeof(Lane), &lanes.lane[i], sizeof(Lane));
  }
}

template <typename Function>
inline __m512 of_each_lane(__mmask16 mask, __m512 a, __m512 b, __m512 c, const Function &function) {
  const Lanes<float> of_a = lanes_of<float>(a), of_b = lanes_of<float>(b), of_c = lanes_of<float>(c);
  Lanes<float> result = {};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) result.lane[i] = function(of_a.lane[i], of_b.lane[i], of_c.lane[i]);
  }
  return vector_of<__m512>(result);
}

inline __m512 fmadd(__m512 a, __m512 b, __m512 c) {
  return of_each_lane(0xffff, a, b, c, [](float x, float y, float z) { return __builtin_fmaf(x, y, z); });
}

inline __m512 max(__mmask16 mask, __m512 a, __m512 b) {
  return of_each_lane(mask, a, b, a, [](float x, float y, float) { return x > y ? x : y; });
}

inline __m512 chosen(__mmask16 mask, __m512i places, __m512 table) {
  const Lanes<std::int32_t> of_places = lanes_of<std::int32_t>(places);
  const Lanes<float> of_table = lanes_of<float>(table);
  Lanes<float> result = {};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) result.lane[i] = of_table.lane[of_places.lane[i] & (kLanes - 1)];
  }
  return vector_of<__m512>(result);
}

inline __m512 root(__mmask16 mask, __m512 a) {
  return of_each_lane(mask, a, a, a, [](float x, float, float) { return __builtin_sqrtf(x); });
}

inline __m512 floats_of_halves(__mmask16 mask, __m256i halves) {
  const Lanes<std::uint16_t> from = lanes_of<std::uint16_t>(halves);
  Lanes<float> result = {};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) result.lane[i] = _cvtsh_ss(from.lane[i]);
  }
  return vector_of<__m512>(result);
}

inline __m256i halves_of_floats(__mmask16 mask, __m512 floats) {
  const Lanes<float> from = lanes_of<float>(floats);
  Lanes<std::uint16_t> result = {};
  for (int i = 0; i < kLanes; ++i) {
    if (mask >> i & 1) result.lane[i] = _cvtss_sh(from.lane[i], _MM_FROUND_TO_NEAREST_INT);
  }
  return vector_of<__m256i>(result);
}

inline __mmask16 signs(__m512i vector) {
  const Lanes<std::int32_t> from = lanes_of<std::int32_t>(vector);
  unsigned mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    if (from.lane[i] < 0) mask |= 1u << i;
  }
  return static_cast<__mmask16>(mask);
}

inline __m512i every_byte(char byte) {
  __m512i vector;
  std::memset(&vector, byte, sizeof vector);
  return vector;
}

// The instruction faults unless the address is a multiple of 64.
inline void stream(void *to, __m512i vector) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof vector != 0) std::abort();
  std::memcpy(to, &vector, sizeof vector);
}

}  // namespace emulated

#define _mm512_fmadd_ps emulated::fmadd
#define _mm512_maskz_max_ps emulated::max
#define _mm512_maskz_sqrt_ps emulated::root
#define _mm512_maskz_cvtph_ps emulated::floats_of_halves
#define _mm512_maskz_cvtps_ph(mask, floats, rounding) emulated::halves_of_floats(mask, floats)
#define _mm512_maskz_permutexvar_ps emulated::chosen
#define _mm512_maskz_loadu_ps(mask, from) emulated::load_chosen<__m512, float>(mask, from)
#define _mm512_maskz_loadu_epi32(mask, from) emulated::load_chosen<__m512i, std::int32_t>(mask, from)
#define _mm256_maskz_loadu_epi16(mask, from) emulated::load_chosen<__m256i, std::int16_t>(mask, from)
#define _mm512_mask_storeu_ps emulated::store_chosen<float>
#define _mm512_mask_storeu_epi32 emulated::store_chosen<std::int32_t>
#define _mm256_mask_storeu_epi16 emulated::store_chosen<std::int16_t>
#define _mm512_movepi32_mask emulated::signs
#define _mm512_loadu_si512(from) emulated::load_chosen<__m512i, std::int32_t>(0xffff, from)
#define _mm512_set1_epi8 emulated::every_byte
#define _mm512_stream_si512 emulated::stream

#endif  // MLUOPS_TESTS_EMULATED_AVX512_H_
