// Conversions without a rounding mode in the name, and conversions with stochastic rounding.
#include <cmath>

#include "intrinsics/map.h"
#include "intrinsics/round_value.h"
#include "mlusim/convert.h"

namespace mlusim {
namespace {

// A tf32 has the fraction of a half and the exponent of a float.
typedef any_cpu::Format<std::uint32_t, 10, 8> Tf32;

float tf32_toward_zero(double value) {
  const std::uint32_t bits =
      any_cpu::round_bits<Rounding::kTowardZero, any_cpu::Float64, Tf32>(any_cpu::double_to_bits(value));
  return any_cpu::vec::bits_to_float(bits << (any_cpu::Float32::kFraction - Tf32::kFraction));
}

// Returns the unit in the last place at a magnitude, in a format whose smallest step is 2^least.
double last_place(double magnitude, int least) {
  const int exponent = magnitude > 0 ? std::ilogb(magnitude) - Tf32::kFraction : least;
  return std::ldexp(1.0, exponent < least ? least : exponent);
}

// Returns the stochastically rounded result as a double, which may exceed the largest number of the
// format.
double by_chance(double value, double toward_zero, int least, int random) {
  const double step = last_place(std::fabs(toward_zero), least);
  const double dropped = (std::fabs(value) - std::fabs(toward_zero)) / step;
  const bool away = dropped > static_cast<double>(static_cast<std::uint32_t>(random)) / 4294967296.0;
  return std::copysign(std::fabs(toward_zero) + (away ? step : 0.0), value);
}

half half_by_chance(float value, int random) {
  const double wide = static_cast<double>(value);
  const double near = any_cpu::value_of(any_cpu::convert_value<half, Rounding::kTowardZero>(wide));
  const double result = std::isfinite(value) ? by_chance(wide, near, -24, random) : wide;
  return any_cpu::convert_value<half, Rounding::kNearestEven>(result);
}

float tf32_by_chance(float value, int random) {
  if (!std::isfinite(value)) return value;
  const double wide = static_cast<double>(value);
  return static_cast<float>(by_chance(wide, static_cast<double>(tf32_toward_zero(wide)), -136, random));
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

void __bang_float2half_sr(half *dst, const float *src, const int *srv, int count) {
  mlusim::map_vectors(MLUSIM_CALL("__bang_float2half_sr"), dst, src, srv, count, mlusim::half_by_chance);
}

void __bang_float2tf32_sr(float *dst, const float *src, const int *srv, int count) {
  mlusim::map_vectors(MLUSIM_CALL("__bang_float2tf32_sr"), dst, src, srv, count, mlusim::tf32_by_chance);
}
