// Conversions between number types, of vectors and of single values.
//
// The last part of a name gives the rounding: _tz toward zero, _oz away from zero, _up and _dn
// toward the infinities; _rd to the nearest with ties away from zero, _rn with ties to even, _rm
// with ties upwards. Without it, rounding is toward zero. Integers stand for integer * 2^position
// and saturate.
#ifndef MLUSIM_CONVERT_H_
#define MLUSIM_CONVERT_H_

#include "mlusim/types.h"

// form(To, From, name_<rounding>) for each rounding that the architecture has.
#if MLUSIM_SINCE(300)
#define MLUSIM_AND_NEWER_ROUNDINGS(form, To, From, name) \
  ;                                                      \
  form(To, From, name##_rn);                             \
  form(To, From, name##_rm)
#else
#define MLUSIM_AND_NEWER_ROUNDINGS(form, To, From, name)
#endif
#define MLUSIM_OLDER_ROUNDINGS(form, To, From, name) \
  form(To, From, name##_tz);                         \
  form(To, From, name##_oz);                         \
  form(To, From, name##_up);                         \
  form(To, From, name##_dn);                         \
  form(To, From, name##_rd)
#define MLUSIM_ROUNDINGS(form, To, From, name) \
  MLUSIM_OLDER_ROUNDINGS(form, To, From, name) \
  MLUSIM_AND_NEWER_ROUNDINGS(form, To, From, name)

// ---- Vectors in NRAM ----------------------------------------------------------------------------

#define MLUSIM_CONVERT(To, From, name) MLUSIM_API void name(To *dst, const From *src, int src_count)
// segnum + 1 runs of src_count elements.
#define MLUSIM_CONVERT_RUNS(To, From, name) \
  MLUSIM_API void name(To *dst, const From *src, int src_count, int dst_stride, int src_stride, int segnum)
#define MLUSIM_CONVERT_FIXED(To, From, name) \
  MLUSIM_API void name(To *dst, const From *src, int src_count, int fix_position)
#define MLUSIM_CONVERT_FIXED_RUNS(To, From, name)                                                                 \
  MLUSIM_API void name(To *dst, const From *src, int src_count, int fix_position, int dst_stride, int src_stride, \
                       int segnum)
#define MLUSIM_CONVERT_INTEGER(To, From, name) \
  MLUSIM_API void name(To *dst, const From *src, int src_count, int dst_position, int src_position)

MLUSIM_CONVERT(float, half, __bang_half2float);
MLUSIM_CONVERT_RUNS(float, half, __bang_half2float);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT, half, float, __bang_float2half);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_CONVERT_RUNS, half, float, __bang_float2half);
#if MLUSIM_SINCE(300)
MLUSIM_ROUNDINGS(MLUSIM_CONVERT, bfloat16_t, float, __bang_float2bfloat16);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT, float, bfloat16_t, __bang_bfloat162float);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_CONVERT(float, bfloat16_t, __bang_bfloat162float);
#endif

MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int16, half, __bang_half2int16);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int8, half, __bang_half2int8);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_CONVERT_FIXED_RUNS, int8, half, __bang_half2int8);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT, short, half, __bang_half2short);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_CONVERT_RUNS, short, half, __bang_half2short);
MLUSIM_CONVERT(signed char, half, __bang_half2char_dn);
MLUSIM_CONVERT(unsigned char, half, __bang_half2uchar_dn);
MLUSIM_CONVERT(signed char, half, __bang_half2uchar_dn);
// src_addition is scratch memory.
MLUSIM_API void __bang_half2uchar_dn(unsigned char *dst, const half *src, half *src_addition, int src_count);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int16, float, __bang_float2int16);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int8, float, __bang_float2int8);
#if MLUSIM_SINCE(300)
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int, float, __bang_float2int);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_CONVERT_FIXED(int, float, __bang_float2int32);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int, float, __bang_float2int32);
MLUSIM_CONVERT_FIXED(int, half, __bang_half2int32);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, int, half, __bang_half2int32);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT, unsigned char, float, __bang_float2uchar);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, unsigned char, float, __bang_float2uint8);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, unsigned short, float, __bang_float2uint16);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, unsigned int, float, __bang_float2uint32);
#endif
// The same, and form(To, From, name) without a rounding in the name.
#define MLUSIM_ALL_ROUNDINGS(form, To, From, name) \
  form(To, From, name);                            \
  MLUSIM_ROUNDINGS(form, To, From, name)
