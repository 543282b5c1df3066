// The inner loops of vector instructions: plain functions on memory, without machine and checkers.
//
// The files of loops/ are compiled once per instruction level, and each defines a table of loops. A
// function with the name of the table chooses the level for this CPU.
#ifndef MLUSIM_INTRINSICS_LOOPS_H_
#define MLUSIM_INTRINSICS_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mlusim/types.h"

namespace mlusim {

// Element types. Where signed and unsigned give the same result, both use the loop of the unsigned
// type.
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

// ---- Half and bfloat16 --------------------------------------------------------------------------

// Half and bfloat16 are computed as floats, and each result is rounded to the nearest. Tables have
// separate loops for them only where that gives other results.
struct ShortLoops {
  void (*widen)(const void *from, float *to, std::size_t count);
  void (*narrow)(const float *from, void *to, std::size_t count);
};
const ShortLoops &half_loops();
const ShortLoops &bfloat16_loops();

// ---- Fused operations ---------------------------------------------------------------------------

// to = from * factor + sign * addend, rounded once; the sign is 1 or -1. Indexed by whether factor
// and addend are vectors or single values.
struct FusedLoops {
  void (*multiply_add[2][2])(const float *from, const float *factor, const float *addend, float sign, float *to,
                             std::size_t count);
};
const FusedLoops &fused_loops();

// ---- Two operands -------------------------------------------------------------------------------

enum class Binary {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kAddTowardZero,
  kMax,     // the first operand if neither is larger
  kMin,     // the first operand if neither is smaller
  kNanMax,  // NaN if one operand is NaN
  kNanMin,
  kNumberMax,  // the other operand if one is NaN
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
  kEqu,  // equal, or one operand is NaN
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kAddOf2xx,  // of real numbers on MLU270 and MLU290: see of_card()
  kSubOf2xx,
  kMulOf2xx,
  kDivOf2xx,
  kAddTowardZeroOf2xx,
  kCount
};

// dst may start at the address of a source. The scalar form has a single value as second operand.
using BinaryLoop = void (*)(void *dst, const void *src0, const void *src1, std::size_t count);

struct BinaryLoops {
  BinaryLoop vector[static_cast<int>(Binary::kCount)][kTypes];
  BinaryLoop scalar[static_cast<int>(Binary::kCount)][kTypes];
};
const BinaryLoops &arithmetic_loops();
const BinaryLoops &logic_loops();
const BinaryLoops &compare_loops();

// ---- One operand --------------------------------------------------------------------------------

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

// ---- Matrices -----------------------------------------------------------------------------------

// dst[j * height + i] = src[i * width + j]; source and target must not overlap.
using TransposeLoop = void (*)(void *dst, const void *src, std::int64_t height, std::int64_t width);

struct TransposeLoops {
  TransposeLoop bytes1, bytes2, bytes4;
};
const TransposeLoops &transpose_loops();

// Sums of products in double, where a product of two floats, or of two integers of 16 bits, is
// exact. Each sum is made in the order of `depth`, on every level.
constexpr std::int64_t kProductPanel = 16;
struct ProductLoops {
  // dst[i * columns + j] = sum over k of a[i * depth + k] * b[k][j]. `panels` holds b as
  // consecutive panels of kProductPanel columns; excess columns of the last panel may hold any
  // values.
  void (*multiply)(double *dst, const double *a, const double *panels, std::int64_t rows, std::int64_t depth,
                   std::int64_t columns);
  void (*widen)(const float *from, double *to, std::size_t count);
};
const ProductLoops &product_loops();

// ---- Conversions --------------------------------------------------------------------------------

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

// Finds the rounding by the last part of a conversion's name; without one it is toward zero.
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

// dst[i] = src[i] * 2^exponent, rounded. Integers saturate, and NaN becomes 0. `symmetric` excludes
// the most negative integer. dst may start at the address of src unless its elements are larger.
using ConvertLoop = void (*)(void *dst, const void *src, std::size_t count, int exponent, bool symmetric);

struct ConvertLoops {
  ConvertLoop loop[kTypes][kTypes][kRoundings];  // by type of dst, type of src
};
const ConvertLoops &convert_loops();

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_LOOPS_H_
