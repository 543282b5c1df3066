// Owners for the objects of the C ABI, tensors on exactly sized heap memory, and half precision for
// tests.
#ifndef MLUOPS_TESTS_OBJECTS_H_
#define MLUOPS_TESTS_OBJECTS_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "harness.h"
#include "mlu_op.h"
#include "mluops_ext.h"

namespace objects {

struct Half {
  std::uint16_t bits;
};

inline double to_double(float value) { return static_cast<double>(value); }
inline double to_double(std::int32_t value) { return value; }
inline double to_double(Half half) {
  const int exponent = (half.bits >> 10) & 31, fraction = half.bits & 1023;
  const double sign = (half.bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

inline Half to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return Half{static_cast<std::uint16_t>(sign | 0x7e00)};
  if (magnitude >= 65520.0) return Half{static_cast<std::uint16_t>(sign | 0x7c00)};
  int exponent = -24;  // of the last bit
  if (magnitude >= std::ldexp(1, -14)) exponent = std::ilogb(magnitude) - 10;
  const auto fraction = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -exponent)));
  // The leading bit of a normal fraction, and a carry out of it, increment the exponent.
  return Half{static_cast<std::uint16_t>(sign | ((exponent + 24) * 1024 + fraction))};
}

template <typename T>
T from_double(double value);
template <>
inline float from_double<float>(double value) {
  return static_cast<float>(value);
}
template <>
inline Half from_double<Half>(double value) {
  return to_half(value);
}
template <>
inline std::int32_t from_double<std::int32_t>(double value) {
  return static_cast<std::int32_t>(value);
}

template <typename T>
constexpr mluOpDataType_t dtype_of();
template <>
constexpr mluOpDataType_t dtype_of<float>() {
  return MLUOP_DTYPE_FLOAT;
}
template <>
constexpr mluOpDataType_t dtype_of<Half>() {
  return MLUOP_DTYPE_HALF;
}
template <>
constexpr mluOpDataType_t dtype_of<std::int32_t>() {
  return MLUOP_DTYPE_INT32;
}

class Handle {
 public:
  Handle() { CHECK_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS); }
  ~Handle() { CHECK_EQ(mluOpDestroy(handle_), MLUOP_STATUS_SUCCESS); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  operator mluOpHandle_t() const { return handle_; }

 private:
  mluOpHandle_t handle_ = nullptr;
};

class Descriptor {
 public:
  Descriptor(const std::vector<std::int64_t> &dims, mluOpDataType_t dtype,
             mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY) {
    CHECK_EQ(mluOpCreateTensorDescriptor(&desc_), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluOpSetTensorDescriptor_v2(desc_, layout, dtype, static_cast<int>(dims.size()), dims.data()),
             MLUOP_STATUS_SUCCESS);
  }
  ~Descriptor() { CHECK_EQ(mluOpDestroyTensorDescriptor(desc_), MLUOP_STATUS_SUCCESS); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator mluOpTensorDescriptor_t() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

// A tensor whose memory ends with the tensor, so that AddressSanitizer detects the first byte
// outside. With `shift` 1 the data is aligned only to its elements.
template <typename T>
class Tensor {
 public:
  explicit Tensor(std::vector<std::int64_t> dims, mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY, int shift = 0)
      : desc(dims, dtype_of<T>(), layout),
        count(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<std::int64_t>())),
        memory_(static_cast<T *>(std::malloc(static_cast<std::size_t>(count + shift) * sizeof(T)))),
        data(memory_ + shift) {
    std::memset(static_cast<void *>(memory_), 0xa5, static_cast<std::size_t>(count + shift) * sizeof(T));
  }
  ~Tensor() { std::free(memory_); }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  void fill_uniform(std::mt19937 &random, double low, double high) {
    std::uniform_real_distribution<double> values(low, high);
    for (std::int64_t i = 0; i < count; ++i) data[i] = from_double<T>(values(random));
  }
  void fill_integers(std::mt19937 &random, int low, int high) {
    std::uniform_int_distribution<int> values(low, high);
    for (std::int64_t i = 0; i < count; ++i) data[i] = from_double<T>(values(random));
  }
  double operator[](std::int64_t i) const { return to_double(data[i]); }
  bool same_bits(const std::vector<T> &other) const {
    return static_cast<std::int64_t>(other.size()) == count &&
           (count == 0 || std::memcmp(data, other.data(), other.size() * sizeof(T)) == 0);
  }
  std::vector<T> copy() const { return std::vector<T>(data, data + count); }

  Descriptor desc;
  const std::int64_t count;

 private:
  T *memory_;

 public:
  T *const data;
};

// Compares with sums of terms; `tolerance` is relative to `scale`, the sums of their magnitudes.
template <typename T>
void check_sums(const Tensor<T> &found, const std::vector<double> &wanted, const std::vector<double> &scale,
                double tolerance) {
  const double smallest_step = std::is_same<T, Half>::value ? std::ldexp(1, -24) : std::ldexp(1, -149);
  for (std::int64_t i = 0; i < found.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double difference = std::fabs(found[i] - wanted[at]);
    if (!(difference <= tolerance * scale[at] + smallest_step)) CHECK_EQ(found[i], wanted[at]);
  }
}

}  // namespace objects

#endif  // MLUOPS_TESTS_OBJECTS_H_
