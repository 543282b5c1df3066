// BorderAlign on the CPU. Positions and weights are found once per sample and used for all channels, which lie side by side.
// Forward runs over borders; backward over slices of the gradient that one task owns, so that no two tasks add into the same
// place and the order of the additions is fixed.
#include "cpu/vector.h"
#include "ops/border_align/border_align.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Where a border starts and how far it is from one sample to the next.
struct Border {
  float x;
  float y;
  float step_x;
  float step_y;
};

// Four neighbours of a sample, as offsets of their first channel, and their weights.
struct Corners {
  bool inside;
  std::int64_t offset[4];
  float weight[4];
};

template <typename T>
inline Border border_of(const T *box, std::int64_t border, std::int32_t pool_size) {
  const float x1 = to_float(box[0]), y1 = to_float(box[1]), x2 = to_float(box[2]), y2 = to_float(box[3]);
  const float step_x = (x2 - x1) / static_cast<float>(pool_size);
  const float step_y = (y2 - y1) / static_cast<float>(pool_size);
  switch (border) {
    case 0:
      return Border{x1, y1, step_x, 0.0f};
    case 1:
      return Border{x1, y1, 0.0f, step_y};
    case 2:
      return Border{x2, y2, -step_x, 0.0f};
    default:
      return Border{x2, y2, 0.0f, -step_y};
  }
}

// Splits a coordinate into the pixels on either side of it; `fraction` is the weight of the upper one.
inline void split(float coordinate, std::int64_t extent, std::int64_t *low, std::int64_t *high, float *fraction) {
  if (coordinate <= 0.0f) coordinate = 0.0f;
  *low = static_cast<std::int64_t>(coordinate);
  if (*low >= extent - 1) {
    *low = *high = extent - 1;
    *fraction = 0.0f;
  } else {
    *high = *low + 1;
    *fraction = coordinate - static_cast<float>(*low);
  }
}

// `pixel` is the number of values from one pixel to the next. A NaN position fails every comparison and is outside.
inline Corners corners_of(float x, float y, const BorderAlignGeometry &g, std::int64_t pixel) {
  Corners corners;
  corners.inside = y >= -1.0f && y <= static_cast<float>(g.height) && x >= -1.0f && x <= static_cast<float>(g.width);
  if (!corners.inside) return corners;
  std::int64_t left, right, upper, lower;
  float lx, ly;
  split(x, g.width, &left, &right, &lx);
  split(y, g.height, &upper, &lower, &ly);
  const float hx = 1.0f - lx, hy = 1.0f - ly;
  corners.offset[0] = (upper * g.width + left) * pixel;
  corners.offset[1] = (upper * g.width + right) * pixel;
  corners.offset[2] = (lower * g.width + left) * pixel;
  corners.offset[3] = (lower * g.width + right) * pixel;
  corners.weight[0] = hy * hx;
  corners.weight[1] = hy * lx;
  corners.weight[2] = ly * hx;
  corners.weight[3] = ly * lx;
  return corners;
}

// Samples of one border in ascending order, a table of them at a time.
class ForwardSamples {
 public:
  ForwardSamples(const Border &border, const BorderAlignGeometry &geometry)
      : border_(border), geometry_(geometry), pixel_(geometry.channels * kBorders) {}

  static constexpr std::int32_t kTable = 32;

  // Corners of the samples first .. first + kTable, where `first` is 0 or follows on the call before.
  const Corners *from(std::int32_t first) {
    if (first == held_) return corners_;
    if (first == 0) {
      x_ = border_.x;
      y_ = border_.y;
    }
    held_ = first;
    for (std::int32_t i = 0; i < smaller(kTable, geometry_.pool_size + 1 - first); ++i) {
      corners_[i] = corners_of(x_, y_, geometry_, pixel_);
      // Positions are reached by adding the step again and again: the rounding of each addition is part of the definition.
      x_ += border_.step_x;
      y_ += border_.step_y;
    }
    return corners_;
  }

 private:
  const Border border_;
  const BorderAlignGeometry &geometry_;
  const std::int64_t pixel_;
  std::int32_t held_ = -1;
  float x_ = 0.0f, y_ = 0.0f;
  Corners corners_[kTable];
};

