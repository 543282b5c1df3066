// Correlation on the CPU. All displacements of a row are computed at once, for all its pixels: a
// pixel is loaded once for several displacements, whose sums stay in registers. Kernels and strides
// then only add up and leave out what was computed.
#include "ops/correlation/cpu_rows.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kMostDisplacements = 10;  // whose sums fit into registers
constexpr std::int64_t kBlockOfChannels = 64;    // whose rows stay in the cache nearest to the CPU
constexpr std::int64_t kValuesOfBand = 1 << 14;
constexpr std::int64_t kMostRowsOfBand = 16;

// As Arithmetic does it.
inline float multiplied(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double multiplied(double a, double b, double c) { return a * b + c; }

// The products of rows of the first map with displaced rows of the second one, for N displacements
// and M vectors of pixels, added to sums.
template <typename Real, int N, int M>
[[gnu::always_inline]] inline void multiply(const Real *row1, const Real *row2, std::int64_t pitch,
                                            std::int64_t channels, std::int64_t step, Real *sums, std::int64_t width) {
  using A = Arithmetic<Real>;
  typename A::Vector total[N][M];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) total[n][m] = load_vector(sums + n * width + m * A::kWidth);
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    typename A::Vector pixels[M];
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) pixels[m] = load_vector(row1 + c * pitch + m * A::kWidth);
    const Real *moved = row2 + c * pitch;
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m)
        total[n][m] = A::multiply_add(pixels[m], load_vector(moved + m * A::kWidth), total[n][m]);
      moved += step;
    }
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) store_vector(sums + n * width + m * A::kWidth, total[n][m]);
  }
}

// The gradients of N channels from M displacements of one row: at each pixel the gradients of the
// results times pixels of the other map, one of which is displaced.
struct Steps {
  std::int64_t gradients, pixels;
};

template <typename Real, int N>
[[gnu::always_inline]] inline void spread(const Real *gradients, const Real *pixels, std::int64_t pitch,
                                          std::int64_t displacements, Steps steps, Real *sums, std::int64_t width) {
  using A = Arithmetic<Real>;
  typename A::Vector total[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) total[n] = load_vector(sums + n * width);
  for (std::int64_t i = 0; i < displacements; ++i) {
    const typename A::Vector gradient = load_vector(gradients + i * steps.gradients);
    const Real *row = pixels + i * steps.pixels;
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) total[n] = A::multiply_add(gradient, load_vector(row + n * pitch), total[n]);
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) store_vector(sums + n * width, total[n]);
}

// About the number of values of a task, or a large one.
inline std::int64_t values_of_task(const CorrelationGeometry &g, std::int64_t each) {
  constexpr std::int64_t kLarge = 1 << 20;
  return smaller(g.channels, kLarge) * smaller(each, kLarge);
}

template <typename T>
class Forward {
 public:
  using Real = SumOf<T>;

  explicit Forward(const CorrelationForwardProblem &problem)
      : problem_(problem),
        g_(problem.geometry),
        x_(g_.x),
        layout_(g_, x_),
        images_(Rows<T>::images(g_, layout_)),
        band_(rows_of_band(g_, images_)),
        bands_((g_.y.result + band_ - 1) / band_),
        slots_(useful_slots(images_ * g_.y.patch * bands_, values_of_task(g_, g_.x.patch * band_ * g_.x.result))) {}

  std::int64_t memory() const { return 2 * images_ * Rows<T>::size(g_, layout_) + slots_ * memory_of_slot(); }
  std::int64_t flags() const { return images_ * g_.y.size; }

  void run(Real *memory, bool *finite) const {
    const std::int64_t size = images_ * Rows<T>::size(g_, layout_);
    const Rows<T> rows1(g_, layout_, memory), rows2(g_, layout_, memory + size);
    for (std::int64_t first = 0; first < g_.batches && !interrupted(); first += images_) {
      const std::int64_t images = smaller(images_, g_.batches - first), tasks = g_.y.patch * bands_;
      auto take = [&](std::int64_t begin, std::int64_t end) {
        InterruptPoll poll;
        for (std::int64_t row = begin; row < end; ++row) {
          finite[row] = rows1.take(problem_.input1, first, row, poll);
          rows2.take(problem_.input2, first, row, poll);
        }
      };
      parallel_for(images * g_.y.size, kValuesOfBand / (g_.channels * g_.x.size) + 1, take);
      if (interrupted()) return;
      parallel_slots(images * tasks, slots_, [&](std::int64_t slot, std::int64_t task) {
        const std::int64_t image = task / tasks, number = task % tasks / bands_;
        Real *const own = memory + 2 * size + slot * memory_of_slot();
        correlate(rows1, rows2, finite, own, {first + image, image * g_.y.size}, number, task % bands_);
      });
    }
  }

