// Conversions that newer kernels use: without a word about rounding, and those of bytes to and from float.
#include <cmath>

#include "intrinsics/map.h"
#include "mlusim/convert.h"

namespace mlusim {
namespace {

// To nearest, halves up; NaN is 0.
unsigned char byte_of(float value) {
  const double rounded = std::floor(static_cast<double>(value) + 0.5);
  if (!(rounded > 0)) return 0;
  return rounded < 255 ? static_cast<unsigned char>(rounded) : 255;
}

}  // namespace
}  // namespace mlusim

void __bang_float2half(half *dst, const float *src, int src_count) {
  mlusim::map_vector(MLUSIM_CALL("__bang_float2half"), dst, src, src_count,
                     [](float value) { return static_cast<half>(value); });
}

void __bang_float2bfloat16(bfloat16_t *dst, const float *src, int src_count) {
  mlusim::map_vector(MLUSIM_CALL("__bang_float2bfloat16"), dst, src, src_count,
                     [](float value) { return bfloat16_t(value); });
}

void __bang_uchar2float(float *dst, const unsigned char *src, int src_count) {
  mlusim::map_vector(MLUSIM_CALL("__bang_uchar2float"), dst, src, src_count,
                     [](unsigned char value) { return static_cast<float>(value); });
}

void __bang_float2uchar_rm(unsigned char *dst, const float *src, int src_count) {
  mlusim::map_vector(MLUSIM_CALL("__bang_float2uchar_rm"), dst, src, src_count, mlusim::byte_of);
}
