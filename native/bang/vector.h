// Helpers of kernels that compute: NRAM buffers, selection by bit masks, and half values rounded
// once, to nearest.
//
// On cards before architecture 300 vectors start at multiples of 64 bytes and have a multiple of
// 128 bytes; kernels for these cards comply.
#ifndef MLUOPS_BANG_VECTOR_H_
#define MLUOPS_BANG_VECTOR_H_

#include "bang/policy.h"

#ifdef __BANG__
#include <bang.h>
#endif

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// Granularity of vectors in bytes on every card.
constexpr int kLineBytes = 128;
constexpr int kLineFloats = kLineBytes / 4;

__mlu_func__ int least(int a, int b) { return a < b ? a : b; }
__mlu_func__ int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

// Allocates consecutive buffers in NRAM, each at the start of a line.
struct NramArena {
  char *next;
};

template <typename T>
__mlu_func__ T *allocate(NramArena &arena, int count) {
  T *begin = (T *)arena.next;
  arena.next += (count * (int)sizeof(T) + kLineBytes - 1) / kLineBytes * kLineBytes;
  return begin;
}

// All bits of mask[i] set where truth[i] is 1, none where it is 0.
__mlu_func__ void mask_of(float *mask, const float *truth, int count) {
  // The product is a number that lacks one bit, which 1 has, or -0, which the sum turns into 0.
  __bang_mul_scalar(mask, truth, -3.402823466e38f, count);
  __bang_add_scalar(mask, mask, 0.0f, count);
  __bang_bor((char *)mask, (const char *)mask, (const char *)truth, count * 4);
}

// target[i] = other[i] where mask[i] is set. Overwrites `other`.
__mlu_func__ void choose(void *target, void *other, const float *mask, int count) {
  __bang_bxor((char *)other, (const char *)other, (const char *)target, count * 4);
  __bang_band((char *)other, (const char *)other, (const char *)mask, count * 4);
  __bang_bxor((char *)target, (const char *)target, (const char *)other, count * 4);
}

// The values as floats: converted into `wide`, or in place.
__mlu_func__ const float *widened(float *, const float *values, int) { return values; }
__mlu_func__ const float *widened(float *wide, const half *values, int count) {
  __bang_half2float(wide, values, count);
  return wide;
}

// The values as T, rounded to nearest, ties to even: in `narrow`, or in place. Overwrites `values`,
// and `scratch` of `count` floats and a line.
__mlu_func__ const float *narrowed(float *, float *values, float *, int) { return values; }
#if __BANG_ARCH__ >= 300
__mlu_func__ const half *narrowed(half *narrow, float *values, float *, int count) {
  __bang_float2half_rn(narrow, values, count);
  return narrow;
}
#else
__mlu_func__ const half *narrowed(half *narrow, float *values, float *scratch, int count) {
  // These cards round ties away from 0. Adding and taking away 1.5 * 2^13 times the power of two in
  // a value, but at least the smallest normal half, leaves the bits that a half has, and such a sum
  // is rounded to even. It loses the sign of 0.
  float *line = scratch + count;
  __bang_float2half_rd(narrow, values, count);
  __bang_write_value(line, kLineFloats, (int)0x7f800000);
  __bang_cycle_band((char *)scratch, (const char *)values, (const char *)line, count * 4, kLineBytes);
  __bang_write_value(line, kLineFloats, 6.103515625e-5f);
  __bang_cycle_maxequal(scratch, scratch, line, count, kLineFloats);
  __bang_write_value(line, kLineFloats, 1e30f);  // so that an infinity stays one
  __bang_cycle_minequal(scratch, scratch, line, count, kLineFloats);
  __bang_mul_scalar(scratch, scratch, 12288.0f, count);
  __bang_add(values, values, scratch, count);
  __bang_sub(values, values, scratch, count);
  __bang_float2half_rd((half *)scratch, values, count);
  __bang_write_value(line, kLineFloats, (int)0x80008000);
  __bang_cycle_band((char *)narrow, (const char *)narrow, (const char *)line, count * 2, kLineBytes);
  __bang_bor((char *)narrow, (const char *)narrow, (const char *)scratch, count * 2);
  return narrow;
}
#endif

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_BANG_VECTOR_H_
