// Carafe on the CPU. Sums over the cells of a window stay in registers, for some channels at a
// time. The gradient of the input is gathered: each pixel adds up the outputs that looked at it, in
// their order, so that nothing is added by two threads.
#include "cpu/tiles.h"
#include "ops/carafe_upsample/carafe_upsample.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kValuesPerPiece = 16384;

template <typename T>
inline typename Arithmetic<T>::Vector load_part(const T *from, std::int64_t count) {
  typename Arithmetic<T>::Value values[Arithmetic<T>::kWidth] = {};
  const std::int64_t most = smaller<std::int64_t>(count, Arithmetic<T>::kWidth);
  for (std::int64_t i = 0; i < most; ++i) values[i] = widened(from[i]);
  return load_some(values, Arithmetic<T>::kWidth);
}

// Some channels of a sum: as many vectors as the loop over the terms keeps in registers.
template <typename T>
class ChannelSum {
 public:
  typedef typename Arithmetic<T>::Value Value;
  typedef typename Arithmetic<T>::Vector Vector;
  static constexpr int kVectors = 4;
  static constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  static constexpr std::int64_t kMost = kVectors * kWidth;

  explicit ChannelSum(std::int64_t count) : count_(smaller(count, kMost)) {}

  void add(Value weight, const T *row) {
    const Vector factor = Arithmetic<T>::everywhere(weight);
    if (count_ == kMost) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum_[v] = Arithmetic<T>::multiply_add(factor, whole(row + v * kWidth), sum_[v]);
      return;
    }
    for (int v = 0; v * kWidth < count_; ++v)
      sum_[v] = Arithmetic<T>::multiply_add(factor, load_part(row + v * kWidth, count_ - v * kWidth), sum_[v]);
  }

  void write(T *to) const {
    for (std::int64_t i = 0; i < count_; ++i) store(to + i, sum_[i / kWidth][i % kWidth]);
  }

 private:
  static Vector whole(const float *from) { return load(from); }
  static Vector whole(const Half *from) { return load(from); }
  static Vector whole(const double *from) { return load_some(from, kWidth); }

  const std::int64_t count_;
  Vector sum_[kVectors] = {};
};

template <typename T>
class Carafe {
 public:
  typedef typename Arithmetic<T>::Value Value;

  explicit Carafe(const CarafeGeometry &geometry) : g_(geometry), channels_(geometry.channels / geometry.groups) {}

