// Conversions of numbers in host memory. A long double represents every number of every source type
// exactly, so each result is rounded once, to its own type.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/error.h"

namespace mlusim {
namespace {

using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

// ---- Rounding -----------------------------------------------------------------------------------

// Rounds to a whole number. `value` has at most 64 bits.
Number rounded(Number value, cnrtRoundingMode_t mode) {
  const Number down = std::floor(value);
  const Number up = std::ceil(value);
  if (down == up) return value;
  const Number below = value - down;
  switch (mode) {
    case cnrtRounding_rz:
      return std::trunc(value);
    case cnrtRounding_rd:
      return down;
    case cnrtRounding_ru:
      return up;
    case cnrtRounding_ro:
      return value < 0 ? down : up;
    default:
      if (below != 0.5L) return below < 0.5L ? down : up;
      return mode == cnrtRounding_rm || std::fmod(down, 2) != 0 ? up : down;
  }
}

// A binary floating-point format of IEEE 754.
struct Format {
  int digits;       // including the leading one
  int least_power;  // of the smallest normal number
  int most_power;   // of the largest number
};

constexpr Format kHalfFormat = {11, -14, 15};
constexpr Format kBfloatFormat = {8, -126, 127};
constexpr Format kFloatFormat = {24, -126, 127};
constexpr Format kDoubleFormat = {53, -1022, 1023};

Number fitted(Number value, const Format &format, cnrtRoundingMode_t mode) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int power = std::max(std::ilogb(value), format.least_power);
  const int unit = power - (format.digits - 1);  // exponent of the distance to the next number
  const Number fitting = std::copysign(std::ldexp(rounded(std::ldexp(value, -unit), mode), unit), value);
  const Number greatest = std::ldexp(std::ldexp(Number{1}, format.digits) - 1, format.most_power - format.digits + 1);
  if (std::fabs(fitting) <= greatest) return fitting;
  const bool stays =
      mode == cnrtRounding_rz || (mode == cnrtRounding_rd && value > 0) || (mode == cnrtRounding_ru && value < 0);
  return std::copysign(stays ? greatest : std::numeric_limits<Number>::infinity(), value);
}

// ---- Types --------------------------------------------------------------------------------------

template <typename T>
T read_as(const unsigned char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void write_as(unsigned char *at, T value) {
  std::memcpy(at, &value, sizeof value);
}

std::uint32_t bits_of(float value) { return read_as<std::uint32_t>(reinterpret_cast<const unsigned char *>(&value)); }

template <typename T>
Number read_number(const unsigned char *at) {
  return static_cast<Number>(read_as<T>(at));
}

Number read_half(const unsigned char *at) { return static_cast<Number>(read_as<_Float16>(at)); }

Number read_bfloat(const unsigned char *at) {
  const std::uint32_t word = static_cast<std::uint32_t>(read_as<std::uint16_t>(at)) << 16;
  return read_number<float>(reinterpret_cast<const unsigned char *>(&word));
}

Number read_boolean(const unsigned char *at) { return *at != 0 ? 1 : 0; }

template <typename T>
void write_integer(unsigned char *at, Number value, cnrtRoundingMode_t mode) {
  constexpr Number kLeast = std::numeric_limits<T>::min();
  constexpr Number kGreatest = std::numeric_limits<T>::max();
  if (std::isnan(value)) return write_as<T>(at, 0);
  if (value <= kLeast) return write_as<T>(at, std::numeric_limits<T>::min());
  if (value >= kGreatest) return write_as<T>(at, std::numeric_limits<T>::max());
  write_as<T>(at, static_cast<T>(rounded(value, mode)));
}

void write_double(unsigned char *at, Number value, cnrtRoundingMode_t mode) {
  write_as(at, static_cast<double>(fitted(value, kDoubleFormat, mode)));
}

void write_float(unsigned char *at, Number value, cnrtRoundingMode_t mode) {
  write_as(at, static_cast<float>(fitted(value, kFloatFormat, mode)));
}

void write_half(unsigned char *at, Number value, cnrtRoundingMode_t mode) {
  write_as(at, static_cast<_Float16>(static_cast<float>(fitted(value, kHalfFormat, mode))));
}

void write_bfloat(unsigned char *at, Number value, cnrtRoundingMode_t mode) {
  const std::uint32_t word = bits_of(static_cast<float>(fitted(value, kBfloatFormat, mode)));
  const std::uint32_t quiet = std::isnan(value) ? 0x40u : 0u;
  write_as(at, static_cast<std::uint16_t>((word >> 16) | quiet));
}

void write_boolean(unsigned char *at, Number value, cnrtRoundingMode_t) { *at = value != 0 ? 1 : 0; }

struct Type {
  cnrtDataType_V2_t type;
  std::size_t bytes;
  Number (*read)(const unsigned char *at);
  void (*write)(unsigned char *at, Number value, cnrtRoundingMode_t mode);
};

template <typename T>
constexpr Type integer(cnrtDataType_V2_t type) {
  return {type, sizeof(T), read_number<T>, write_integer<T>};
}

constexpr Type kTypes[] = {
    {cnrtDouble, 8, read_number<double>, write_double},
    {cnrtFloat, 4, read_number<float>, write_float},
    {cnrtHalf, 2, read_half, write_half},
    {cnrtBfloat, 2, read_bfloat, write_bfloat},
    integer<std::uint64_t>(cnrtUlonglong),
    integer<std::uint32_t>(cnrtUint),
    integer<std::uint16_t>(cnrtUshort),
    integer<std::uint8_t>(cnrtUchar),
    integer<std::int64_t>(cnrtLonglong),
    integer<std::int32_t>(cnrtInt),
    integer<std::int16_t>(cnrtShort),
    integer<std::int8_t>(cnrtChar),
    {cnrtBoolean, 1, read_boolean, write_boolean},
};

const Type *find_type(cnrtDataType_V2_t type) {
  for (const Type &known : kTypes) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

// ---- The call -----------------------------------------------------------------------------------

cnrtRet_t cast(const char *function, const void *src, cnrtDataType_V2_t src_type, void *dst, cnrtDataType_V2_t dst_type,
               int count, cnrtQuantizedParam_t param, cnrtRoundingMode_t mode) {
  const Type *const from = find_type(src_type);
  const Type *const to = find_type(dst_type);
  if (from == nullptr || to == nullptr) {
    return explain(cnrtErrorArgsInvalid, "%s: %s: no type has the number %d", function,
                   from == nullptr ? "src_type" : "dst_type", static_cast<int>(from == nullptr ? src_type : dst_type));
  }
  if (count < 0) return explain(cnrtErrorArgsInvalid, "%s: count: expected at least 0, got %d", function, count);
  if (param != nullptr) return explain(cnrtErrorArgsInvalid, "%s: param: expected NULL", function);
  if (mode < cnrtRounding_rn || mode > cnrtRounding_rm) {
    return explain(cnrtErrorArgsInvalid, "%s: mode: expected 0 to 5, got %d", function, static_cast<int>(mode));
  }
  if (count == 0) return cnrtSuccess;
  if (src == nullptr || dst == nullptr) return refuse_null(function, src == nullptr ? "src" : "dst");
  const auto *source = static_cast<const unsigned char *>(src);
  auto *target = static_cast<unsigned char *>(dst);
  for (int i = 0; i < count; ++i, source += from->bytes, target += to->bytes)
    to->write(target, from->read(source), mode);
  return cnrtSuccess;
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtCastDataType_V2(void *src, cnrtDataType_V2_t src_type, void *dst, cnrtDataType_V2_t dst_type, int count,
                              cnrtQuantizedParam_t param, cnrtRoundingMode_t mode) {
  return guarded(
      __func__, [&](const char *function) { return cast(function, src, src_type, dst, dst_type, count, param, mode); });
}

cnrtRet_t cnrtConvertHalfToFloat(float *result, uint16_t value) {
  return guarded(__func__, [&](const char *function) {
    if (result == nullptr) return refuse_null(function, "result");
    return cast(function, &value, cnrtHalf, result, cnrtFloat, 1, nullptr, cnrtRounding_rn);
  });
}

cnrtRet_t cnrtConvertFloatToHalf(uint16_t *result, float value) {
  return guarded(__func__, [&](const char *function) {
    if (result == nullptr) return refuse_null(function, "result");
    return cast(function, &value, cnrtFloat, result, cnrtHalf, 1, nullptr, cnrtRounding_rn);
  });
}
