// Square roots of many floats at once, rounded to nearest.
#ifndef MLUOPS_CPU_ROOT_H_
#define MLUOPS_CPU_ROOT_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

static inline Vector root(Vector x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(_mm512_maskz_sqrt_ps(kAllLanes, reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
#elif defined(__x86_64__)
  return reinterpret_cast<Vector>(_mm_sqrt_ps(reinterpret_cast<__m128>(x)));
#else
  for (int i = 0; i < kLanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_ROOT_H_