 private:
  static std::int64_t rows_of_band(const CorrelationGeometry &g, std::int64_t images) {
    const std::int64_t fit = larger<std::int64_t>(kValuesOfBand / (g.x.patch * g.x.result), 1);
    const std::int64_t wanted = (4 * thread_count() + g.y.patch * images - 1) / (g.y.patch * images);
    const std::int64_t shared = (g.y.result + wanted - 1) / wanted;
    return smaller(smaller(fit, shared), kMostRowsOfBand);
  }

  // An image: its number, and its first row.
  struct Image {
    std::int64_t number, row;
  };

  // Rows of all displacements, before and after the sums over the kernel.
  std::int64_t memory_of_slot() const {
    return x_.count() * layout_.width + band_ * g_.x.patch * g_.x.result + kCacheLine;
  }

  // One displacement along y for a band of rows of the result.
  void correlate(const Rows<T> &rows1, const Rows<T> &rows2, const bool *finite, Real *memory, const Image &image,
                 std::int64_t number, std::int64_t band) const {
    const std::int64_t top = band * band_, bottom = smaller(top + band_, g_.y.result);
    const std::int64_t down = g_.y.displacement(number), line = g_.x.patch * g_.x.result;
    Real *const products = memory, *const sums = memory + x_.count() * layout_.width;
    InterruptPoll poll;
    std::memset(sums, 0, static_cast<std::size_t>((bottom - top) * line) * sizeof(Real));
    const std::int64_t first = larger<std::int64_t>(top * g_.y.stride - g_.y.pad, larger<std::int64_t>(0, -down));
    const std::int64_t reach = (bottom - 1) * g_.y.stride - g_.y.pad + (g_.y.kernel - 1) * g_.y.dilation + 1;
    const std::int64_t last = smaller(reach, smaller(g_.y.size, g_.y.size - down));
    for (std::int64_t y = first; y < last; ++y) {
      bool made = false;
      bool ended = poll.interrupted(8 + g_.y.kernel);
      for_results_at(g_.y, y, top, bottom, [&](std::int64_t, std::int64_t row) {
        if (!made)
          ended = ended || !multiply_rows(rows1.row(image.row + y), rows2.row(image.row + y + down),
                                          finite[image.row + y], products, poll);
        made = true;
        if (!ended) add_cells(products, sums + (row - top) * line, poll);
      });
      if (ended) return;
    }
    for (std::int64_t i = 0; i < g_.x.patch && !poll.interrupted((bottom - top) * g_.x.result); ++i) {
      T *const to = static_cast<T *>(problem_.output) +
                    ((image.number * g_.y.patch + number) * g_.x.patch + i) * g_.y.result * g_.x.result;
      for (std::int64_t row = top; row < bottom; ++row) {
        const Real *const from = sums + (row - top) * line + i * g_.x.result;
        for (std::int64_t k = 0; k < g_.x.result; k += Channels<T>::kWidth)
          Channels<T>::store(to + row * g_.x.result + k, Channels<Real>::load(from + k, g_.x.result - k),
                             g_.x.result - k);
      }
    }
  }

