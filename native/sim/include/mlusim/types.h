// Keywords, types and constants of BANG C, and the macros by which its functions are declared.
#ifndef MLUSIM_TYPES_H_
#define MLUSIM_TYPES_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mlusim.h"

// ---- Words that a host compiler does not know ---------------------------------------------------

#define __mlu_global__
#define __mlu_entry__
#define __mlu_host__
#define __mlu_builtin__
#define __mlu_func__ inline
#define __mlu_vector__ inline
#define __mlu_device__ inline

// Stands before a function that returns an object. GCC does not report the store of `memory[i] =
// f()` to the checkers, if f returns a structure, unless it inlines f. The translator adds this to
// the functions of a source.
#if defined(__GNUC__) && !defined(__clang__)
#define MLUSIM_INLINED __attribute__((always_inline))
#else
#define MLUSIM_INLINED
#endif

// The translator replaces arrays in these memories before the compiler sees them. The remaining
// uses are qualified pointers, which are plain ones here, and automatic variables, which lie on the
// core's stack anyway.
#define __nram__
#define __wram__
#define __mlu_shared__
#define __ldram__
#define __mlu_const__

// ---- Numbers ------------------------------------------------------------------------------------

typedef _Float16 half;
typedef std::int8_t int8;
typedef std::int16_t int16;
typedef std::int8_t fix8;

#define MAX_HALF_VALUE 65504
#define P_HALF_INF 0x7C00
#define N_HALF_INF 0xFC00

// Two integers of 4 bits; the one with the even index is in the lower half.
struct int4x2_t {
  std::uint8_t bits;
};

// Scalar arithmetic is done in float and rounded to the nearest.
struct bfloat16_t {
  std::uint16_t bits;