// The value of a sample for kLanes channels from those at `image` on, of which `count` exist.
template <typename T>
inline Vector sample(const T *image, const Corners &corners, std::int64_t count) {
  if (!corners.inside) return Vector{};
  Vector value = load_some(image + corners.offset[0], count) * corners.weight[0];
  for (int j = 1; j < 4; ++j) {
    value = fused_multiply_add(load_some(image + corners.offset[j], count), Vector{} + corners.weight[j], value);
  }
  return value;
}

template <typename T>
struct Forward {
  const BorderAlignForwardProblem &problem;

  // Borders are counted as they lie in the output: batch, box, border.
  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t border = begin; border < end; ++border) pool(border);
  }

  void pool(std::int64_t index) const {
    const BorderAlignGeometry &g = problem.geometry;
    const std::int64_t side = index % kBorders;
    const std::int64_t batch = index / kBorders / g.boxes;
    const T *image = static_cast<const T *>(problem.input) +
                     (batch * g.height * g.width * kBorders + side) * g.channels;
    T *output = static_cast<T *>(problem.output) + index * g.channels;
    std::int32_t *argmax = problem.argmax + index * g.channels;
    const T *box = static_cast<const T *>(problem.box) + index / kBorders * 4;
    ForwardSamples samples(border_of(box, side, g.pool_size), g);
    constexpr int kVectors = 4;
    std::int64_t c = 0;
    for (; c + kVectors * kLanes <= g.channels; c += kVectors * kLanes) {
      pool_channels<kVectors>(samples, image + c, kLanes, output + c, argmax + c);
    }
    for (; c < g.channels; c += kLanes) {
      pool_channels<1>(samples, image + c, smaller<std::int64_t>(kLanes, g.channels - c), output + c, argmax + c);
    }
  }

  // kVectors vectors of channels, each with `count` of its lanes. A later sample wins only if it is greater, which no NaN is.
  template <int kVectors>
  void pool_channels(ForwardSamples &samples, const T *image, std::int64_t count, T *output,
                     std::int32_t *argmax) const {
    const std::int32_t last = problem.geometry.pool_size;
    Vector best[kVectors] = {};
    IntVector winner[kVectors] = {};
    for (std::int32_t first = 0; first <= last; first += smaller(ForwardSamples::kTable, last - first + 1)) {
      const Corners *corners = samples.from(first);
      const std::int32_t here = smaller(ForwardSamples::kTable, last - first + 1);
      for (std::int32_t i = 0; i < here; ++i) {
        for (int v = 0; v < kVectors; ++v) {
          const Vector value = sample(image + v * kLanes, corners[i], count);
          const IntVector greater = first + i == 0 ? IntVector{} - 1 : value > best[v];
          best[v] = greater ? value : best[v];
          winner[v] = greater ? IntVector{} + (first + i) : winner[v];
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      store_some(output + v * kLanes, best[v], count);
      store_some(argmax + v * kLanes, winner[v], count);
    }
  }
};

// Corners of the samples of one border, each found when first asked for.
class BackwardSamples {
 public:
  BackwardSamples(const Border &border, const BorderAlignGeometry &geometry, std::int64_t pixel)
      : border_(border), geometry_(geometry), pixel_(pixel) {
    for (std::int32_t &sample : held_) sample = -1;
  }

  // `sample` is not negative.
  const Corners &operator[](std::int32_t sample) {
    const std::int32_t entry = sample % kTable;
    if (held_[entry] != sample) {
      const float steps = static_cast<float>(sample);
      corners_[entry] =
          corners_of(border_.x + border_.step_x * steps, border_.y + border_.step_y * steps, geometry_, pixel_);
      held_[entry] = sample;
    }
    return corners_[entry];
  }

 private:
  static constexpr std::int32_t kTable = 16;
  const Border border_;
  const BorderAlignGeometry &geometry_;
  const std::int64_t pixel_;
  std::int32_t held_[kTable];
  Corners corners_[kTable];
};

// A task owns some channels of one border in one batch, over the whole map.
template <typename T>
struct Backward {
  static constexpr std::int64_t kChannels = 64;

  const BorderAlignBackwardProblem &problem;
  std::int64_t blocks;  // of channels

  explicit Backward(const BorderAlignBackwardProblem &of)
      : problem(of), blocks((of.geometry.channels + kChannels - 1) / kChannels) {}

  std::int64_t tasks() const { return problem.geometry.batches * kBorders * blocks; }

  // Floats of memory that slice() sums up in; none when the result itself serves.
  std::int64_t sums_size() const {
    return sizeof(T) == sizeof(float) ? 0
                                      : problem.geometry.height * problem.geometry.width *
                                            smaller(kChannels, problem.geometry.channels);
  }

  void slice(std::int64_t task, float *sums) const {
    const BorderAlignGeometry &g = problem.geometry;
    const std::int64_t first = task % blocks * kChannels;
    const std::int64_t count = smaller(kChannels, g.channels - first);
    const std::int64_t side = task / blocks % kBorders;
    const std::int64_t batch = task / blocks / kBorders;
    const std::int64_t pixel = g.channels * kBorders;
    const std::int64_t area = g.height * g.width;
    T *slice = static_cast<T *>(problem.grad_input) + batch * area * pixel + side * g.channels + first;
    if (sums_size() == 0) {
      float *values = reinterpret_cast<float *>(slice);
      for (std::int64_t p = 0; p < area; ++p) clear_floats(values + p * pixel, count);
      add_boxes(batch, side, first, count, values, pixel);
    } else {
      clear_floats(sums, area * count);
      add_boxes(batch, side, first, count, sums, count);
      for (std::int64_t p = 0; p < area; ++p) store_row(slice + p * pixel, sums + p * count, count);
    }
  }

 private:
  // Boxes in ascending order.
  void add_boxes(std::int64_t batch, std::int64_t side, std::int64_t first, std::int64_t count, float *values,
                 std::int64_t pixel) const {
    const BorderAlignGeometry &g = problem.geometry;
    for (std::int64_t k = 0; k < g.boxes; ++k) {
      const std::int64_t box = batch * g.boxes + k;
      const std::int64_t source = (box * kBorders + side) * g.channels + first;
      BackwardSamples samples(border_of(static_cast<const T *>(problem.box) + box * 4, side, g.pool_size), g, pixel);
      add_box(samples, problem.argmax + source, static_cast<const T *>(problem.grad_output) + source, count, values);
    }
  }

  void add_box(BackwardSamples &samples, const std::int32_t *argmax, const T *gradient, std::int64_t count,
               float *values) const {
    const std::int32_t last = problem.geometry.pool_size;
    for (std::int64_t c = 0; c < count; ++c) {
      if (argmax[c] < 0 || argmax[c] > last) continue;
      const Corners &corners = samples[argmax[c]];
      if (!corners.inside) continue;
      const float share = to_float(gradient[c]);
      for (int j = 0; j < 4; ++j) values[corners.offset[j] + c] += share * corners.weight[j];
    }
  }
};

template <typename T>
mluOpStatus_t run_backward(const BorderAlignBackwardProblem &problem) {
  const Backward<T> backward(problem);
  const std::int64_t slots = useful_slots(backward.tasks());
  const Scratch<float> sums(slots * backward.sums_size());
  if (sums.data() == nullptr) return fail(MLUOP_STATUS_ALLOC_FAILED, "mluOpBorderAlignBackward", "out of memory");
  parallel_slots(backward.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    backward.slice(task, sums.data() + slot * backward.sums_size());
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t border_align_forward(const BorderAlignForwardProblem &problem) {
  const BorderAlignGeometry &g = problem.geometry;
  const std::int64_t borders = g.batches * g.boxes * kBorders;
  const std::int64_t grain = 8192 / (g.channels * (g.pool_size + std::int64_t{1})) + 1;
  if (g.half) {
    Forward<Half> forward{problem};
    parallel_for(borders, grain, forward);
  } else {
    Forward<float> forward{problem};
    parallel_for(borders, grain, forward);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t border_align_backward(const BorderAlignBackwardProblem &problem) {
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_border_align_forward, border_align_forward, BorderAlignForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_border_align_backward, border_align_backward, BorderAlignBackwardProblem);
