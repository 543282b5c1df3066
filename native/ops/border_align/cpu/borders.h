// Positions of the borders of boxes on the map, and the lines of pixels they lie between.
//
// A border is parallel to an axis, so all of its samples lie between the same two lines of pixels:
// rows for top and bottom, columns for left and right. Borders are processed line by line, so that
// their pixels stay in L1.
#ifndef MLUOPS_OPS_BORDER_ALIGN_CPU_BORDERS_H_
#define MLUOPS_OPS_BORDER_ALIGN_CPU_BORDERS_H_

#include "cpu/cache.h"
#include "cpu/vector.h"
#include "ops/border_align/border_align.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Prefetch distances in boxes and pixels: the next box or pixel is kilobytes away, too far for
// hardware prefetchers.
constexpr std::int64_t kBoxesAhead = 2, kPixelsAhead = 6;

// Bytes of L1 for pixels, beside boxes, results and gradients.
static inline std::int64_t usable_l1d_bytes() { return l1d_bytes() / 6 * 5; }

// One side of the boxes, in the direction of its borders: `lines` of `length` pixels; distances are
// in pixels of the map.
struct Side {
  Side(const BorderAlignGeometry &g, std::int64_t number)
      : across(number == 1 || number == 3 ? 0 : 1),
        far(number >= 2),
        lines(across == 1 ? g.height : g.width),
        length(across == 1 ? g.width : g.height),
        next_line(across == 1 ? g.width : 1),
        next_pixel(across == 1 ? 1 : g.width) {}

  // The coordinate that all samples of a border share.
  template <typename T>
  float line_of(const T *box) const {
    T coordinate;  // read once, because it is checked and then used
    __atomic_load(box + (far ? across + 2 : across), &coordinate, __ATOMIC_RELAXED);
    return to_float(coordinate);
  }

  // The coordinate of the first sample, and the step to the next one.
  template <typename T>
  void walk_of(const T *box, std::int32_t pool_size, float *start, float *step) const {
    const float low = to_float(box[1 - across]), high = to_float(box[3 - across]);
    const float part = (high - low) / static_cast<float>(pool_size);
    *start = far ? high : low;
    *step = far ? -part : part;
  }

  const int across;  // 0 if the shared coordinate is x, 1 if it is y
  const bool far;    // the border starts at the second corner of the box and runs backwards
  const std::int64_t lines, length, next_line, next_pixel;
};

// The two lines of pixels around a border. `inside` is false outside the map.
struct Lines {
  Lines(float coordinate, std::int64_t extent)
      : inside(coordinate >= -1.0f && coordinate <= static_cast<float>(extent)) {  // a NaN is outside
    const float place = inside && coordinate > 0.0f ? coordinate : 0.0f;
    low = static_cast<std::int64_t>(place);
    high = low + 1;
    if (low >= extent - 1) low = high = extent - 1;
    fraction = low == high ? 0.0f : place - static_cast<float>(low);
  }
  bool inside;
  std::int64_t low;
  std::int64_t high;
  float fraction;  // weight of the high one
};

// The boxes of a batch sorted by the lower line of one side, boxes outside the map last; boxes of a
// line ascend.
class SortedBoxes {
 public:
  // Number of values of `memory`.
  static std::int64_t size(const BorderAlignGeometry &g) { return 2 * g.boxes + larger(g.height, g.width) + 2; }

  template <typename T>
  SortedBoxes(const T *boxes, std::int64_t count, const Side &side, std::int32_t *memory)
      : order_(memory), ends_(memory + 2 * count) {
    const bool many = count + side.lines > kMany;
    // The line of each box is stored: boxes may change during the call, so it must not be computed
    // twice.
    std::int32_t *const lines = memory + count;
    for_slices(0, side.lines + 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) ends_[line] = 0;
    });
    if (many && interrupted()) return;
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t box = begin; box < end; ++box) {
        lines[box] = static_cast<std::int32_t>(bucket(boxes + box * 4, side));
        ++ends_[lines[box] + 1];
      }
    });
    if (many && interrupted()) return;
    for (std::int64_t line = 1; line <= side.lines + 1; ++line) ends_[line] += ends_[line - 1];
    // Filling advances the start of each line to its end.
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t box = begin; box < end; ++box) order_[ends_[lines[box]]++] = static_cast<std::int32_t>(box);
    });
    complete_ = !many || !interrupted();
  }

  // False if the call was interrupted; the boxes must not be used then.
  bool complete() const { return complete_; }

  // Boxes begin(line) .. end(line) have this lower line; line `lines` stands for outside the map.
  std::int64_t begin(std::int64_t line) const { return line == 0 ? 0 : ends_[line - 1]; }
  std::int64_t end(std::int64_t line) const { return ends_[line]; }
  std::int64_t operator[](std::int64_t place) const { return order_[place]; }

 private:
  // Fewer are sorted without polling for interrupts.
  static constexpr std::int64_t kMany = 1 << 15;

  template <typename T>
  static std::int64_t bucket(const T *box, const Side &side) {
    const Lines at(side.line_of(box), side.lines);
    return at.inside ? at.low : side.lines;
  }

  bool complete_ = false;
  std::int32_t *const order_;
  std::int32_t *const ends_;
};

