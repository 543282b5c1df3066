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

// What belongs to the next box or pixel lies kilobytes further on, where no hardware prefetcher looks: it is asked for so many boxes
// or pixels ahead, behind the last one in vain.
constexpr std::int64_t kBoxesAhead = 2, kPixelsAhead = 6;

// Where up to kMost samples of a border lie.
struct Line {
  static constexpr std::int32_t kMost = 32;
  float x[kMost];
  float y[kMost];
};

// The four neighbours of the samples: their offsets in a slice, and their weights.
struct Samples {
  static constexpr std::int32_t kMost = Line::kMost;
  std::int32_t inside[kMost];
  std::int32_t offset[4][kMost];
  float weight[4][kMost];

  // `pixel` is the number of values from one pixel of the slice to the next.
  void find(const Line &line, std::int32_t count, const BorderAlignGeometry &g, std::int64_t pixel) {
    const std::int32_t right = static_cast<std::int32_t>(pixel), down = static_cast<std::int32_t>(pixel * g.width);
    for (std::int32_t i = 0; i < count; i += kLanes) {
      const Vector across = load(line.x + i), along = load(line.y + i);
      // A NaN fails every comparison and is outside.
      const IntVector in = (along >= -1.0f) & (along <= static_cast<float>(g.height)) & (across >= -1.0f) &
                           (across <= static_cast<float>(g.width));
      const Split column(in & (across > 0.0f) ? across : Vector{}, static_cast<std::int32_t>(g.width));
      const Split row(in & (along > 0.0f) ? along : Vector{}, static_cast<std::int32_t>(g.height));
      store(inside + i, in);
      store(offset[0] + i, row.low * down + column.low * right);
      store(offset[1] + i, row.low * down + column.high * right);
      store(offset[2] + i, row.high * down + column.low * right);
      store(offset[3] + i, row.high * down + column.high * right);
      const Vector hx = 1.0f - column.fraction, hy = 1.0f - row.fraction;
      store(weight[0] + i, hy * hx);
      store(weight[1] + i, hy * column.fraction);
      store(weight[2] + i, row.fraction * hx);
      store(weight[3] + i, row.fraction * column.fraction);
    }
  }

 private:
  // The pixels on either side of coordinates >= 0, and the weights of the upper ones.
  struct Split {
    Split(Vector coordinate, std::int32_t extent) {
      const IntVector whole = __builtin_convertvector(coordinate, IntVector);
      const IntVector last = whole >= extent - 1;
      low = last ? IntVector{} + (extent - 1) : whole;
      high = last ? low : whole + 1;
      fraction = last ? Vector{} : coordinate - __builtin_convertvector(whole, Vector);
    }
    IntVector low;
    IntVector high;
    Vector fraction;
  };
};
static_assert(Samples::kMost % kLanes == 0, "samples are found in whole vectors");

