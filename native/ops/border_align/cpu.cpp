// BorderAlign on the CPU. Positions and weights are found once per border point and used for all channels, which lie side by
// side. Forward runs over boxes; backward over slices of the gradient that one task owns, so that no two tasks add into the same
// place and the order of the additions is fixed.
#include "cpu/half.h"
#include "cpu/kernel.h"
#include "ops/border_align/border_align.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kChannelBlock = 64;

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

// Samples of up to kChannelBlock channels; `image` points at the first of them in the first pixel.
template <typename T>
inline void sample(const T *image, const Corners &corners, std::int64_t channels, float *value) {
  if (!corners.inside) {
    for (std::int64_t c = 0; c < channels; ++c) value[c] = 0.0f;
    return;
  }
  const T *v1 = image + corners.offset[0], *v2 = image + corners.offset[1];
  const T *v3 = image + corners.offset[2], *v4 = image + corners.offset[3];
  const float w1 = corners.weight[0], w2 = corners.weight[1], w3 = corners.weight[2], w4 = corners.weight[3];
  for (std::int64_t c = 0; c < channels; ++c) {
    const float first = to_float(v1[c]) * w1;
    const float second = __builtin_fmaf(to_float(v2[c]), w2, first);
    const float third = __builtin_fmaf(to_float(v3[c]), w3, second);
    value[c] = __builtin_fmaf(to_float(v4[c]), w4, third);
  }
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
    const std::int64_t pixel = g.channels * kBorders;
    const std::int64_t side = index % kBorders;
    const std::int64_t batch = index / kBorders / g.boxes;
    const T *image = static_cast<const T *>(problem.input) + batch * g.height * g.width * pixel + side * g.channels;
    const Border border = border_of(static_cast<const T *>(problem.box) + index / kBorders * 4, side, g.pool_size);
    for (std::int64_t c = 0; c < g.channels; c += kChannelBlock) {
      pool_block(image + c, border, smaller(kChannelBlock, g.channels - c), index * g.channels + c);
    }
  }

  void pool_block(const T *image, const Border &border, std::int64_t channels, std::int64_t target) const {
    const BorderAlignGeometry &g = problem.geometry;
    float best[kChannelBlock];
    float value[kChannelBlock];
    std::int32_t *argmax = problem.argmax + target;
    float x = border.x, y = border.y;
    sample(image, corners_of(x, y, g, g.channels * kBorders), channels, best);
    for (std::int64_t c = 0; c < channels; ++c) argmax[c] = 0;
    for (std::int32_t i = 1; i <= g.pool_size; ++i) {
      x += border.step_x;
      y += border.step_y;
      sample(image, corners_of(x, y, g, g.channels * kBorders), channels, value);
      for (std::int64_t c = 0; c < channels; ++c) {
        const bool better = value[c] > best[c];
        best[c] = better ? value[c] : best[c];
        argmax[c] = better ? i : argmax[c];
      }
    }
    store_row(static_cast<T *>(problem.output) + target, best, channels);
  }
};

// Corners of the samples of one border, found when first asked for.
class SampleCache {
 public:
  SampleCache(const Border &border, const BorderAlignGeometry &geometry, std::int64_t pixel)
      : border_(border), geometry_(geometry), pixel_(pixel) {
    for (std::int32_t &sample : samples_) sample = -1;
  }

  const Corners &operator[](std::int32_t sample) {
    Corners &corners = corners_[sample % kEntries];
    if (samples_[sample % kEntries] != sample) {
      const float steps = static_cast<float>(sample);
      corners = corners_of(border_.x + border_.step_x * steps, border_.y + border_.step_y * steps, geometry_, pixel_);
      samples_[sample % kEntries] = sample;
    }
    return corners;
  }

 private:
  static constexpr std::int32_t kEntries = 16;
  const Border border_;
  const BorderAlignGeometry &geometry_;
  const std::int64_t pixel_;
  std::int32_t samples_[kEntries];
  Corners corners_[kEntries];
};

