#include "intrinsics/product.h"

#include <algorithm>
#include <limits>
#include <string>

#include "intrinsics/shadow.h"
#include "intrinsics/transfer.h"
#include "intrinsics/vector.h"
#include "machine/lanes.h"

namespace mlusim {
namespace {

template <typename T>
void widen_each(const void *from, std::int64_t first, std::int64_t count, double *to) {
  const T *numbers = static_cast<const T *>(from) + first;
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(numbers[i]);
}

void widen_reals(Type type, const void *from, std::int64_t first, std::int64_t count, double *to) {
  constexpr std::int64_t kBlock = 512;
  float buffer[kBlock];
  const std::int64_t size = size_of(type);
  for (std::int64_t i = 0; i < count; i += kBlock) {
    const std::int64_t block = std::min(count - i, kBlock);
    const float *values = floats_of(type, static_cast<const char *>(from) + (first + i) * size, buffer, block);
    product_loops().widen(values, to + i, static_cast<std::size_t>(block));
  }
}

double half_byte(const void *from, std::int64_t at) {
  const int bits = (static_cast<const unsigned char *>(from)[at / 2] >> (at % 2 * 4)) & 15;
  return bits < 8 ? bits : bits - 16;
}

template <typename T>
T nearest(double value) {
  constexpr double kLeast = std::numeric_limits<T>::min();
  constexpr double kMost = std::numeric_limits<T>::max();
  const double whole = std::isnan(value) ? 0 : std::nearbyint(value);
  return static_cast<T>(std::max(kLeast, std::min(kMost, whole)));
}

}  // namespace

void widen_numbers(const Numbers &from, std::int64_t first, std::int64_t count, double *to) {
  switch (from.kind) {
    case Number::kHalf:
      return widen_reals(Type::kHalf, from.base, first, count, to);
    case Number::kFloat:
      return widen_reals(Type::kFloat, from.base, first, count, to);
    case Number::kBFloat16:
      return widen_reals(Type::kBFloat16, from.base, first, count, to);
    case Number::kInt8:
      return widen_each<std::int8_t>(from.base, first, count, to);
    case Number::kInt16:
      return widen_each<std::int16_t>(from.base, first, count, to);
    case Number::kInt32:
      return widen_each<std::int32_t>(from.base, first, count, to);
    case Number::kInt4:
      for (std::int64_t i = 0; i < count; ++i) to[i] = half_byte(from.base, first + i);
  }
}

double position_scale(const Call &call, int position) {
  constexpr int kMost = 127;
  if (position < -kMost || position > kMost) {
    refuse(call, "bad-argument", "a fix_position of " + std::to_string(position) + "; -127 to 127 can be had");
  }
  return std::ldexp(1.0, position);
}

void put_number(void *dst, Number kind, std::int64_t at, double value) {
  switch (kind) {
    case Number::kHalf:
      static_cast<half *>(dst)[at] = static_cast<half>(value);
      break;
    case Number::kFloat:
      static_cast<float *>(dst)[at] = static_cast<float>(value);
      break;
    case Number::kBFloat16:
      static_cast<bfloat16_t *>(dst)[at] = bfloat16_t(static_cast<float>(value));
      break;
    case Number::kInt32:
      static_cast<std::int32_t *>(dst)[at] = nearest<std::int32_t>(value);
      break;
    default:
      static_cast<std::int16_t *>(dst)[at] = nearest<std::int16_t>(value);
  }
}

Filter located(const Call &call, const Filter &filter) {
  const Operand operand = {filter.role, Kind::kRead, Space::kWram, Region::plain(filter.numbers.base, 1)};
  check_place(call, operand);
  Filter found = filter;
  found.numbers.base = lane_base(call, operand, (filter.rows + kLanes - 1) / kLanes * filter.row_bytes());
  return found;
}

int filter_operands(const Filter &filter, Operand *operands) {
  const std::int64_t whole = filter.rows / kLanes * kLanes;
  int number = 0;
  const auto add = [&](std::int64_t first, std::int64_t bytes, std::int64_t lanes) {
    if (bytes == 0 || lanes == 0) return;
    const Region region = in_lanes(row_of(filter, first), static_cast<std::size_t>(bytes), lanes);
    operands[number++] = {filter.role, Kind::kRead, Space::kWram, region};
  };
  add(0, whole / kLanes * filter.row_bytes(), kLanes);
  add(whole, filter.row_bytes(), filter.rows - whole);
  return number;
}

char *row_of(const Filter &filter, std::int64_t number) {
  char *base = static_cast<char *>(const_cast<void *>(filter.numbers.base));
  return base + number % kLanes * lane_size() + number / kLanes * filter.row_bytes();
}

Columns read_filter(const Filter &filter) {
  const std::int64_t panels = (filter.rows + kProductPanel - 1) / kProductPanel;
  double *values = scratch<double, 0>(panels * kProductPanel * filter.depth);
  double *row = scratch<double, 1>(filter.depth);
  unsigned char *defined = g_observers.init ? scratch<unsigned char, 0>(filter.rows) : nullptr;
  for (std::int64_t r = 0; r < filter.rows; ++r) {
    const char *from = row_of(filter, r);
    widen_numbers({from, filter.numbers.kind}, 0, filter.depth, row);
    double *column = values + r / kProductPanel * kProductPanel * filter.depth + r % kProductPanel;
    for (std::int64_t k = 0; k < filter.depth; ++k) column[k * kProductPanel] = row[k];
    if (defined != nullptr) defined[r] = shadow_defined(from, filter.row_bytes());
  }
  return {values, defined};
}

}  // namespace mlusim
