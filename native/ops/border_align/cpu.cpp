// BorderAlign on the CPU. Where the samples of a border lie is found for all of them at once, and used for all channels, which
// lie side by side.
//
// A task of either direction has some channels of one border side in one batch. It works on a copy of its slice of the map in
// which the pixels lie close together: in the map itself they are often apart by a power of two, and would compete for the
// same few lines of the caches. Backward adds into such a slice boxes in ascending order, and no two tasks share one, so the
// order of the additions is fixed.
#include "cpu/vector.h"
#include "ops/border_align/border_align.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kSliceChannels = 128;

// Where a border starts and how far it is from one sample to the next.
struct Border {
  float x;
  float y;
  float step_x;
  float step_y;
};

template <typename T>
inline Border border_of(const T *box, std::int64_t side, std::int32_t pool_size) {
  const float x1 = to_float(box[0]), y1 = to_float(box[1]), x2 = to_float(box[2]), y2 = to_float(box[3]);
  const float step_x = (x2 - x1) / static_cast<float>(pool_size);
  const float step_y = (y2 - y1) / static_cast<float>(pool_size);
  switch (side) {
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

// The four neighbours of up to kMost samples: their offsets in a slice, and their weights.
struct Samples {
  static constexpr std::int32_t kMost = 32;
  std::int32_t inside[kMost];
  std::int32_t offset[4][kMost];
  float weight[4][kMost];

  // `pixel` is the number of values from one pixel of the slice to the next.
  void find(const float *x, const float *y, std::int32_t count, const BorderAlignGeometry &g, std::int64_t pixel) {
    const std::int32_t height = static_cast<std::int32_t>(g.height), width = static_cast<std::int32_t>(g.width);
    const std::int32_t right = static_cast<std::int32_t>(pixel), down = static_cast<std::int32_t>(pixel * g.width);
    const float bottom_edge = static_cast<float>(height), right_edge = static_cast<float>(width);
    for (std::int32_t i = 0; i < count; ++i) {
      // A NaN fails every comparison and is outside.
      const bool in = (y[i] >= -1.0f) & (y[i] <= bottom_edge) & (x[i] >= -1.0f) & (x[i] <= right_edge);
      const Split column(in & (x[i] > 0.0f) ? x[i] : 0.0f, width), row(in & (y[i] > 0.0f) ? y[i] : 0.0f, height);
      inside[i] = in;
      offset[0][i] = row.low * down + column.low * right;
      offset[1][i] = row.low * down + column.high * right;
      offset[2][i] = row.high * down + column.low * right;
      offset[3][i] = row.high * down + column.high * right;
      const float hx = 1.0f - column.fraction, hy = 1.0f - row.fraction;
      weight[0][i] = hy * hx;
      weight[1][i] = hy * column.fraction;
      weight[2][i] = row.fraction * hx;
      weight[3][i] = row.fraction * column.fraction;
    }
  }

 private:
  // The pixels on either side of a coordinate >= 0, and the weight of the upper one.
  struct Split {
    Split(float coordinate, std::int32_t extent) {
      const std::int32_t whole = static_cast<std::int32_t>(coordinate);
      const bool last = whole >= extent - 1;
      low = last ? extent - 1 : whole;
      high = last ? extent - 1 : whole + 1;
      fraction = last ? 0.0f : coordinate - static_cast<float>(whole);
    }
    std::int32_t low;
    std::int32_t high;
    float fraction;
  };
};

// Channels first .. first + count of one side in one batch.
struct Slice {
  std::int64_t batch;
  std::int64_t side;
  std::int64_t first;
  std::int64_t count;
};

// Cuts the map into slices.
struct Slices {
  explicit Slices(const BorderAlignGeometry &geometry)
      : g(geometry),
        blocks((g.channels + kSliceChannels - 1) / kSliceChannels),
        area(g.height * g.width),
        pixel(g.channels * kBorders) {}

  std::int64_t tasks() const { return g.batches * kBorders * blocks; }
  std::int64_t size() const { return area * smaller(kSliceChannels, g.channels); }
  // About how many values a task handles.
  std::int64_t values() const {
    return (area + g.boxes * (g.pool_size + std::int64_t{1})) * smaller(kSliceChannels, g.channels);
  }

  Slice slice(std::int64_t task) const {
    const std::int64_t first = task % blocks * kSliceChannels;
    return Slice{task / blocks / kBorders, task / blocks % kBorders, first,
                 smaller(kSliceChannels, g.channels - first)};
  }

  // Offset of the slice's first value in the map; pixels are `pixel` values apart there.
  std::int64_t in_map(const Slice &slice) const {
    return slice.batch * area * pixel + slice.side * g.channels + slice.first;
  }

  // Offset of the slice's first channel of a box in tensors like the output.
  std::int64_t in_borders(const Slice &slice, std::int64_t box) const {
    return ((slice.batch * g.boxes + box) * kBorders + slice.side) * g.channels + slice.first;
  }

  const BorderAlignGeometry &g;
  const std::int64_t blocks, area, pixel;
};

template <typename T>
class Forward {
 public:
  Forward(const BorderAlignForwardProblem &problem, const Slices &slices) : problem_(problem), slices_(slices) {}

  // `copy` has room for a slice, or is NULL to work on the map itself. Half values are converted once for all boxes.
  void run(float *copy, std::int64_t task) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const Slice slice = slices_.slice(task);
    const T *map = static_cast<const T *>(problem_.input) + slices_.in_map(slice);
    for (std::int64_t p = 0; copy != nullptr && p < slices_.area; ++p) {
      load_row(map + p * slices_.pixel, copy + p * slice.count, slice.count);
    }
    for (std::int64_t box = 0; box < g.boxes; ++box) {
      if (copy != nullptr) {
        pool(copy, slice.count, slice, box);
      } else {
        pool(map, slices_.pixel, slice, box);
      }
    }
  }

 private:
  // One border of one box. The first largest sample wins; NaN is greater than nothing.
  template <typename Pixel>
  void pool(const Pixel *image, std::int64_t pixel, const Slice &slice, std::int64_t box) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const T *corners = static_cast<const T *>(problem_.box) + (slice.batch * g.boxes + box) * 4;
    const Border border = border_of(corners, slice.side, g.pool_size);
    float best[kSliceChannels];
    std::int32_t *winner = problem_.argmax + slices_.in_borders(slice, box);
    float next_x = border.x, next_y = border.y;
    for (std::int64_t first = 0; first <= g.pool_size; first += Samples::kMost) {
      const std::int32_t count =
          static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, g.pool_size + 1 - first));
      float x[Samples::kMost], y[Samples::kMost];
      for (std::int32_t i = 0; i < count; ++i) {
        // Adding the step again and again, rounding each time, is part of the definition.
        x[i] = next_x;
        y[i] = next_y;
        next_x += border.step_x;
        next_y += border.step_y;
      }
      Samples samples;
      samples.find(x, y, count, g, pixel);
      pool_channels(image, samples, static_cast<std::int32_t>(first), count, slice.count, best, winner);
    }
    store_row(static_cast<T *>(problem_.output) + slices_.in_borders(slice, box), best, slice.count);
  }

  template <typename Pixel>
  static void pool_channels(const Pixel *image, const Samples &samples, std::int32_t first, std::int32_t count,
                            std::int64_t channels, float *best, std::int32_t *winner) {
    constexpr int kVectors = 4;
    std::int64_t c = 0;
    for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes) {
      pool_vectors<kVectors, true>(image + c, samples, first, count, kLanes, best + c, winner + c);
    }
    for (; c < channels; c += kLanes) {
      pool_vectors<1, false>(image + c, samples, first, count, smaller<std::int64_t>(kLanes, channels - c), best + c,
                             winner + c);
    }
  }

  // kVectors vectors of channels, each with `some` of its lanes or, if kWhole, all.
  template <int kVectors, bool kWhole, typename Pixel>
  static void pool_vectors(const Pixel *image, const Samples &samples, std::int32_t first, std::int32_t count,
                           std::int64_t some, float *best, std::int32_t *winner) {
    const std::int64_t lanes = kWhole ? kLanes : some;
    Vector largest[kVectors] = {};
    IntVector number[kVectors] = {};
    for (int v = 0; first != 0 && v < kVectors; ++v) {
      largest[v] = load_some(best + v * kLanes, lanes);
      number[v] = load_some(winner + v * kLanes, lanes);
    }
    for (std::int32_t i = 0; i < count; ++i) {
      for (int v = 0; v < kVectors; ++v) {
        const Vector value = sample<kWhole>(image + v * kLanes, samples, i, lanes);
        const IntVector greater = first + i == 0 ? IntVector{} - 1 : value > largest[v];
        largest[v] = greater ? value : largest[v];
        number[v] = greater ? IntVector{} + (first + i) : number[v];
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      store_some(best + v * kLanes, largest[v], lanes);
      store_some(winner + v * kLanes, number[v], lanes);
    }
  }

  template <bool kWhole, typename Pixel>
  static inline Vector sample(const Pixel *image, const Samples &samples, std::int32_t i, std::int64_t some) {
    const std::int64_t lanes = kWhole ? kLanes : some;
    if (!samples.inside[i]) return Vector{};
    Vector value = load_some(image + samples.offset[0][i], lanes) * samples.weight[0][i];
    for (int j = 1; j < 4; ++j) {
      value =
          fused_multiply_add(load_some(image + samples.offset[j][i], lanes), Vector{} + samples.weight[j][i], value);
    }
    return value;
  }

  const BorderAlignForwardProblem &problem_;
  const Slices &slices_;
};