#if MLUSIM_SINCE(392)
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT, bfloat16_t, half, __bang_half2bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT, half, bfloat16_t, __bang_bfloat162half);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, signed char, bfloat16_t, __bang_bfloat162int8);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, short, bfloat16_t, __bang_bfloat162int16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, int, bfloat16_t, __bang_bfloat162int32);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT, unsigned char, bfloat16_t, __bang_bfloat162uchar);
#endif
// Both additions are scratch memory.
MLUSIM_API void __bang_float2int(int *dst, float *dst_addition, const float *src, float *src_addition, int src_count);

MLUSIM_CONVERT_FIXED(float, int16, __bang_int162float);
MLUSIM_CONVERT_FIXED(float, int8, __bang_int82float);
MLUSIM_CONVERT_FIXED(half, int16, __bang_int162half);
MLUSIM_CONVERT_FIXED(half, int8, __bang_int82half);
MLUSIM_CONVERT_FIXED_RUNS(half, int8, __bang_int82half);
MLUSIM_CONVERT_FIXED(half, fix8, __bang_fix82half);
MLUSIM_CONVERT_FIXED_RUNS(half, fix8, __bang_fix82half);
MLUSIM_CONVERT(half, short, __bang_short2half);
MLUSIM_CONVERT_RUNS(half, short, __bang_short2half);
MLUSIM_CONVERT(half, unsigned char, __bang_uchar2half);
MLUSIM_CONVERT_RUNS(half, unsigned char, __bang_uchar2half);
#if MLUSIM_SINCE(300)
MLUSIM_CONVERT_FIXED(float, int, __bang_int2float);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_CONVERT_FIXED(float, int, __bang_int322float);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, float, int, __bang_int322float);
MLUSIM_CONVERT_FIXED(half, int, __bang_int322half);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, half, int, __bang_int322half);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_FIXED, half, int16, __bang_int162half);
MLUSIM_CONVERT_FIXED(float, unsigned char, __bang_uint82float);
MLUSIM_CONVERT_FIXED(float, unsigned short, __bang_uint162float);
MLUSIM_CONVERT_FIXED(float, unsigned int, __bang_uint322float);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, bfloat16_t, int, __bang_int322bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, bfloat16_t, short, __bang_int162bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_CONVERT_FIXED, bfloat16_t, signed char, __bang_int82bfloat16);
MLUSIM_CONVERT(bfloat16_t, unsigned char, __bang_uchar2bfloat16);
#endif
MLUSIM_API void __bang_int2float(float *dst, float *dst_addition, const int *src, float *src_addition, int src_count);

#if MLUSIM_SINCE(300)
MLUSIM_CONVERT_INTEGER(int, signed char, __bang_char2int);
MLUSIM_CONVERT_INTEGER(short, signed char, __bang_char2short);
MLUSIM_CONVERT_INTEGER(int, short, __bang_short2int);
MLUSIM_CONVERT_INTEGER(signed char, short, __bang_short2char);
MLUSIM_CONVERT_INTEGER(signed char, int, __bang_int2char);
MLUSIM_CONVERT_INTEGER(short, int, __bang_int2short);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_CONVERT_INTEGER(short, int, __bang_int322int16);
MLUSIM_CONVERT_INTEGER(signed char, int, __bang_int322int8);
MLUSIM_CONVERT_INTEGER(int, short, __bang_int162int32);
MLUSIM_CONVERT_INTEGER(signed char, short, __bang_int162int8);
MLUSIM_CONVERT_INTEGER(int, signed char, __bang_int82int32);
MLUSIM_CONVERT_INTEGER(short, signed char, __bang_int82int16);
// The position belongs to the integer of 32 bits; bytes saturate.
MLUSIM_CONVERT_FIXED(int, unsigned char, __bang_uchar2int32);
MLUSIM_CONVERT_FIXED(unsigned char, int, __bang_int322uchar);
#endif