// Some boxes, whose samples are found together: each has to wait for what it adds up, all of them hardly do.
constexpr std::int64_t kGroup = 8;

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
      ask_for<0>(map, (p + kPixelsAhead) * slices_.pixel, slice.count);
      load_row(map + p * slices_.pixel, copy + p * slice.count, slice.count);
    }
    for (std::int64_t box = 0; box < g.boxes; box += kGroup) {
      const std::int64_t boxes = smaller(kGroup, g.boxes - box);
      if (copy != nullptr) {
        pool(copy, slice.count, slice, box, boxes);
      } else {
        pool(map, slices_.pixel, slice, box, boxes);
      }
    }
  }

 private:
  // One border of a group of boxes. The first largest sample wins; NaN is greater than nothing.
  template <typename Pixel>
  void pool(const Pixel *image, std::int64_t pixel, const Slice &slice, std::int64_t box, std::int64_t boxes) const {
    const BorderAlignGeometry &g = problem_.geometry;
    Border border[kGroup];
    for (std::int64_t b = 0; b < boxes; ++b) {
      const T *corners = static_cast<const T *>(problem_.box) + (slice.batch * g.boxes + box + b) * 4;
      border[b] = border_of(corners, slice.side, g.pool_size);
    }
    float best[kGroup][kSliceChannels];
    for (std::int64_t first = 0; first <= g.pool_size; first += Samples::kMost) {
      const std::int32_t count =
          static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, g.pool_size + 1 - first));
      Line line[kGroup];
      for (std::int64_t b = 0; b < boxes; ++b) walk(&border[b], count, &line[b]);
      Samples samples[kGroup];
      for (std::int64_t b = 0; b < boxes; ++b) samples[b].find(line[b], count, g, pixel);
      for (std::int64_t b = 0; b < boxes; ++b) {
        const std::int64_t next = slices_.in_borders(slice, box + b + kBoxesAhead);
        ask_for<1>(problem_.argmax, next, slice.count);
        ask_for<1>(static_cast<T *>(problem_.output), next, slice.count);
        pool_channels(image, samples[b], static_cast<std::int32_t>(first), count, slice.count, best[b],
                      problem_.argmax + slices_.in_borders(slice, box + b));
      }
    }
    for (std::int64_t b = 0; b < boxes; ++b) {
      store_row(static_cast<T *>(problem_.output) + slices_.in_borders(slice, box + b), best[b], slice.count);
    }
  }

  // The next samples of a border, which then starts behind them. Adding the step again and again, rounding each time, is part of
  // the definition.
  static void walk(Border *border, std::int32_t count, Line *line) {
    *line = Line{};
    for (std::int32_t i = 0; i < count; ++i) {
      line->x[i] = border->x;
      line->y[i] = border->y;
      border->x += border->step_x;
      border->y += border->step_y;
    }
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
    Vector largest[kVectors];
    IntVector number[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      largest[v] =
          first == 0 ? sample<kWhole>(image + v * kLanes, samples, 0, lanes) : load_some(best + v * kLanes, lanes);
      number[v] = first == 0 ? IntVector{} : load_some(winner + v * kLanes, lanes);
    }
    for (std::int32_t i = first == 0; i < count; ++i) {
      for (int v = 0; v < kVectors; ++v) {
        const Vector value = sample<kWhole>(image + v * kLanes, samples, i, lanes);
        const IntVector greater = value > largest[v];
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
          fused_multiply_add(load_some(image + samples.offset[j][i], lanes), all_lanes(samples.weight[j][i]), value);
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

  // `sums` has room for a slice. Half values are rounded once, when the slice goes to the map.
  void run(float *sums, std::int64_t task) const {
    const Slice slice = slices_.slice(task);
    clear_floats(sums, slices_.area * slice.count);
    const std::int64_t boxes = problem_.geometry.boxes;
    for (std::int64_t box = 0; box < boxes; box += kGroup) add_boxes(sums, slice, box, smaller(kGroup, boxes - box));
    T *map = static_cast<T *>(problem_.grad_input) + slices_.in_map(slice);
    for (std::int64_t p = 0; p < slices_.area; ++p) {
      ask_for<1>(map, (p + kPixelsAhead) * slices_.pixel, slice.count);
      store_row(map + p * slices_.pixel, sums + p * slice.count, slice.count);
    }
  }

 private:
  void add_boxes(float *sums, const Slice &slice, std::int64_t box, std::int64_t boxes) const {
    const BorderAlignGeometry &g = problem_.geometry;
    for (std::int64_t first = 0; first <= g.pool_size; first += Samples::kMost) {
      const std::int32_t count =
          static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, g.pool_size + 1 - first));
      Line line[kGroup];
      for (std::int64_t b = 0; b < boxes; ++b) {
        const T *corners = static_cast<const T *>(problem_.box) + (slice.batch * g.boxes + box + b) * 4;
        place(border_of(corners, slice.side, g.pool_size), first, count, &line[b]);
      }
      Samples samples[kGroup];
      for (std::int64_t b = 0; b < boxes; ++b) samples[b].find(line[b], count, g, slice.count);
      for (std::int64_t b = 0; b < boxes; ++b) {
        const std::int64_t at = slices_.in_borders(slice, box + b);
        const std::int64_t next = slices_.in_borders(slice, box + b + kBoxesAhead);
        ask_for<0>(problem_.argmax, next, slice.count);
        ask_for<0>(static_cast<const T *>(problem_.grad_output), next, slice.count);
        add_channels(sums, samples[b], static_cast<std::int32_t>(first), count, problem_.argmax + at,
                     static_cast<const T *>(problem_.grad_output) + at, slice.count);
      }
    }
  }

  // Samples first .. first + count of a border.
  static void place(const Border &border, std::int64_t first, std::int32_t count, Line *line) {
    *line = Line{};
    for (std::int32_t i = 0; i < count; ++i) {
      const float steps = static_cast<float>(first + i);
      line->x[i] = border.x + border.step_x * steps;
      line->y[i] = border.y + border.step_y * steps;
    }
  }

  // Gradients of those channels whose largest sample is one of first .. first + count.
  static void add_channels(float *sums, const Samples &samples, std::int32_t first, std::int32_t count,
                           const std::int32_t *argmax, const T *gradient, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint32_t i = static_cast<std::uint32_t>(argmax[c]) - static_cast<std::uint32_t>(first);
      if (i >= static_cast<std::uint32_t>(count) || !samples.inside[i]) continue;
      const float share = to_float(gradient[c]);
      for (int j = 0; j < 4; ++j) {
        float *sum = sums + samples.offset[j][i] + c;
        *sum += share * samples.weight[j][i];
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
  const std::int64_t slot_size = slices.size();
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