template <typename T>
class Backward {
 public:
  Backward(const BorderAlignBackwardProblem &problem, const Slices &slices) : problem_(problem), slices_(slices) {}

  // `sums` has room for a slice and a vector. Half values are rounded once, when the slice goes to the map.
  void run(float *sums, std::int64_t task) const {
    const Slice slice = slices_.slice(task);
    clear_floats(sums, slices_.area * slice.count);
    for (std::int64_t box = 0; box < problem_.geometry.boxes; ++box) add_box(sums, slice, box);
    T *map = static_cast<T *>(problem_.grad_input) + slices_.in_map(slice);
    for (std::int64_t p = 0; p < slices_.area; ++p) {
      store_row(map + p * slices_.pixel, sums + p * slice.count, slice.count);
    }
  }

 private:
  void add_box(float *sums, const Slice &slice, std::int64_t box) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const T *corners = static_cast<const T *>(problem_.box) + (slice.batch * g.boxes + box) * 4;
    const Border border = border_of(corners, slice.side, g.pool_size);
    for (std::int64_t first = 0; first <= g.pool_size; first += Samples::kMost) {
      const std::int32_t count =
          static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, g.pool_size + 1 - first));
      float x[Samples::kMost], y[Samples::kMost];
      for (std::int32_t i = 0; i < count; ++i) {
        const float steps = static_cast<float>(first + i);
        x[i] = border.x + border.step_x * steps;
        y[i] = border.y + border.step_y * steps;
      }
      Samples samples;
      samples.find(x, y, count, g, slice.count);
      const std::int64_t at = slices_.in_borders(slice, box);
      add_channels(sums, samples, static_cast<std::int32_t>(first), count, problem_.argmax + at,
                   static_cast<const T *>(problem_.grad_output) + at, slice.count);
    }
  }

  // Gradients of those channels whose largest sample is one of first .. first + count, a vector of channels at a time: those of
  // them with another largest sample add 0, which changes nothing. Neither does what a last vector adds behind the channels.
  static void add_channels(float *sums, const Samples &samples, std::int32_t first, std::int32_t count,
                           const std::int32_t *argmax, const T *gradient, std::int64_t channels) {
    std::uint32_t chosen = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint32_t i = static_cast<std::uint32_t>(argmax[c]) - static_cast<std::uint32_t>(first);
      chosen |= i < static_cast<std::uint32_t>(count) ? std::uint32_t{1} << i % Samples::kMost : 0;
    }
    for (; chosen != 0; chosen &= chosen - 1) {
      const std::int32_t i = __builtin_ctz(chosen);
      if (!samples.inside[i]) continue;
      for (std::int64_t c = 0; c < channels; c += kLanes) {
        const IntVector mine = load_some(argmax + c, channels - c) == first + i;
        const Vector share = mine ? load_some(gradient + c, channels - c) : Vector{};
        for (int j = 0; j < 4; ++j) {
          float *sum = sums + samples.offset[j][i] + c;
          store(sum, load(sum) + share * samples.weight[j][i]);
        }
      }
    }
  }

  const BorderAlignBackwardProblem &problem_;
  const Slices &slices_;
};