// Integers of 4 bits, from -8 to 7. The macro lists a form for each kind; the library defines them
// from the same list.
#define MLUSIM_ALL_INT4_CONVERSIONS(to_int4, from_int4, between)           \
  MLUSIM_ROUNDINGS(to_int4, int4x2_t, half, __bang_half2int4);             \
  MLUSIM_ROUNDINGS(to_int4, int4x2_t, bfloat16_t, __bang_bfloat162int4);   \
  MLUSIM_ROUNDINGS(to_int4, int4x2_t, float, __bang_float2int4);           \
  MLUSIM_ROUNDINGS(from_int4, half, int4x2_t, __bang_int42half);           \
  MLUSIM_ROUNDINGS(from_int4, bfloat16_t, int4x2_t, __bang_int42bfloat16); \
  MLUSIM_ROUNDINGS(from_int4, float, int4x2_t, __bang_int42float);         \
  MLUSIM_ROUNDINGS(between, int4x2_t, char, __bang_int82int4);             \
  MLUSIM_ROUNDINGS(between, int4x2_t, signed char, __bang_int82int4);      \
  MLUSIM_ROUNDINGS(between, int4x2_t, short, __bang_int162int4);           \
  MLUSIM_ROUNDINGS(between, int4x2_t, int, __bang_int322int4);             \
  MLUSIM_ROUNDINGS(between, char, int4x2_t, __bang_int42int8);             \
  MLUSIM_ROUNDINGS(between, signed char, int4x2_t, __bang_int42int8);      \
  MLUSIM_ROUNDINGS(between, short, int4x2_t, __bang_int42int16);           \
  MLUSIM_ROUNDINGS(between, int, int4x2_t, __bang_int42int32)
#if MLUSIM_SINCE(300)
MLUSIM_ALL_INT4_CONVERSIONS(MLUSIM_CONVERT_FIXED, MLUSIM_CONVERT_FIXED, MLUSIM_CONVERT_INTEGER);
#endif

// ---- Single values ------------------------------------------------------------------------------

#define MLUSIM_CONVERT_VALUE(To, From, name) MLUSIM_API To name(From a)
// A bfloat16_t is a structure, so the function that returns one is inlined; see MLUSIM_INLINED.
#define MLUSIM_CONVERT_TO_BFLOAT16(To, From, name) \
  namespace mlusim {                               \
  MLUSIM_API std::uint16_t bits_of##name(From a);  \
  }                                                \
  MLUSIM_INLINED inline bfloat16_t name(From a) {  \
    bfloat16_t result;                             \
    result.bits = mlusim::bits_of##name(a);        \
    return result;                                 \
  }                                                \
  static_assert(true, "a semicolon follows")
#define MLUSIM_VALUE_CONVERSIONS(form, To, From, name) \
  form(To, From, name);                                \
  MLUSIM_ROUNDINGS(form, To, From, name)
// Applies form to all conversions; the library defines them from the same list.
#define MLUSIM_ALL_VALUE_CONVERSIONS(form)                               \
  MLUSIM_VALUE_CONVERSIONS(form, half, float, __float2half);             \
  MLUSIM_VALUE_CONVERSIONS(form, float, half, __half2float);             \
  MLUSIM_VALUE_CONVERSIONS(form, char, float, __float2char);             \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned char, float, __float2uchar);   \
  MLUSIM_VALUE_CONVERSIONS(form, short, float, __float2short);           \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned short, float, __float2ushort); \
  MLUSIM_VALUE_CONVERSIONS(form, int, float, __float2int);               \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned int, float, __float2uint);     \
  MLUSIM_VALUE_CONVERSIONS(form, char, half, __half2char);               \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned char, half, __half2uchar);     \
  MLUSIM_VALUE_CONVERSIONS(form, short, half, __half2short);             \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned short, half, __half2ushort);   \
  MLUSIM_VALUE_CONVERSIONS(form, int, half, __half2int);                 \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned int, half, __half2uint);       \
  MLUSIM_VALUE_CONVERSIONS(form, float, char, __char2float);             \
  MLUSIM_VALUE_CONVERSIONS(form, float, unsigned char, __uchar2float);   \
  MLUSIM_VALUE_CONVERSIONS(form, float, short, __short2float);           \
  MLUSIM_VALUE_CONVERSIONS(form, float, unsigned short, __ushort2float); \
  MLUSIM_VALUE_CONVERSIONS(form, float, int, __int2float);               \
  MLUSIM_VALUE_CONVERSIONS(form, float, unsigned int, __uint2float);     \
  MLUSIM_VALUE_CONVERSIONS(form, half, char, __char2half);               \
  MLUSIM_VALUE_CONVERSIONS(form, half, unsigned char, __uchar2half);     \
  MLUSIM_VALUE_CONVERSIONS(form, half, short, __short2half);             \
  MLUSIM_ROUNDINGS(form, half, unsigned short, __ushort2half);           \
  MLUSIM_VALUE_CONVERSIONS(form, half, int, __int2half);                 \
  MLUSIM_VALUE_CONVERSIONS(form, half, unsigned int, __uint2half)