  // The products of two rows at all displacements along x. False if the call was interrupted.
  bool multiply_rows(const Real *row1, const Real *row2, bool finite, Real *products, InterruptPoll &poll) const {
    if (!finite) return multiply_inside(row1, row2, products, poll);
    std::memset(products, 0, static_cast<std::size_t>(x_.count() * layout_.width) * sizeof(Real));
    const std::int64_t parts = (x_.count() + kMostDisplacements - 1) / kMostDisplacements;
    for (std::int64_t c = 0; c < g_.channels; c += kBlockOfChannels) {
      const std::int64_t channels = smaller(kBlockOfChannels, g_.channels - c);
      if (poll.interrupted(channels * x_.count() * layout_.width / 8)) return false;
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t begin = x_.count() * part / parts, end = x_.count() * (part + 1) / parts;
        multiply_some(end - begin, row1 + c * layout_.pitch, row2 + c * layout_.pitch + x_.of(begin), channels,
                      products + begin * layout_.width);
      }
    }
    return true;
  }

  void multiply_some(std::int64_t count, const Real *row1, const Real *row2, std::int64_t channels, Real *sums) const {
    switch (count) {
      case 1:
        return multiply_all<1, 4>(row1, row2, channels, sums);
      case 2:
        return multiply_all<2, 4>(row1, row2, channels, sums);
      case 3:
        return multiply_all<3, 2>(row1, row2, channels, sums);
      case 4:
        return multiply_all<4, 2>(row1, row2, channels, sums);
      case 5:
        return multiply_all<5, 2>(row1, row2, channels, sums);
      case 6:
        return multiply_all<6, 1>(row1, row2, channels, sums);
      case 7:
        return multiply_all<7, 1>(row1, row2, channels, sums);
      case 8:
        return multiply_all<8, 1>(row1, row2, channels, sums);
      case 9:
        return multiply_all<9, 1>(row1, row2, channels, sums);
      default:
        return multiply_all<10, 1>(row1, row2, channels, sums);
    }
  }

  template <int N, int M>
  void multiply_all(const Real *row1, const Real *row2, std::int64_t channels, Real *sums) const {
    for (std::int64_t x = 0; x < g_.x.size; x += M * Arithmetic<Real>::kWidth)
      multiply<Real, N, M>(row1 + x, row2 + x, layout_.pitch, channels, x_.step, sums + x, layout_.width);
  }

  // The same with the pixels alone whose displaced ones are on the map: what is infinite or NaN
  // makes NaN of the zeros beside it.
  bool multiply_inside(const Real *row1, const Real *row2, Real *products, InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < x_.count(); ++i) {
      const std::int64_t right = x_.of(i);
      for (std::int64_t x = 0; x < g_.x.size; ++x) {
        Real sum = 0;
        if (poll.interrupted(8 * g_.channels)) return false;
        if (x + right >= 0 && x + right < g_.x.size) {
          for (std::int64_t c = 0; c < g_.channels; ++c)
            sum = multiplied(row1[c * layout_.pitch + x], row2[c * layout_.pitch + x + right], sum);
        }
        products[i * layout_.width + x] = sum;
      }
    }
    return true;
  }

  // Adds what the cells of a kernel in one row are, for all displacements along x.
  void add_cells(const Real *products, Real *sums, InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < x_.count() && !poll.interrupted(g_.x.kernel * 8); ++i) {
      const Real *const from = products + i * layout_.width;
      Real *const to = sums + (x_.begin + i) * g_.x.result;
      for (std::int64_t j = 0; j < g_.x.kernel; ++j) {
        const ResultsInside inside(g_.x, j);
        if (inside.begin < inside.end && poll.interrupted(inside.end - inside.begin)) return;
        if (g_.x.stride == 1) {
          for (std::int64_t k = inside.begin; k < inside.end; ++k) to[k] += from[k + inside.start];
        } else {
          for (std::int64_t k = inside.begin; k < inside.end; ++k) to[k] += from[k * g_.x.stride + inside.start];
        }
      }
    }
  }

  const CorrelationForwardProblem &problem_;
  const CorrelationGeometry &g_;
  const Displacements x_;
  const RowLayout<Real> layout_;
  const std::int64_t images_, band_, bands_, slots_;
};

template <typename T>
class Backward {
 public:
  using Real = SumOf<T>;

  explicit Backward(const CorrelationBackwardProblem &problem)
      : problem_(problem),
        g_(problem.geometry),
        x_(g_.x),
        y_(g_.y),
        layout_(g_, x_),
        images_(Rows<T>::images(g_, layout_)),
        slots_(useful_slots(2 * images_ * g_.y.size, values_of_task(g_, g_.y.patch * g_.x.patch))) {}

  std::int64_t memory() const { return 2 * images_ * Rows<T>::size(g_, layout_) + slots_ * memory_of_slot(); }
  std::int64_t flags() const { return 2 * images_ * g_.y.size; }

