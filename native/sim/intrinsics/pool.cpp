// __bang_sumpool, __bang_avgpool, __bang_maxpool, __bang_minpool: windows over an image with
// contiguous channels.
#include <algorithm>
#include <cstring>

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "intrinsics/windows.h"
#include "mlusim/reduce.h"

namespace mlusim {
namespace {

enum class Pool {
  kSum,
  kAverage,
  kMax,
  kMin
};

template <typename Op>
void for_each_window(const Windows &w, const Op &op) {
  for (std::int64_t row = 0; row < w.rows(); ++row) {
    for (std::int64_t column = 0; column < w.columns(); ++column)
      op(row, column, (row * w.columns() + column) * w.channel);
  }
}

Binary operation_of(Pool pool) {
  switch (pool) {
    case Pool::kMax:
      return Binary::kNumberMax;
    case Pool::kMin:
      return Binary::kNumberMin;
    default:
      return Binary::kAdd;
  }
}

// From this number on a vector loop pays.
constexpr std::int64_t kFewChannels = 8;

// A NaN is kept only if all values are NaN.
float combined(Pool pool, float a, float b) {
  if (pool == Pool::kMax) return (b > a) | (a != a) ? b : a;
  if (pool == Pool::kMin) return (b < a) | (a != a) ? b : a;
  return a + b;
}

// Adds a row of a window to the result of its channels.
void pool_row(Pool pool, float *result, const float *values, std::int64_t places, std::int64_t channels) {
  const BinaryWork work = of_card({arithmetic_loops(), operation_of(pool), Type::kFloat});
  for (std::int64_t j = 0; j < places; ++j) {
    const float *place = values + j * channels;
    if (channels > kFewChannels) {
      run_vector(work, result, result, place, channels);
    } else {
      for (std::int64_t c = 0; c < channels; ++c) result[c] = combined(pool, result[c], place[c]);
    }
  }
}

constexpr std::int64_t kMostChannels = 256;

// Computes some channels of one window: in float, row by row, rounded once at the end.
void pool_window(Pool pool, Type type, const Windows &w, void *dst, const char *first, std::int64_t channels) {
  float result[kMostChannels], buffer[kMostChannels];
  const std::int64_t place = w.channel * size_of(type);
  // Contiguous places are added in one call.
  const std::int64_t most = channels == w.channel ? kMostChannels / channels : 1;
  for (std::int64_t i = 0; i < w.kernel_height; ++i) {
    for (std::int64_t j = 0; j < w.kernel_width;) {
      const std::int64_t places = std::min(w.kernel_width - j, most);
      const float *values = floats_of(type, first + (i * w.width + j) * place, buffer, places * channels);
      const bool starts = i == 0 && j == 0;
      if (starts) std::memcpy(result, values, static_cast<std::size_t>(channels) * sizeof(float));
      pool_row(pool, result, values + (starts ? channels : 0), places - (starts ? 1 : 0), channels);
      j += places;
    }
  }
  if (pool == Pool::kAverage) {
    const float size = static_cast<float>(w.kernel_height * w.kernel_width);
    run_scalar(of_card({arithmetic_loops(), Binary::kDiv, Type::kFloat}), result, result, &size, channels);
  }
  round_floats(type, result, dst, channels);
  if (pool == Pool::kSum || pool == Pool::kAverage) drop_zero_signs(type, dst, channels);
}

// dst may be src: each window is written after it was read, and never over later input.
void run_pool(Pool pool, Type type, const Windows &w, char *dst, const char *src) {
  const std::int64_t size = size_of(type);
  for_each_window(w, [&](std::int64_t row, std::int64_t column, std::int64_t at) {
    const std::int64_t from = w.at(row, column, 0, 0);
    for (std::int64_t c = 0; c < w.channel; c += kMostChannels) {
      const std::int64_t channels = std::min(w.channel - c, kMostChannels);
      pool_window(pool, type, w, dst + (at + c) * size, src + (from + c) * size, channels);
    }
  });
}

// A result is defined if its whole window is. Checks one channel of a window at a time, or all
// channels of a place at once.
void shadow_window(const Windows &w, std::int64_t size, char *dst, const char *first) {
  for (std::int64_t c = 0; c < w.channel; ++c) {
    bool defined = true;
    for (std::int64_t i = 0; i < w.kernel_height * w.kernel_width && defined; ++i) {
      const std::int64_t place = (i / w.kernel_width * w.width + i % w.kernel_width) * w.channel;
      defined = shadow_defined(first + (place + c) * size, size);
    }
    shadow_set(dst + c * size, size, defined);
  }
}

void shadow_wide_window(const Windows &w, std::int64_t size, char *dst, const char *first) {
  const std::size_t element = static_cast<std::size_t>(size);
  for (std::int64_t i = 0; i < w.kernel_height * w.kernel_width; ++i) {
    const std::int64_t place = (i / w.kernel_width * w.width + i % w.kernel_width) * w.channel;
    const ShadowSource source = {first + place * size, element, w.channel};
    const ShadowSource before = {dst, element, w.channel};
    shadow_elements(dst, element, w.channel, source, i == 0 ? ShadowSource{} : before);
  }
}

void shadow_pool(const Windows &w, std::int64_t size, char *dst, const char *src) {
  for_each_window(w, [&](std::int64_t row, std::int64_t column, std::int64_t at) {
    const char *first = src + w.at(row, column, 0, 0) * size;
    (w.channel > kFewChannels ? shadow_wide_window : shadow_window)(w, size, dst + at * size, first);
  });
}

void vector_pool(const Call &call, Pool pool, Type type, const Windows &w, void *dst, const void *src) {
  if (!has_windows(call, w)) return;
  const std::int64_t size = size_of(type);
  check_operands(call,
                 {nram_source("src", src, w.height * w.width * w.channel * size),
                  nram_target("dst", dst, w.rows() * w.columns() * w.channel * size)},
                 {w.channel, w.channel * size, w.operations()});
  if (g_observers.init) shadow_pool(w, size, static_cast<char *>(dst), static_cast<const char *>(src));
  run_pool(pool, type, w, static_cast<char *>(dst), static_cast<const char *>(src));
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_POOL(T, name, kind)                                                                              \
  void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width) {           \
    mlusim::vector_pool(MLUSIM_CALL(#name), mlusim::Pool::kind, mlusim::type_of<T>(),                                  \
                        {channel, height, width, kernel_height, kernel_width, kernel_height, kernel_width}, dst, src); \
  }
#define MLUSIM_DEFINE_POOL_STRIDES(T, name, kind)                                                                      \
  void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width,             \
            int stride_width, int stride_height) {                                                                     \
    mlusim::vector_pool(MLUSIM_CALL(#name), mlusim::Pool::kind, mlusim::type_of<T>(),                                  \
                        {channel, height, width, kernel_height, kernel_width, stride_height, stride_width}, dst, src); \
  }
MLUSIM_DEFINE_POOL(half, __bang_sumpool, kSum)
MLUSIM_DEFINE_POOL(half, __bang_avgpool, kAverage)
MLUSIM_DEFINE_POOL(half, __bang_maxpool, kMax)
MLUSIM_DEFINE_POOL(half, __bang_minpool, kMin)
MLUSIM_REALS(MLUSIM_DEFINE_POOL_STRIDES, __bang_sumpool, kSum);
MLUSIM_REALS(MLUSIM_DEFINE_POOL_STRIDES, __bang_avgpool, kAverage);
MLUSIM_REALS(MLUSIM_DEFINE_POOL_STRIDES, __bang_maxpool, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_POOL_STRIDES, __bang_minpool, kMin);