  bfloat16_t() = default;
  bfloat16_t(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  MLUSIM_INLINED bfloat16_t operator-() const { return -static_cast<float>(*this); }

// An operation with another bfloat16_t or an integer gives a bfloat16_t, with a float a float.
#define MLUSIM_BFLOAT16_OPERATOR(op)                                                               \
  bfloat16_t &operator op## = (float value) { return *this = static_cast<float>(*this) op value; } \
  template <typename T, typename = std::enable_if_t<std::is_same<T, bfloat16_t>::value>>           \
  MLUSIM_INLINED friend bfloat16_t operator op(T a, T b) {                                         \
    return static_cast<float>(a) op static_cast<float>(b);                                         \
  }                                                                                                \
  template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>>                   \
  MLUSIM_INLINED friend bfloat16_t operator op(bfloat16_t a, T b) {                                \
    return static_cast<float>(a) op static_cast<float>(b);                                         \
  }                                                                                                \
  template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>>                   \
  MLUSIM_INLINED friend bfloat16_t operator op(T a, bfloat16_t b) {                                \
    return static_cast<float>(a) op static_cast<float>(b);                                         \
  }
  MLUSIM_BFLOAT16_OPERATOR(+)
  MLUSIM_BFLOAT16_OPERATOR(-)
  MLUSIM_BFLOAT16_OPERATOR(*)
  MLUSIM_BFLOAT16_OPERATOR(/)
#undef MLUSIM_BFLOAT16_OPERATOR
};

// The C++ library has no half; like the device, these functions round the float result.
namespace std {
inline bool isnan(half x) { return x != x; }
inline bool isinf(half x) { return isinf(static_cast<float>(x)); }
inline bool isfinite(half x) { return isfinite(static_cast<float>(x)); }
#define MLUSIM_HALF_FUNCTION(name) \
  inline half name(half x) { return static_cast<half>(name(static_cast<float>(x))); }
MLUSIM_HALF_FUNCTION(abs)
MLUSIM_HALF_FUNCTION(fabs)
MLUSIM_HALF_FUNCTION(ceil)
MLUSIM_HALF_FUNCTION(cos)
MLUSIM_HALF_FUNCTION(exp)
MLUSIM_HALF_FUNCTION(floor)
MLUSIM_HALF_FUNCTION(log)
MLUSIM_HALF_FUNCTION(round)
MLUSIM_HALF_FUNCTION(sin)
MLUSIM_HALF_FUNCTION(sqrt)
MLUSIM_HALF_FUNCTION(tanh)
MLUSIM_HALF_FUNCTION(trunc)
#undef MLUSIM_HALF_FUNCTION
inline float pow(half x, float y) { return pow(static_cast<float>(x), y); }
inline float pow(float x, half y) { return pow(x, static_cast<float>(y)); }
inline half pow(half x, half y) { return static_cast<half>(pow(static_cast<float>(x), static_cast<float>(y))); }
// Some C++ libraries lack these two.
using ::ceilf;
using ::floorf;
}  // namespace std

using std::abs;
using std::ceil;
using std::cos;
using std::exp;
using std::fabs;
using std::floor;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::pow;
using std::round;
using std::sin;
using std::sqrt;
using std::tanh;
using std::trunc;

// ---- Enumerations -------------------------------------------------------------------------------

typedef enum {
  GDRAM2NRAM = 0,
  NRAM2GDRAM = 1,
  LDRAM2NRAM = 2,
  NRAM2LDRAM = 3,
  GDRAM2WRAM = 4,
  WRAM2GDRAM = 5,
  LDRAM2WRAM = 6,
  WRAM2LDRAM = 7,
  NRAM2NRAM = 8,
  NRAM2WRAM = 9,
  WRAM2NRAM = 10,
  GDRAM2SRAM = 11,
  SRAM2GDRAM = 12,
  LDRAM2SRAM = 13,
  SRAM2LDRAM = 14,
  SRAM2NRAM = 15,
  NRAM2SRAM = 16,
  SRAM2WRAM = 17,
  WRAM2SRAM = 18,
  GDRAM2GDRAM = 19,
  GDRAM2LDRAM = 20,
  LDRAM2GDRAM = 21,
  LDRAM2LDRAM = 22,
  SRAM2SRAM = 23
} mluMemcpyDirection_t;

typedef enum {
  FUSION_FMA,  // a * b + c
  FUSION_FMS,  // a * b - c
  FUSION_FAM,  // (a + b) * c
  FUSION_FSM,  // (a - b) * c
  FUSION_FAA,  // a + b + c
  FUSION_FAS,  // a + b - c
  FUSION_FSS,  // a - b - c
  FUSION_FSA   // a - b + c
} mluFusionOpCode;

typedef enum {
  CMP_EQ,
  CMP_NE,
  CMP_LT,
  CMP_LE,
  CMP_GT,
  CMP_GE
} CompareMode;

// ---- Declarations -------------------------------------------------------------------------------

// Whether the architecture is `arch` or newer, and whether it is another one than `arch`. The
// library itself is compiled for no architecture and has everything.
#if !defined(__BANG_ARCH__)
#define MLUSIM_SINCE(arch) 1
#define MLUSIM_NOT(arch) 1
#else
#define MLUSIM_SINCE(arch) (__BANG_ARCH__ >= (arch))
#define MLUSIM_NOT(arch) (__BANG_ARCH__ != (arch))
#endif

// MLUSIM_<types>(form, name, ...) expands to form(type, name, ...) for each type that the
// architecture has.
#if MLUSIM_SINCE(392)
#define MLUSIM_AND_BFLOAT16(form, ...) \
  ;                                    \
  form(bfloat16_t, __VA_ARGS__)
#else
#define MLUSIM_AND_BFLOAT16(form, ...)
#endif
#define MLUSIM_HALF_FLOAT(form, ...) \
  form(half, __VA_ARGS__);           \
  form(float, __VA_ARGS__)
#define MLUSIM_REALS(form, ...) MLUSIM_HALF_FLOAT(form, __VA_ARGS__) MLUSIM_AND_BFLOAT16(form, __VA_ARGS__)
#define MLUSIM_BYTES(form, ...)   \
  form(char, __VA_ARGS__);        \
  form(signed char, __VA_ARGS__); \
  form(unsigned char, __VA_ARGS__)
#define MLUSIM_WORDS(form, ...)      \
  form(short, __VA_ARGS__);          \
  form(unsigned short, __VA_ARGS__); \
  form(int, __VA_ARGS__);            \
  form(unsigned int, __VA_ARGS__)
#define MLUSIM_INTEGERS(form, ...) \
  MLUSIM_BYTES(form, __VA_ARGS__); \
  MLUSIM_WORDS(form, __VA_ARGS__)

#endif  // MLUSIM_TYPES_H_
