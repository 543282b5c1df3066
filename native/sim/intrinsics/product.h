// Common parts of matrix products, convolutions and related instructions: numbers of any kind as
// doubles, filters in the lanes of WRAM, results that are scaled and rounded once.
#ifndef MLUSIM_INTRINSICS_PRODUCT_H_
#define MLUSIM_INTRINSICS_PRODUCT_H_

#include <cmath>
#include <cstring>
#include <vector>

#include "intrinsics/operand.h"
#include "mlusim/types.h"

namespace mlusim {

enum class Number {
  kHalf,
  kFloat,
  kBFloat16,
  kInt4,  // two in a byte
  kInt8,
  kInt16,
  kInt32
};

template <typename T>
constexpr Number number_of() {
  if constexpr (std::is_same<T, half>::value) return Number::kHalf;
  if constexpr (std::is_same<T, float>::value) return Number::kFloat;
  if constexpr (std::is_same<T, bfloat16_t>::value) return Number::kBFloat16;
  if constexpr (std::is_same<T, int4x2_t>::value) return Number::kInt4;
  return sizeof(T) == 1 ? Number::kInt8 : sizeof(T) == 2 ? Number::kInt16 : Number::kInt32;
}

// Numbers in memory. Those of 4 bits are counted singly, and come in pairs.
struct Numbers {
  const void *base;  // null: none
  Number kind;
};

constexpr std::int64_t bytes_of(Number kind, std::int64_t count) {
  switch (kind) {
    case Number::kInt4:
      return (count + 1) / 2;
    case Number::kInt8:
      return count;
    case Number::kFloat:
    case Number::kInt32:
      return count * 4;
    default:
      return count * 2;
  }
}

// Converts numbers to doubles, which is exact for all kinds.
void widen_numbers(const Numbers &from, std::int64_t first, std::int64_t count, double *to);

// Returns 2^position. Ends the launch for a position that no device has.
double position_scale(const Call &call, int position);

// Writes element `at` of dst, rounded to the nearest, ties to even. Integers saturate, and NaN
// becomes 0.
void put_number(void *dst, Number kind, std::int64_t at, double value);

// Rows in the lanes of WRAM: row r lies in lane r % 64, behind r / 64 other rows of `row_bytes`
// each.
struct Filter {
  const char *role;
  Numbers numbers;
  std::int64_t rows;
  std::int64_t depth;  // numbers per row
  std::int64_t row_bytes() const { return bytes_of(numbers.kind, depth); }
};

// Returns the filter with its first row's place in lane 0, see lane_base(). Ends the launch if it
// does not lie in WRAM.
Filter located(const Call &call, const Filter &filter);

// Describes a located filter as operands: the rows that all lanes have, and the extra row of some
// lanes. Returns the number of operands.
int filter_operands(const Filter &filter, Operand *operands);

// Returns a row of a located filter.
char *row_of(const Filter &filter, std::int64_t number);

// A located filter with its rows as columns and, by row, whether it is defined. The next call
// reuses the memory.
struct Columns {
  const double *values;          // in panels, see ProductLoops
  const unsigned char *defined;  // null if no shadow is kept
};
Columns read_filter(const Filter &filter);

// Returns scratch memory that instructions keep: the stack of a launch that ends early is never
// unwound.
template <typename T, int kNumber>
T *scratch(std::int64_t count) {
  static std::vector<T> &memory = *new std::vector<T>;
  if (memory.size() < static_cast<std::size_t>(count)) memory.resize(static_cast<std::size_t>(count));
  return memory.data();
}

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_PRODUCT_H_
