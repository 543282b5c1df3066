// Pooling windows over an image with contiguous channels.
#ifndef MLUSIM_INTRINSICS_WINDOWS_H_
#define MLUSIM_INTRINSICS_WINDOWS_H_

#include <string>

#include "intrinsics/operand.h"

namespace mlusim {

struct Windows {
  std::int64_t channel, height, width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width;
  // The distances of the places in a window, and of the results.
  std::int64_t in_height = 1, in_width = 1;
  std::int64_t out_height = 1, out_width = 1;

  // Elements that do not fill a window are left out.
  static std::int64_t count(std::int64_t length, std::int64_t places, std::int64_t apart, std::int64_t stride) {
    const std::int64_t reach = (places - 1) * apart + 1;
    return length < reach ? 0 : (length - reach) / stride + 1;
  }
  std::int64_t rows() const { return count(height, kernel_height, in_height, stride_height); }
  std::int64_t columns() const { return count(width, kernel_width, in_width, stride_width); }
  std::int64_t results() const { return rows() * columns() * channel; }
  std::int64_t places() const { return kernel_height * kernel_width; }
  std::int64_t operations() const { return results() * places(); }
  std::int64_t elements() const { return height * width * channel; }

  // Returns the first element of place (i, j) of window (row, column).
  std::int64_t at(std::int64_t row, std::int64_t column, std::int64_t i, std::int64_t j) const {
    return ((row * stride_height + i * in_height) * width + column * stride_width + j * in_width) * channel;
  }
  // Returns the element at place `place` of a result's window, in the result's channel.
  std::int64_t element(std::int64_t result, std::int64_t place) const {
    const std::int64_t window = result / channel;
    return at(window / columns(), window % columns(), place / kernel_width, place % kernel_width) + result % channel;
  }
  // Returns the target element of a result.
  std::int64_t target(std::int64_t result) const {
    const std::int64_t window = result / channel;
    const std::int64_t line = (columns() - 1) * out_width + 1;
    return (window / columns() * out_height * line + window % columns() * out_width) * channel + result % channel;
  }
  // The number of elements from the first result to the end of the last.
  std::int64_t extent() const { return results() == 0 ? 0 : target(results() - 1) + 1; }
};

// Whether the calling core has work. Ends the launch for windows that no device has.
inline bool has_windows(const Call &call, const Windows &w) {
  if (!has_vector_work(call, w.channel) || !has_work(call, w.height) || !has_work(call, w.width)) return false;
  for (const std::int64_t size : {w.kernel_height, w.kernel_width, w.stride_height, w.stride_width, w.in_height,
                                  w.in_width, w.out_height, w.out_width}) {
    if (size <= 0) refuse(call, "bad-argument", "a window, stride or dilation of " + std::to_string(size));
  }
  return true;
}

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_WINDOWS_H_
