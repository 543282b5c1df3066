// A product and a sum with one rounding.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

template <bool kVector1, bool kVector2>
void multiply_add(const float *from, const float *factor, const float *addend, float sign, float *to,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = __builtin_fmaf(from[i], factor[kVector1 ? i : 0], sign * addend[kVector2 ? i : 0]);
  }
}

}  // namespace

extern const FusedLoops fused_loops = {
    {{multiply_add<false, false>, multiply_add<false, true>}, {multiply_add<true, false>, multiply_add<true, true>}}};

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(FusedLoops, fused_loops);
