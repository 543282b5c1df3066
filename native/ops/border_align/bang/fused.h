// Fused multiply-add for cards that round product and sum separately.
#ifndef MLUOPS_OPS_BORDER_ALIGN_BANG_FUSED_H_
#define MLUOPS_OPS_BORDER_ALIGN_BANG_FUSED_H_

#include "bang/vector.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

#if __BANG_ARCH__ < 300
// Vectors that multiply_add() works on, each as long as its operands, and a line.
struct FusedScratch {
  float *vector[6];
  float *line;
};

// sum + error = a + b without any rounding, unless the sum is too large. None of the first three
// may be one of the others.
__mlu_func__ void add_exactly(float *sum, float *error, float *scratch, const float *a, const float *b, int count) {
  __bang_add(sum, a, b, count);
  __bang_sub(scratch, sum, a, count);
  __bang_sub(error, sum, scratch, count);
  __bang_sub(error, a, error, count);
  __bang_sub(scratch, b, scratch, count);
  __bang_add(error, error, scratch, count);
}

// product + error = value * weight without any rounding, unless the error is below the smallest
// float. Weights are at most 1; they are overwritten, and so are vectors 1 to 3 and 5.
__mlu_func__ void multiply_exactly(float *product, float *error, const float *value, float *weight,
                                   const FusedScratch &scratch, int count) {
  float *high = scratch.vector[1], *low = scratch.vector[2], *weight_high = scratch.vector[3];
  float *part = scratch.vector[5];
  __bang_mul(product, value, weight, count);
  // Both factors are split into two parts of at most 12 bits, so that products of parts are exact.
  // Values, which may be large, are split by their bits.
  __bang_write_value(scratch.line, kLineFloats, (int)0xfffff000);
  __bang_cycle_band((char *)high, (const char *)value, (const char *)scratch.line, count * 4, kLineBytes);
  __bang_sub(low, value, high, count);
  __bang_mul_scalar(weight_high, weight, 4097.0f, count);
  __bang_sub(part, weight_high, weight, count);
  __bang_sub(weight_high, weight_high, part, count);
  __bang_sub(weight, weight, weight_high, count);
  __bang_mul(error, high, weight_high, count);
  __bang_sub(error, error, product, count);
  __bang_mul(part, high, weight, count);
  __bang_add(error, error, part, count);
  __bang_mul(part, low, weight_high, count);
  __bang_add(error, error, part, count);
  __bang_mul(part, low, weight, count);
  __bang_add(error, error, part, count);
}

// 1 where both are positive or both negative, else 0. Overwrites both.
__mlu_func__ void have_same_sign(float *result, float *a, float *b, const FusedScratch &scratch, int count) {
  __bang_write_value(scratch.line, kLineFloats, 0.0f);
  __bang_cycle_gt(result, a, scratch.line, count, kLineFloats);
  __bang_cycle_gt(scratch.vector[5], b, scratch.line, count, kLineFloats);
  __bang_mul(result, result, scratch.vector[5], count);
  __bang_cycle_lt(a, a, scratch.line, count, kLineFloats);
  __bang_cycle_lt(b, b, scratch.line, count, kLineFloats);
  __bang_mul(a, a, b, count);
  __bang_add(result, result, a, count);
}

// sum[i] = value[i] * weight[i] + sum[i], rounded once unless the product is below 2^-100.
// Overwrites the weights, which are at most 1.
__mlu_func__ void multiply_add(float *sum, const float *value, float *weight, const FusedScratch &scratch, int count) {
  float *const *v = scratch.vector;
  multiply_exactly(v[0], v[4], value, weight, scratch, count);
  __bang_add(v[1], v[0], sum, count);  // rounded twice
  // sum + v[0] + v[4] as v[4] + v[0] + v[2], each below the last bit of the one before.
  add_exactly(v[2], v[3], v[5], sum, v[4], count);
  add_exactly(v[4], weight, v[5], v[0], v[2], count);
  add_exactly(v[0], v[2], v[5], v[3], weight, count);
  add_exactly(sum, weight, v[5], v[4], v[0], count);
  // The rounding of the sum ignores v[2]. That is wrong only if the rest of v[0] is exactly half of
  // the sum's last bit and v[2] has the same sign: then the sum must be the next number, which is
  // twice that rest away.
  __bang_add(v[0], weight, weight, count);
  __bang_add(v[3], sum, v[0], count);
  __bang_sub(v[3], v[3], sum, count);
  __bang_eq(v[3], v[3], v[0], count);
  have_same_sign(v[4], weight, v[2], scratch, count);
  __bang_mul(v[3], v[3], v[4], count);
  __bang_mul(v[3], v[3], v[0], count);
  __bang_add(sum, sum, v[3], count);
  // Infinities become NaN and 0 loses its sign; there the sum that was rounded twice is right.
  __bang_ne(v[3], sum, sum, count);
  __bang_write_value(scratch.line, kLineFloats, 0.0f);
  __bang_cycle_eq(v[4], sum, scratch.line, count, kLineFloats);
  __bang_add(v[3], v[3], v[4], count);
  mask_of(v[4], v[3], count);
  choose(sum, v[1], v[4], count);
}
#endif

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_BANG_FUSED_H_