// A task owns kChannelBlock channels of one border in one batch, over the whole map.
template <typename T>
struct Backward {
  const BorderAlignBackwardProblem &problem;
  std::int64_t blocks;  // of channels

  std::int64_t tasks() const { return problem.geometry.batches * kBorders * blocks; }

  // `sums` has room for height * width * kChannelBlock floats, or is NULL when T is float and the result itself serves.
  void slice(std::int64_t task, float *sums) const {
    const BorderAlignGeometry &g = problem.geometry;
    const std::int64_t first = task % blocks * kChannelBlock;
    const std::int64_t count = smaller(kChannelBlock, g.channels - first);
    const std::int64_t side = task / blocks % kBorders;
    const std::int64_t batch = task / blocks / kBorders;
    const std::int64_t pixel = g.channels * kBorders;
    const std::int64_t area = g.height * g.width;
    T *slice = static_cast<T *>(problem.grad_input) + batch * area * pixel + side * g.channels + first;
    if (sums == nullptr) {
      float *values = reinterpret_cast<float *>(slice);
      for (std::int64_t p = 0; p < area; ++p) clear(values + p * pixel, count);
      accumulate(batch, side, first, count, values, pixel);
    } else {
      clear(sums, area * count);
      accumulate(batch, side, first, count, sums, count);
      for (std::int64_t p = 0; p < area; ++p) store_row(slice + p * pixel, sums + p * count, count);
    }
  }

 private:
  static void clear(float *values, std::int64_t count) {
    std::memset(values, 0, static_cast<std::size_t>(count) * sizeof *values);
  }

  // Adds up boxes in ascending order.
  void accumulate(std::int64_t batch, std::int64_t side, std::int64_t first, std::int64_t count, float *values,
                  std::int64_t pixel) const {
    const BorderAlignGeometry &g = problem.geometry;
    for (std::int64_t k = 0; k < g.boxes; ++k) {
      const std::int64_t box = batch * g.boxes + k;
      const std::int64_t source = (box * kBorders + side) * g.channels + first;
      const Border border = border_of(static_cast<const T *>(problem.box) + box * 4, side, g.pool_size);
      SampleCache samples(border, g, pixel);
      scatter(samples, problem.argmax + source, static_cast<const T *>(problem.grad_output) + source, count, values);
    }
  }

  void scatter(SampleCache &samples, const std::int32_t *argmax, const T *gradient, std::int64_t count,
               float *values) const {
    for (std::int64_t c = 0; c < count; ++c) {
      if (argmax[c] < 0 || argmax[c] > problem.geometry.pool_size) continue;
      const Corners &corners = samples[argmax[c]];
      if (!corners.inside) continue;
      const float share = to_float(gradient[c]);
      for (int j = 0; j < 4; ++j) values[corners.offset[j] + c] += share * corners.weight[j];
    }
  }
};

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
  const BorderAlignGeometry &g = problem.geometry;
  const std::int64_t blocks = (g.channels + kChannelBlock - 1) / kChannelBlock;
  if (!g.half) {
    const Backward<float> backward{problem, blocks};
    auto slices = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) backward.slice(task, nullptr);
    };
    parallel_for(backward.tasks(), 1, slices);
    return MLUOP_STATUS_SUCCESS;
  }
  // Sums of half values are kept in float and rounded once.
  const Backward<Half> backward{problem, blocks};
  const std::int64_t slots = useful_slots(backward.tasks());
  const std::int64_t slot_size = g.height * g.width * smaller(kChannelBlock, g.channels);
  const Scratch<float> sums(slots * slot_size);
  if (sums.data() == nullptr) return fail(MLUOP_STATUS_ALLOC_FAILED, "mluOpBorderAlignBackward", "out of memory");
  parallel_slots(backward.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    backward.slice(task, sums.data() + slot * slot_size);
  });
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_border_align_forward, border_align_forward, BorderAlignForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_border_align_backward, border_align_backward, BorderAlignBackwardProblem);
