// The bytes that decide what a run does. Behind the last one come zeros, and zero always means the
// most ordinary choice.
#ifndef MLUOPS_FUZZ_BYTES_H_
#define MLUOPS_FUZZ_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t *data, std::size_t size) : next_(data), end_(data + size) {}

  bool done() const { return next_ == end_; }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : *next_++; }

  // 0 to count - 1.
  std::size_t below(std::size_t count) {
    std::size_t value = byte();
    if (count > 256) value |= static_cast<std::size_t>(byte()) << 8;
    return value % count;
  }

  // True with one chance in `count`; never for a zero.
  bool one_in(std::size_t count) { return below(count) == count - 1 && count > 1; }

  template <typename T>
  T raw() {
    std::uint8_t bytes[sizeof(T)];
    for (std::uint8_t &value : bytes) value = byte();
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  // Mostly `ordinary`, else a number from the edges of the types.
  std::int64_t number(std::int64_t ordinary) {
    static constexpr std::int64_t kEdges[] = {
        0,         1,          2,          3,          4,         5,
        7,         8,          9,          16,         64,        255,
        256,       1000,       1024,       65535,      65536,     1000000,
        -1,        -2,         -5,         -128,       INT8_MAX,  INT16_MAX,
        INT16_MIN, 46341,      0x3fffffff, 0x40000000, INT32_MAX, std::int64_t{INT32_MAX} + 1,
        INT32_MIN, UINT32_MAX, INT64_MAX,  INT64_MIN,  -1000000,  std::int64_t{1} << 62};
    const std::uint8_t choice = byte();
    if (choice < 128) return ordinary;
    if (choice < 236) return kEdges[below(sizeof kEdges / sizeof *kEdges)];
    if (choice < 246) return raw<std::int8_t>();
    return choice < 251 ? raw<std::int32_t>() : raw<std::int64_t>();
  }

  double real(double ordinary) {
    static constexpr double kEdges[] = {0.0,   -0.0,   1.0,   -1.0,    0.5,     1e-45,        1e-310, 1e30,
                                        -1e30, 3.4e38, 1e300, 65504.0, 65520.0, 2147483648.0, 9.3e18};
    const std::uint8_t choice = byte();
    if (choice < 128) return ordinary;
    if (choice < 160) return static_cast<double>(raw<float>());
    if (choice < 170) return __builtin_nan("");
    if (choice < 180) return (choice & 1) != 0 ? __builtin_inf() : -__builtin_inf();
    return kEdges[below(sizeof kEdges / sizeof *kEdges)];
  }

 private:
  const std::uint8_t *next_;
  const std::uint8_t *end_;
};

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_BYTES_H_