// Samples of a border: their pixels in a line, and the weights of their four corners.
struct Samples {
  static constexpr std::int32_t kMost = 16;
  enum Corner {
    kLowLow,
    kLowHigh,
    kHighLow,
    kHighHigh
  };  // line, then pixel in it
  std::int32_t low[kMost];  // the other pixel is the next one, or the same at the end of the line
  float weight[4][kMost];

  // Pixel number of samples outside the map, where zeros are stored. Before it is a copy of the
  // last pixel.
  static std::int32_t outside(std::int64_t length) { return static_cast<std::int32_t>(length) + 1; }

  // Computes the first `count` samples; `length` is that of a line, `fraction` the weight of the
  // high line.
  void find(const float (&along)[kMost], std::int32_t count, std::int64_t length, float fraction) {
    for (std::int32_t i = 0; i < count; i += kLanes) {
      const Vector at = load(along + i);
      // NaN fails every comparison and counts as outside.
      const IntVector within = (at >= -1.0f) & (at <= static_cast<float>(length));
      const Vector place = within & (at > 0.0f) ? at : Vector{};
      const IntVector whole = __builtin_convertvector(place, IntVector);
      const std::int32_t end = static_cast<std::int32_t>(length) - 1;
      const IntVector last = whole >= end;
      const Vector right = last ? Vector{} : place - __builtin_convertvector(whole, Vector);
      const Vector left = 1.0f - right;
      store(low + i, within ? (last ? IntVector{} + end : whole) : IntVector{} + outside(length));
      store(weight[kLowLow] + i, (1.0f - fraction) * left);
      store(weight[kLowHigh] + i, (1.0f - fraction) * right);
      store(weight[kHighLow] + i, fraction * left);
      store(weight[kHighHigh] + i, fraction * right);
    }
  }
};
static_assert(Samples::kMost % kLanes == 0, "samples are found in whole vectors");

// Channels first .. first + count of one side in one batch.
struct Part {
  std::int64_t batch;
  std::int64_t side;
  std::int64_t first;
  std::int64_t count;
};

// Up to kMost boxes whose borders lie between the same lines: their samples are computed together
// and used for all blocks of channels.
struct Group {
  static constexpr std::int64_t kMost = 48;
  static std::int64_t most(const BorderAlignGeometry &g) { return smaller(kMost, g.boxes); }
  const Part &part;
  const Side &side;
  const SortedBoxes &boxes;
  std::int64_t first;  // among the sorted boxes
  std::int64_t count;
};

// Whether a side of a batch has so few borders that sorting them and copying lines would take
// longer than processing them directly on the map.
static inline bool are_few(const BorderAlignGeometry &g) {
  constexpr std::int64_t kFewSamples = 96;
  return g.pool_size < Samples::kMost && g.boxes * (g.pool_size + std::int64_t{1}) * g.channels <= kFewSamples;
}

// Divides the map into parts.
struct Parts {
  explicit Parts(const BorderAlignGeometry &geometry)
      : g(geometry),
        longest(larger(g.height, g.width)),
        width(fitting_width()),
        per_side((g.channels + width - 1) / width),
        pixel(g.channels * kBorders) {}

  std::int64_t tasks() const { return g.batches * kBorders * per_side; }
  // Approximate number of values of a task.
  std::int64_t values() const {
    return (g.height * g.width + g.boxes * (g.pool_size + std::int64_t{1})) * smaller(width, g.channels);
  }

  Part part(std::int64_t task) const {
    const std::int64_t first = task % per_side * width;
    return Part{task / per_side / kBorders, task / per_side % kBorders, first, smaller(width, g.channels - first)};
  }

  // All channels of a side.
  Part whole_side(std::int64_t number) const { return Part{number / kBorders, number % kBorders, 0, g.channels}; }

  // Offset of the part's first value in the map; pixels are `pixel` values apart there.
  std::int64_t in_map(const Part &part) const {
    return part.batch * g.height * g.width * pixel + part.side * g.channels + part.first;
  }

  // Offset of the part's first channel of a box in tensors like the output.
  std::int64_t in_borders(const Part &part, std::int64_t box) const {
    return ((part.batch * g.boxes + box) * kBorders + part.side) * g.channels + part.first;
  }

  const BorderAlignGeometry &g;
  const std::int64_t longest, width, per_side, pixel;

 private:
  // Enough parts for all threads, and two lines of a part fit into L2.
  std::int64_t fitting_width() const {
    constexpr std::int64_t kUnit = 64, kLinesHeld = 2, kBytes = 256 << 10;
    const std::int64_t wanted = (4 * thread_count() + g.batches * kBorders - 1) / (g.batches * kBorders);
    const std::int64_t fitting = kBytes / (kLinesHeld * longest * static_cast<std::int64_t>(sizeof(float)));
    const std::int64_t most = smaller((g.channels + wanted - 1) / wanted, fitting);
    return larger((most + kUnit - 1) / kUnit, std::int64_t{1}) * kUnit;
  }
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_CPU_BORDERS_H_
