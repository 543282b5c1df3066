// Conversions of single values.
#include "mlusim/convert.h"

#include "intrinsics/round_value.h"

#define MLUSIM_DEFINE_CONVERT_VALUE(To, From, name)                                                      \
  To name(From a) {                                                                                      \
    return mlusim::any_cpu::convert_value<To>(mlusim::rounding_of(#name), mlusim::any_cpu::value_of(a)); \
  }
#define MLUSIM_DEFINE_CONVERT_TO_BFLOAT16(To, From, name)                                                     \
  std::uint16_t mlusim::bits_of##name(From a) {                                                               \
    return mlusim::any_cpu::convert_value<To>(mlusim::rounding_of(#name), mlusim::any_cpu::value_of(a)).bits; \
  }
MLUSIM_ALL_VALUE_CONVERSIONS(MLUSIM_DEFINE_CONVERT_VALUE);
MLUSIM_ALL_FROM_BFLOAT16_VALUE(MLUSIM_DEFINE_CONVERT_VALUE);
MLUSIM_ALL_TO_BFLOAT16_VALUE(MLUSIM_DEFINE_CONVERT_TO_BFLOAT16);
MLUSIM_DEFINE_CONVERT_VALUE(half, unsigned short, __ushort2half)
MLUSIM_DEFINE_CONVERT_VALUE(int, float, __float2int32)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT_VALUE, int, float, __float2int32);
MLUSIM_DEFINE_CONVERT_VALUE(int, half, __half2int32)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT_VALUE, int, half, __half2int32);