  // Rows of the output are counted through the batch.
  void forward(const CarafeForwardProblem &p, std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const Row row = row_of(number);
      for (std::int64_t x = 0; x < width(); ++x) {
        if (poll.interrupted(g_.channels * g_.cells())) return;
        const std::int64_t pixel = number * width() + x;
        T *const output = static_cast<T *>(p.output) + pixel * g_.channels;
        const T *const mask = static_cast<const T *>(p.mask) + pixel * g_.masks();
        for (std::int64_t group = 0; group < g_.groups; ++group) {
          for (std::int64_t c = 0; c < channels_; c += ChannelSum<T>::kMost) {
            const std::int64_t first = group * channels_ + c;
            sum_window(row, x, mask + group * g_.cells(), static_cast<const T *>(p.input) + first, channels_ - c,
                       output + first);
          }
        }
      }
    }
  }

  // Gradient of the mask, for the same rows.
  void backward_mask(const CarafeBackwardProblem &p, std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const Row row = row_of(number);
      for (std::int64_t x = 0; x < width(); ++x) {
        if (poll.interrupted(g_.channels * g_.cells())) return;
        const std::int64_t pixel = number * width() + x;
        const T *const grad = static_cast<const T *>(p.grad_output) + pixel * g_.channels;
        T *to = static_cast<T *>(p.grad_mask) + pixel * g_.masks();
        for (std::int64_t group = 0; group < g_.groups; ++group) {
          for (std::int64_t cell = 0; cell < g_.cells(); ++cell, ++to) {
            const std::int64_t source = pixel_of(row, x, cell), first = group * channels_;
            const T *const input = static_cast<const T *>(p.input) + source * g_.channels + first;
            store(to, source < 0 ? Value{0} : dot(input, grad + first, channels_));
          }
        }
      }
    }
  }

  // Gradient of the input; its rows are counted through the batch.
  void backward_input(const CarafeBackwardProblem &p, std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      for (std::int64_t x = 0; x < g_.width; ++x) {
        if (poll.interrupted(g_.channels * g_.cells() * g_.scale * g_.scale)) return;
        T *const to = static_cast<T *>(p.grad_input) + (number * g_.width + x) * g_.channels;
        for (std::int64_t group = 0; group < g_.groups; ++group) {
          for (std::int64_t c = 0; c < channels_; c += ChannelSum<T>::kMost)
            gather(p, number, x, group, c, to + group * channels_ + c);
        }
      }
    }
  }

  std::int64_t rows() const { return g_.batches * g_.height * g_.scale; }

 private:
  static constexpr int kParts = 16;  // partial sums over channels c, c + 16, c + 32, ...

  // Of the output: the first pixel of its image, and the first row of its windows.
  struct Row {
    std::int64_t image;
    std::int64_t top;
  };

  std::int64_t width() const { return g_.width * g_.scale; }
  std::int64_t before() const { return (g_.kernel - 1) / 2; }

  Row row_of(std::int64_t number) const {
    const std::int64_t image = number / (g_.height * g_.scale), y = number % (g_.height * g_.scale);
    return {image * g_.height * g_.width, y / g_.scale - before()};
  }

  // The pixel of a cell, or -1 beside the map.
  std::int64_t pixel_of(const Row &row, std::int64_t x, std::int64_t cell) const {
    const std::int64_t y = row.top + cell / g_.kernel, left = x / g_.scale - before() + cell % g_.kernel;
    return y < 0 || y >= g_.height || left < 0 || left >= g_.width ? -1 : row.image + y * g_.width + left;
  }

  // `input` begins at the first channel of the sum.
  void sum_window(const Row &row, std::int64_t x, const T *mask, const T *input, std::int64_t count, T *to) const {
    ChannelSum<T> sum(count);
    const std::int64_t left = x / g_.scale - before();
    const std::int64_t first = larger<std::int64_t>(-left, 0), last = smaller(g_.kernel, g_.width - left);
    const std::int64_t upper = larger<std::int64_t>(-row.top, 0), lower = smaller(g_.kernel, g_.height - row.top);
    for (std::int64_t a = upper; a < lower; ++a) {
      const T *const line = input + (row.image + (row.top + a) * g_.width + left) * g_.channels;
      for (std::int64_t b = first; b < last; ++b) sum.add(widened(mask[a * g_.kernel + b]), line + b * g_.channels);
    }
    sum.write(to);
  }

  void gather(const CarafeBackwardProblem &p, std::int64_t number, std::int64_t x, std::int64_t group, std::int64_t c,
              T *to) const {
    ChannelSum<T> sum(channels_ - c);
    const std::int64_t image = number / g_.height, y = number % g_.height, after = g_.kernel - 1 - before();
    const std::int64_t upper = larger<std::int64_t>(y - after, 0), lower = smaller(y + before() + 1, g_.height);
    const std::int64_t left = larger<std::int64_t>(x - after, 0), right = smaller(x + before() + 1, g_.width);
    for (std::int64_t oy = upper * g_.scale; oy < lower * g_.scale; ++oy) {
      const std::int64_t a = y - oy / g_.scale + before();
      const std::int64_t line = (image * g_.height * g_.scale + oy) * width();
      for (std::int64_t center = left; center < right; ++center) {
        const std::int64_t cell = group * g_.cells() + a * g_.kernel + x - center + before();
        for (std::int64_t pixel = line + center * g_.scale; pixel < line + (center + 1) * g_.scale; ++pixel) {
          sum.add(widened(static_cast<const T *>(p.mask)[pixel * g_.masks() + cell]),
                  static_cast<const T *>(p.grad_output) + pixel * g_.channels + group * channels_ + c);
        }
      }
    }
    sum.write(to);
  }

  static Value dot(const T *a, const T *b, std::int64_t count) {
    Value sum[kParts] = {};
    std::int64_t i = 0;
    for (; i + kParts <= count; i += kParts) {
      for (int j = 0; j < kParts; ++j) sum[j] += widened(a[i + j]) * widened(b[i + j]);
    }
    for (int j = 0; i + j < count; ++j) sum[j] += widened(a[i + j]) * widened(b[i + j]);
    for (int half = kParts / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) sum[j] += sum[j + half];
    }
    return sum[0];
  }

  const CarafeGeometry &g_;
  const std::int64_t channels_;  // of a group
};

template <typename T>
mluOpStatus_t enlarge(const CarafeForwardProblem &problem) {
  const CarafeGeometry &g = problem.geometry;
  const Carafe<T> carafe(g);
  auto some = [&](std::int64_t begin, std::int64_t end) { carafe.forward(problem, begin, end); };
  parallel_for(carafe.rows(), kValuesPerPiece / (g.width * g.scale * g.channels * g.cells()) + 1, some);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t differentiate(const CarafeBackwardProblem &problem) {
  const CarafeGeometry &g = problem.geometry;
  const Carafe<T> carafe(g);
  auto masks = [&](std::int64_t begin, std::int64_t end) { carafe.backward_mask(problem, begin, end); };
  auto inputs = [&](std::int64_t begin, std::int64_t end) { carafe.backward_input(problem, begin, end); };
  const std::int64_t work = g.width * g.scale * g.channels * g.cells();
  parallel_for(carafe.rows(), kValuesPerPiece / work + 1, masks);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  parallel_for(g.batches * g.height, kValuesPerPiece / (work * g.scale) + 1, inputs);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t carafe_forward(const CarafeForwardProblem &problem) {
  if (problem.geometry.dtype == MLUOP_DTYPE_DOUBLE) return enlarge<double>(problem);
  if (problem.geometry.dtype == MLUOP_DTYPE_HALF) return enlarge<Half>(problem);
  return enlarge<float>(problem);
}

mluOpStatus_t carafe_backward(const CarafeBackwardProblem &problem) {
  if (problem.geometry.dtype == MLUOP_DTYPE_DOUBLE) return differentiate<double>(problem);
  if (problem.geometry.dtype == MLUOP_DTYPE_HALF) return differentiate<Half>(problem);
  return differentiate<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_carafe_forward, carafe_forward, CarafeForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_carafe_backward, carafe_backward, CarafeBackwardProblem, problem.function);