template <typename T>
mluOpStatus_t run_forward(const BorderAlignForwardProblem &problem) {
  const BorderAlignGeometry &g = problem.geometry;
  const Slices slices(g);
  const Forward<T> forward(problem, slices);
  const std::int64_t slots = useful_slots(slices.tasks(), slices.values());
  // A copy pays when its pixels are looked at more than once.
  const bool copied = g.boxes * (g.pool_size + std::int64_t{1}) >= slices.area;
  const Scratch<float> copies(copied ? slots * slices.size() : 0);
  if (copies.data() == nullptr) return out_of_memory("mluOpBorderAlignForward");
  parallel_slots(slices.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    forward.run(copied ? copies.data() + slot * slices.size() : nullptr, task);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_backward(const BorderAlignBackwardProblem &problem) {
  const Slices slices(problem.geometry);
  const Backward<T> backward(problem, slices);
  const std::int64_t slots = useful_slots(slices.tasks(), slices.values());
  const std::int64_t slot_size = slices.size() + kLanes;
  const Scratch<float> sums(slots * slot_size);
  if (sums.data() == nullptr) return out_of_memory("mluOpBorderAlignBackward");
  parallel_slots(slices.tasks(), slots,
                 [&](std::int64_t slot, std::int64_t task) { backward.run(sums.data() + slot * slot_size, task); });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t border_align_forward(const BorderAlignForwardProblem &problem) {
  return problem.geometry.half ? run_forward<Half>(problem) : run_forward<float>(problem);
}

mluOpStatus_t border_align_backward(const BorderAlignBackwardProblem &problem) {
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_border_align_forward, border_align_forward, BorderAlignForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_border_align_backward, border_align_backward, BorderAlignBackwardProblem);
