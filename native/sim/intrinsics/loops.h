// The loops behind vector instructions: plain functions on memory, without machine or checkers.
//
// Files of loops/ are compiled once per instruction level and each gives a table; a function of the same name chooses the one for
// this CPU.
#ifndef MLUSIM_INTRINSICS_LOOPS_H_
#define MLUSIM_INTRINSICS_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mlusim/types.h"

namespace mlusim {

// Types of elements. Where signed and unsigned do not differ, both use the loop of the unsigned one.
enum class Type {
  kHalf,
  kFloat,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kCount
};

template <typename T>
constexpr Type type_of() {
  if constexpr (std::is_same<T, half>::value) {
    return Type::kHalf;
  } else if constexpr (std::is_same<T, float>::value) {
    return Type::kFloat;
  } else if constexpr (std::is_same<T, bfloat16_t>::value) {
    return Type::kBFloat16;
  } else if constexpr (sizeof(T) == 1) {
    return std::is_signed<T>::value ? Type::kInt8 : Type::kUInt8;
  } else if constexpr (sizeof(T) == 2) {
    return std::is_signed<T>::value ? Type::kInt16 : Type::kUInt16;
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed<T>::value ? Type::kInt32 : Type::kUInt32;
  } else {
    return Type::kInt64;
  }
}

constexpr int kTypes = static_cast<int>(Type::kCount);

// ---- Half and bfloat16 --------------------------------------------------------------------------------------------------

// They are computed as floats, each result rounded to the nearest: tables have loops of their own for them only where that would
// not do.
struct ShortLoops {
  void (*widen)(const void *from, float *to, std::size_t count);
  void (*narrow)(const float *from, void *to, std::size_t count);
};
const ShortLoops &half_loops();
const ShortLoops &bfloat16_loops();

// ---- Fused operations ---------------------------------------------------------------------------------------------------

// to = from * factor + sign * addend, rounded once; the sign is 1 or -1. By whether factor and addend are vectors or one value.
struct FusedLoops {
  void (*multiply_add[2][2])(const float *from, const float *factor, const float *addend, float sign, float *to,
                             std::size_t count);
};
const FusedLoops &fused_loops();

// ---- Two operands -------------------------------------------------------------------------------------------------------

enum class Binary {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kAddTowardZero,
  kMax,     // the first where neither is larger
  kMin,     // the first where neither is smaller
  kNanMax,  // NaN if one is NaN
  kNanMin,
  kNumberMax,  // the other one if one is NaN
  kNumberMin,
  kAnd,  // 1 or 0
  kOr,
  kXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftRight,
  kEq,  // 1 or 0
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,  // the same, or one is NaN
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kCount
};

// dst may start where a source does. The second operand of the scalar form is one value.
using BinaryLoop = void (*)(void *dst, const void *src0, const void *src1, std::size_t count);

struct BinaryLoops {
  BinaryLoop vector[static_cast<int>(Binary::kCount)][kTypes];
  BinaryLoop scalar[static_cast<int>(Binary::kCount)][kTypes];
};
const BinaryLoops &arithmetic_loops();
const BinaryLoops &logic_loops();
const BinaryLoops &compare_loops();

// ---- One operand --------------------------------------------------------------------------------------------------------

enum class Unary {
  kAbs,
  kSquare,
  kSqrt,
  kRsqrt,
  kRecip,
  kPow2,
  kLog2,
  kLog,
  kExp,
  kSin,
  kCos,
  kTanh,
  kSigmoid,
  kFloor,
  kRound,
  kRelu,
  kSign,
  kNot,
  kBitNot,
  kCount
};

using UnaryLoop = void (*)(void *dst, const void *src, std::size_t count);

struct UnaryLoops {
  UnaryLoop loop[static_cast<int>(Unary::kCount)][kTypes];
};
const UnaryLoops &unary_loops();

// ---- Matrices -----------------------------------------------------------------------------------------------------------

// dst[j * height + i] = src[i * width + j]; the sides must not overlap.
using TransposeLoop = void (*)(void *dst, const void *src, std::int64_t height, std::int64_t width);

struct TransposeLoops {
  TransposeLoop bytes1, bytes2, bytes4;
};
const TransposeLoops &transpose_loops();

// Sums of products, computed in double: a product of floats or of integers of 16 bits is exact there. Each sum is made in the order of
// `depth`, whatever the level.
constexpr std::int64_t kProductPanel = 16;
struct ProductLoops {
  // dst[i * columns + j] = sum over k of a[i * depth + k] * b[k][j]. Of b, panels of kProductPanel columns lie one behind the other; what
  // the last one has beyond is of no matter.
  void (*multiply)(double *dst, const double *a, const double *panels, std::int64_t rows, std::int64_t depth,
                   std::int64_t columns);
  void (*widen)(const float *from, double *to, std::size_t count);
};
const ProductLoops &product_loops();

// ---- Conversions --------------------------------------------------------------------------------------------------------

enum class Rounding {
  kTowardZero,   // tz
  kAway,         // oz
  kUp,           // up
  kDown,         // dn
  kNearestAway,  // rd: ties away from zero
  kNearestEven,  // rn
  kNearestUp,    // rm: ties toward +inf
  kCount
};
constexpr int kRoundings = static_cast<int>(Rounding::kCount);

// By the end of a conversion's name; toward zero without one.
constexpr Rounding rounding_of(const char *name) {
  const char *end = name;
  while (*end != '\0') ++end;
  const char a = end[-2], b = end[-1];
  if (end[-3] != '_') return Rounding::kTowardZero;
  if (a == 'o') return Rounding::kAway;
  if (a == 'u') return Rounding::kUp;
  if (a == 'd') return Rounding::kDown;
  if (a == 'r') return b == 'd' ? Rounding::kNearestAway : b == 'n' ? Rounding::kNearestEven : Rounding::kNearestUp;
  return Rounding::kTowardZero;
}

// dst[i] = src[i] * 2^exponent, rounded; integers saturate, NaN becomes 0 there. `symmetric`: the most negative integer is left
// out. dst may start where src does unless its elements are larger.
using ConvertLoop = void (*)(void *dst, const void *src, std::size_t count, int exponent, bool symmetric);

struct ConvertLoops {
  ConvertLoop loop[kTypes][kTypes][kRoundings];  // by type of dst, type of src
};
const ConvertLoops &convert_loops();

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_LOOPS_H_