  void run(Real *memory, bool *finite) const {
    const std::int64_t size = images_ * Rows<T>::size(g_, layout_);
    const Rows<T> rows1(g_, layout_, memory), rows2(g_, layout_, memory + size);
    bool *const finite2 = finite + images_ * g_.y.size;
    for (std::int64_t start = 0; start < g_.batches && !interrupted(); start += images_) {
      const std::int64_t rows = smaller(images_, g_.batches - start) * g_.y.size;
      auto take = [&](std::int64_t begin, std::int64_t end) {
        InterruptPoll poll;
        for (std::int64_t row = begin; row < end; ++row) {
          finite[row] = rows1.take(problem_.input1, start, row, poll);
          finite2[row] = rows2.take(problem_.input2, start, row, poll);
        }
      };
      parallel_for(rows, kValuesOfBand / (g_.channels * g_.x.size) + 1, take);
      if (interrupted()) return;
      parallel_slots(2 * rows, slots_, [&](std::int64_t slot, std::int64_t task) {
        const bool first = task < rows;
        const std::int64_t row = task % rows, image = row / g_.y.size;
        const Others others{first ? rows2 : rows1, first ? finite2 : finite, image * g_.y.size};
        T *const result = static_cast<T *>(first ? problem_.grad_input1 : problem_.grad_input2) +
                          (start + image) * g_.channels * g_.y.size * g_.x.size;
        add_row(others, memory + 2 * size + slot * memory_of_slot(), result, start + image, row % g_.y.size, first);
      });
    }
  }

 private:
  // The gradients of results at the pixels of a row, and a row of all channels.
  std::int64_t memory_of_slot() const { return x_.count() * layout_.pitch + g_.channels * layout_.width + kCacheLine; }

  // The map whose gradient is not computed.
  struct Others {
    const Rows<T> &rows;
    const bool *finite;
    std::int64_t row;  // the first one of the image
  };

  // A row of the gradient of a map, the first one or the second one, from the rows of the other.
  void add_row(const Others &others, Real *memory, T *gradient, std::int64_t image, std::int64_t y, bool first) const {
    Real *const gradients = memory, *const sums = memory + x_.count() * layout_.pitch;
    InterruptPoll poll;
    std::memset(sums, 0, static_cast<std::size_t>(g_.channels * layout_.width) * sizeof(Real));
    for (std::int64_t i = 0; i < y_.count(); ++i) {
      const std::int64_t down = y_.of(i), row1 = first ? y : y - down, other = first ? y + down : row1;
      if (other < 0 || other >= g_.y.size || !has_results(g_.y, row1)) continue;
      if (!gather(gradients, image, y_.begin + i, row1, first, poll)) return;
      const Real *const pixels = others.rows.row(others.row + other);
      const bool all = others.finite[others.row + other];
      if (all && !spread_all(gradients, pixels, sums, first, poll)) return;
      if (!all && !spread_inside(gradients, pixels, sums, first, poll)) return;
    }
    for (std::int64_t c = 0; c < g_.channels && !poll.interrupted(g_.x.size); ++c) {
      T *const to = gradient + (c * g_.y.size + y) * g_.x.size;
      for (std::int64_t x = 0; x < g_.x.size; x += Channels<T>::kWidth)
        Channels<T>::store(to + x, Channels<Real>::load(sums + c * layout_.width + x, g_.x.size - x), g_.x.size - x);
    }
  }