MLUSIM_ALL_VALUE_CONVERSIONS(MLUSIM_CONVERT_VALUE);
#define MLUSIM_ALL_FROM_BFLOAT16_VALUE(form)                                     \
  MLUSIM_VALUE_CONVERSIONS(form, float, bfloat16_t, __bfloat162float);           \
  MLUSIM_VALUE_CONVERSIONS(form, half, bfloat16_t, __bfloat162half);             \
  MLUSIM_VALUE_CONVERSIONS(form, char, bfloat16_t, __bfloat162char);             \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned char, bfloat16_t, __bfloat162uchar);   \
  MLUSIM_VALUE_CONVERSIONS(form, short, bfloat16_t, __bfloat162short);           \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned short, bfloat16_t, __bfloat162ushort); \
  MLUSIM_VALUE_CONVERSIONS(form, int, bfloat16_t, __bfloat162int);               \
  MLUSIM_VALUE_CONVERSIONS(form, unsigned int, bfloat16_t, __bfloat162uint)
#define MLUSIM_ALL_TO_BFLOAT16_VALUE(form)                                       \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, float, __float2bfloat16);           \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, half, __half2bfloat16);             \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, char, __char2bfloat16);             \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, unsigned char, __uchar2bfloat16);   \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, short, __short2bfloat16);           \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, unsigned short, __ushort2bfloat16); \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, int, __int2bfloat16);               \
  MLUSIM_VALUE_CONVERSIONS(form, bfloat16_t, unsigned int, __uint2bfloat16)
#if MLUSIM_SINCE(392)
MLUSIM_ALL_FROM_BFLOAT16_VALUE(MLUSIM_CONVERT_VALUE);
MLUSIM_ALL_TO_BFLOAT16_VALUE(MLUSIM_CONVERT_TO_BFLOAT16);
MLUSIM_CONVERT_VALUE(half, unsigned short, __ushort2half);
#endif
#if MLUSIM_SINCE(372)
MLUSIM_CONVERT_VALUE(int, float, __float2int32);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_VALUE, int, float, __float2int32);
MLUSIM_CONVERT_VALUE(int, half, __half2int32);
MLUSIM_ROUNDINGS(MLUSIM_CONVERT_VALUE, int, half, __half2int32);
#endif

// Without a rounding in the name: to nearest, ties to even. Bytes saturate.
#if MLUSIM_SINCE(372)
MLUSIM_API void __bang_float2half(half *dst, const float *src, int src_count);
MLUSIM_API void __bang_uchar2float(float *dst, const unsigned char *src, int src_count);
#endif
#if MLUSIM_SINCE(392)
MLUSIM_API void __bang_float2bfloat16(bfloat16_t *dst, const float *src, int src_count);
#endif

// Stochastic rounding: away from zero if the dropped part, in units of the last place, exceeds
// srv[i] / 2^32. A tf32 is a float with a fraction of 10 bits.
#if MLUSIM_SINCE(300) && MLUSIM_NOT(372)
MLUSIM_API void __bang_float2half_sr(half *dst, const float *src, const int *srv, int count);
MLUSIM_API void __bang_float2tf32_sr(float *dst, const float *src, const int *srv, int count);
#endif

#endif  // MLUSIM_CONVERT_H_