  // For each displacement along x the sum of the gradients of the results that a pixel of the first
  // map is in, without those whose pixel of the second map is beside it.
  bool gather(Real *gradients, std::int64_t image, std::int64_t number, std::int64_t y, bool first,
              InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < x_.count(); ++i) {
      Real *const to = gradients + i * layout_.pitch + layout_.left;
      std::memset(to - layout_.left, 0, static_cast<std::size_t>(layout_.pitch) * sizeof(Real));
      if (poll.interrupted(layout_.pitch + g_.y.kernel)) return false;
      const T *const plane = static_cast<const T *>(problem_.grad_output) +
                             ((image * g_.y.patch + number) * g_.x.patch + x_.begin + i) * g_.y.result * g_.x.result;
      bool ended = false;
      for_results_at(g_.y, y, 0, g_.y.result, [&](std::int64_t, std::int64_t row) {
        for (std::int64_t j = 0; j < g_.x.kernel && !ended; ++j) {
          const ResultsInside inside(g_.x, j);
          ended = poll.interrupted(8 + larger<std::int64_t>(inside.end - inside.begin, 0));
          for (std::int64_t k = inside.begin; k < inside.end; ++k)
            to[k * g_.x.stride + inside.start] += to_sum(plane[row * g_.x.result + k]);
        }
      });
      if (ended) return false;
      if (!first) continue;
      const std::int64_t right = x_.of(i);
      for (std::int64_t x = 0; x < -right; ++x) to[x] = 0;
      for (std::int64_t x = larger<std::int64_t>(g_.x.size - right, 0); x < g_.x.size; ++x) to[x] = 0;
    }
    return true;
  }

  bool spread_all(const Real *gradients, const Real *row, Real *sums, bool first, InterruptPoll &poll) const {
    const std::int64_t pitch = layout_.pitch, width = layout_.width;
    const Steps steps = first ? Steps{pitch, x_.step} : Steps{pitch - x_.step, -x_.step};
    const Real *const from = gradients + layout_.left + (first ? 0 : -x_.first);
    const Real *const pixels = row + (first ? x_.first : -x_.first);
    std::int64_t c = 0;
    for (; c + 8 <= g_.channels; c += 8) {
      if (poll.interrupted(x_.count() * width)) return false;
      spread_channels<8>(from, pixels + c * pitch, steps, sums + c * width);
    }
    for (; c + 4 <= g_.channels; c += 4) spread_channels<4>(from, pixels + c * pitch, steps, sums + c * width);
    for (; c < g_.channels; ++c) spread_channels<1>(from, pixels + c * pitch, steps, sums + c * width);
    return true;
  }

  // The same for the pixels alone that are in a result: what is infinite or NaN makes NaN of the
  // zeros elsewhere.
  bool spread_inside(const Real *gradients, const Real *row, Real *sums, bool first, InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < x_.count(); ++i) {
      const std::int64_t right = x_.of(i);
      for (std::int64_t x = 0; x < g_.x.size; ++x) {  // of the first map
        if (poll.interrupted(8 * (g_.channels + g_.x.kernel))) return false;
        if (x + right < 0 || x + right >= g_.x.size || !has_results(g_.x, x)) continue;
        const Real gradient = gradients[i * layout_.pitch + layout_.left + x];
        const Real *const from = row + (first ? x + right : x);
        Real *const to = sums + (first ? x : x + right);
        for (std::int64_t c = 0; c < g_.channels; ++c)
          to[c * layout_.width] = multiplied(gradient, from[c * layout_.pitch], to[c * layout_.width]);
      }
    }
    return true;
  }

  template <int N>
  void spread_channels(const Real *gradients, const Real *pixels, Steps steps, Real *sums) const {
    for (std::int64_t x = 0; x < g_.x.size; x += Arithmetic<Real>::kWidth)
      spread<Real, N>(gradients + x, pixels + x, layout_.pitch, x_.count(), steps, sums + x, layout_.width);
  }

  const CorrelationBackwardProblem &problem_;
  const CorrelationGeometry &g_;
  const Displacements x_, y_;
  const RowLayout<Real> layout_;
  const std::int64_t images_, slots_;
};

template <typename T>
mluOpStatus_t correlate(const CorrelationForwardProblem &problem) {
  const Forward<T> forward(problem);
  const Scratch<SumOf<T>> memory(forward.memory());
  const Scratch<bool> finite(forward.flags());
  if (memory.data() == nullptr || finite.data() == nullptr) return out_of_memory(problem.function);
  forward.run(memory.data(), finite.data());
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t differentiate(const CorrelationBackwardProblem &problem) {
  const Backward<T> backward(problem);
  const Scratch<SumOf<T>> memory(backward.memory());
  const Scratch<bool> finite(backward.flags());
  if (memory.data() == nullptr || finite.data() == nullptr) return out_of_memory(problem.function);
  backward.run(memory.data(), finite.data());
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t correlation_forward(const CorrelationForwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return correlate<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? correlate<Half>(problem) : correlate<float>(problem);
}

mluOpStatus_t correlation_backward(const CorrelationBackwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return differentiate<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? differentiate<Half>(problem) : differentiate<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_correlation_forward, correlation_forward, CorrelationForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_correlation_backward, correlation_backward, CorrelationBackwardProblem,
                          problem.function);
