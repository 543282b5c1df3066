// BorderAlign forward. A task copies two neighbouring lines of pixels into compact memory that fits
// into L1: in the map, pixels are often a power of two apart and compete for few cache sets. All
// borders between these lines are processed before the next line is copied, some channels at a
// time.
#ifndef MLUOPS_OPS_BORDER_ALIGN_CPU_FORWARD_H_
#define MLUOPS_OPS_BORDER_ALIGN_CPU_FORWARD_H_

#include "ops/border_align/cpu/borders.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Maximum vectors of a block of channels: with their maxima, argmax and four weights they fill the
// registers.
#if defined(__AVX512F__)
constexpr int kBlockVectors = 8;
#else
constexpr int kBlockVectors = 4;
#endif

// Two neighbouring lines of pixels: even ones in the first half, odd ones in the second. A line
// consists of blocks of `width` channels with consecutive pixels; the last block may be partly
// unused. After the pixels of a block follow a copy of the last one and two of zeros, so that every
// sample lies between two pixels, even one outside the map.
struct LinePair {
  static constexpr std::int64_t kBehind = 3;

  static std::int64_t size(const Parts &parts) {
    constexpr std::int64_t kMostWidth = std::int64_t{kBlockVectors} * kLanes;
    const std::int64_t channels = smaller(parts.width, parts.g.channels);
    return 2 * (parts.longest + kBehind) * ((channels + kMostWidth - 1) / kMostWidth * kMostWidth);
  }

  LinePair(float *memory, const Side &of, std::int64_t of_channels)
      : memory_(memory),
        side_(of),
        channels_(of_channels),
        width_(smaller(fitting_width(of.length), (of_channels + kLanes - 1) / kLanes * kLanes)),
        padded_((of_channels + width_ - 1) / width_ * width_) {}

  // `map` points to the part's first value.
  template <typename T>
  void hold(const T *map, std::int64_t pixel, std::int64_t number) {
    if (held_[number % 2] == number) return;
    if (held_[number % 2] < 0) clear_behind(number);
    held_[number % 2] = number;
    const T *from = map + number * side_.next_line * pixel;
    const std::int64_t step = side_.next_pixel * pixel;
    InterruptPoll poll;
    for (std::int64_t p = 0; p < side_.length && !poll.interrupted(channels_); ++p) {
      prefetch<0, 2, 2>(from, (p + kPixelsAhead) * step, channels_);
      copy_pixel(from + p * step, number, p);
    }
    copy_pixel(from + (side_.length - 1) * step, number, side_.length);
  }

  // The first pixel of a line in the block of channels that starts at c.
  float *line(std::int64_t number, std::int64_t c) const {
    return memory_ + (number % 2 * padded_ + c) * (side_.length + kBehind);
  }
  std::int64_t width() const { return width_; }

 private:
  // Blocks of which both lines fit into L1 beside the other data, at least whole cache lines.
  static std::int64_t fitting_width(std::int64_t length) {
    std::int64_t vectors = kBlockVectors;
    while (vectors > 2 && 2 * length * vectors * static_cast<std::int64_t>(sizeof(Vector)) > usable_l1d_bytes()) {
      vectors /= 2;
    }
    return vectors * kLanes;
  }

  template <typename T>
  void copy_pixel(const T *from, std::int64_t number, std::int64_t p) const {
    for (std::int64_t c = 0; c < channels_; c += width_) {
      load_row(from + c, line(number, c) + p * width_, smaller(width_, channels_ - c));
    }
  }

  void clear_behind(std::int64_t number) const {
    for (std::int64_t c = 0; c < channels_; c += width_) {
      clear_floats(line(number, c) + (side_.length + 1) * width_, 2 * width_);
    }
  }

  float *const memory_;
  const Side &side_;
  const std::int64_t channels_, width_, padded_;
  std::int64_t held_[2] = {-1, -1};
};

// Prefetches the line that will be copied next, one pixel at a time, while borders of the lines
// before are processed.
template <typename T>
class LinePrefetcher {
 public:
  LinePrefetcher(const T *map, std::int64_t pixel, const Side &side, std::int64_t number, std::int64_t channels)
      : map_(map),
        first_(number * side.next_line * pixel),
        step_(side.next_pixel * pixel),
        channels_(channels),
        left_(number < side.lines ? side.length : 0) {}

  void prefetch_pixel() {
    if (left_ == 0) return;
    --left_;
    prefetch<0, 2, 2>(map_, first_ + left_ * step_, channels_);
  }

 private:
  const T *const map_;
  const std::int64_t first_, step_, channels_;
  std::int64_t left_;
};

// The corners of a sample are added in the order of rows, then columns, for lines of either
// direction.

// Channels of two copied lines; `low` and `high` point to the first of them at the first pixels.
// The next pixel always exists.
struct CopiedChannels {
  const float *low;
  const float *high;
  std::int64_t step;  // from one pixel to the next

  CopiedChannels from(std::int64_t channel) const { return {low + channel, high + channel, step}; }

  // Interpolates the samples of one border.
  struct Sums {
    Sums(const CopiedChannels &pixels, const Samples &of, const Side &side, std::int64_t)
        : samples(of),
          step(pixels.step),
          first(pixels.low),
          second(side.across == 1 ? pixels.low + step : pixels.high),
          third(side.across == 1 ? pixels.high : pixels.low + step),
          fourth(pixels.high + step),
          second_weight(of.weight[side.across == 1 ? Samples::kLowHigh : Samples::kHighLow]),
          third_weight(of.weight[side.across == 1 ? Samples::kHighLow : Samples::kLowHigh]) {}

    template <int kVectors>
    void find(std::int32_t i, Vector (&sample)[kVectors]) const {
      const std::int64_t at = samples.low[i] * step;
      for (int v = 0; v < kVectors; ++v) {
        sample[v] = load(first + at + v * kLanes) * samples.weight[Samples::kLowLow][i];
      }
      add(second + at, second_weight[i], sample);
      add(third + at, third_weight[i], sample);
      add(fourth + at, samples.weight[Samples::kHighHigh][i], sample);
    }

    template <int kVectors>
    static void add(const float *from, float weight, Vector (&sample)[kVectors]) {
      const Vector factor = all_lanes(weight);
      for (int v = 0; v < kVectors; ++v) {
        sample[v] = fused_multiply_add(load(from + v * kLanes), factor, sample[v]);
      }
    }

    const Samples &samples;
    const std::int64_t step;
    const float *const first, *const second, *const third, *const fourth;
    const float *const second_weight, *const third_weight;
  };
};

// The same for two lines in the map.
template <typename T>
struct MapChannels {
  const T *low;
  const T *high;
  std::int64_t step;

  MapChannels from(std::int64_t channel) const { return {low + channel, high + channel, step}; }

  struct Sums {
    Sums(const MapChannels &of_map, const Samples &of, const Side &side, std::int64_t channels)
        : pixels(of_map), samples(of), rows(side.across == 1), length(side.length), lanes(channels) {}

    void find(std::int32_t i, Vector (&sample)[1]) const {
      if (samples.low[i] == Samples::outside(length)) {
        sample[0] = Vector{};
        return;
      }
      const std::int64_t low = samples.low[i], high = smaller(low + 1, length - 1);
      sample[0] = load_some(pixels.low + low * pixels.step, lanes) * samples.weight[Samples::kLowLow][i];
      const T *one = pixels.low + high * pixels.step, *other = pixels.high + low * pixels.step;
      const float one_weight = samples.weight[Samples::kLowHigh][i],
                  other_weight = samples.weight[Samples::kHighLow][i];
      add(rows ? one : other, rows ? one_weight : other_weight, sample);
      add(rows ? other : one, rows ? other_weight : one_weight, sample);
      add(pixels.high + high * pixels.step, samples.weight[Samples::kHighHigh][i], sample);
    }

    void add(const T *from, float weight, Vector (&sample)[1]) const {
      sample[0] = fused_multiply_add(load_some(from, lanes), all_lanes(weight), sample[0]);
    }

    const MapChannels &pixels;
    const Samples &samples;
    const bool rows;
    const std::int64_t length, lanes;
  };
};

// The maxima so far of some vectors of channels, and their sample numbers. The first of equal
// maxima wins; NaN is not greater than any number.
template <int kVectors>
struct Best {
  Vector value[kVectors];
  IntVector number[kVectors];

  void load(const float *values, const std::int32_t *numbers, std::int64_t channels) {
    for (int v = 0; v < kVectors; ++v) {
      value[v] = load_some(values + v * kLanes, channels - v * kLanes);
      number[v] = load_some(numbers + v * kLanes, channels - v * kLanes);
    }
  }

  void store_numbers(std::int32_t *numbers, std::int64_t channels) const {
    for (int v = 0; v < kVectors; ++v) store_some(numbers + v * kLanes, number[v], channels - v * kLanes);
  }

  template <typename Value>
  void store_values(Value *values, std::int64_t channels) const {
    for (int v = 0; v < kVectors; ++v) store_some(values + v * kLanes, value[v], channels - v * kLanes);
  }

  // The first sample of a border is the first maximum, even NaN.
  template <typename Sums>
  void begin(const Sums &sums) {
    sums.find(0, value);
    for (int v = 0; v < kVectors; ++v) number[v] = IntVector{};
  }

  // Processes samples i .. count of those from number `first` on.
  template <typename Sums>
  void take(const Sums &sums, std::int32_t first, std::int32_t i, std::int32_t count) {
    // The number is kept in a vector: broadcasting it for each sample would cost more.
    IntVector present = IntVector{} + (first + i);
    for (; i < count; ++i, present += 1) {
      Vector sample[kVectors];
      sums.find(i, sample);
      for (int v = 0; v < kVectors; ++v) {
        number[v] = sample[v] > value[v] ? present : number[v];
        value[v] = larger_lanes(sample[v], value[v]);
      }
    }
  }
};

template <typename T>
class Forward {
 public:
  typedef BorderAlignForwardProblem Problem;

  // Scratch memory of a running task: lines of pixels, sorted boxes, the samples of a group and, if
  // they are not computed at once, the maxima so far.
  struct TaskScratch {
    TaskScratch(const Parts &parts, Arena &memory)
        : lines(memory.allocate<float>(LinePair::size(parts))),
          boxes(memory.allocate<std::int32_t>(SortedBoxes::size(parts.g))),
          samples(memory.allocate<Samples>(Group::most(parts.g))),
          largest(memory.allocate<float>(parts.g.pool_size < Samples::kMost ? 0 : Group::most(parts.g) * parts.width)) {
    }
    float *lines;
    std::int32_t *boxes;
    Samples *samples;
    float *largest;
  };

  Forward(const BorderAlignForwardProblem &problem, const Parts &parts) : problem_(problem), parts_(parts) {}

  void run(const TaskScratch &scratch, std::int64_t task) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const Part part = parts_.part(task);
    const Side side(g, part.side);
    const SortedBoxes boxes(boxes_of(part), g.boxes, side, scratch.boxes);
    const T *map = static_cast<const T *>(problem_.input) + parts_.in_map(part);
    LinePair pair(scratch.lines, side, part.count);
    if (!boxes.complete()) return;
    InterruptPoll poll;
    for (std::int64_t line = 0; line < side.lines && !poll.interrupted(16); ++line) {
      const std::int64_t begin = boxes.begin(line), end = boxes.end(line);
      if (begin == end) continue;
      // Copying pays if its pixels are used more than once.
      const bool copied = (end - begin) * (g.pool_size + std::int64_t{1}) >= side.length;
      const std::int64_t high = smaller(line + 1, side.lines - 1);
      for (std::int64_t row = line; copied && row <= high; ++row) pair.hold(map, parts_.pixel, row);
      if (poll.interrupted(copied ? side.length * part.count : 0)) return;
      LinePrefetcher<T> prefetcher(map, parts_.pixel, side, high + 1, part.count);
      for (std::int64_t first = begin; first < end; first += Group::kMost) {
        if (poll.interrupted(Group::kMost * part.count * smaller<std::int64_t>(g.pool_size, Samples::kMost))) return;
        const Group group{part, side, boxes, first, smaller(Group::kMost, end - first)};
        if (copied) {
          pool_copied(scratch, group, pair, line, high, prefetcher);
        } else {
          const std::int64_t next_line = side.next_line * parts_.pixel;
          const MapChannels<T> pixels{map + line * next_line, map + high * next_line, side.next_pixel * parts_.pixel};
          pool_group(scratch, group, pixels, prefetcher);
        }
      }
    }
    for (std::int64_t place = boxes.begin(side.lines); place < boxes.end(side.lines) && !poll.interrupted(part.count);
         ++place) {
      clear(part, boxes[place]);
    }
  }

  static bool are_few(const BorderAlignGeometry &g) { return MLUOPS_LEVEL::are_few(g); }

  // Pools a side with few borders.
  void run_few(std::int64_t number) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const Part part = parts_.whole_side(number);
    const Side side(g, part.side);
    for (std::int64_t box = 0; box < g.boxes; ++box) {
      const T *corners = boxes_of(part) + box * 4;
      const Lines lines(side.line_of(corners), side.lines);
      if (!lines.inside) {
        clear(part, box);
        continue;
      }
      float at, step, along[Samples::kMost] = {};
      side.walk_of(corners, g.pool_size, &at, &step);
      for (std::int32_t i = 0; i <= g.pool_size; ++i, at += step) along[i] = at;
      Samples samples;
      samples.find(along, g.pool_size + 1, side.length, lines.fraction);
      pool_border(part, side, box, lines, samples);
    }
  }

 private:
  const T *boxes_of(const Part &part) const {
    return static_cast<const T *>(problem_.box) + part.batch * problem_.geometry.boxes * 4;
  }

  // All samples of a border outside the map are 0; the first wins.
  void clear(const Part &part, std::int64_t box) const {
    const std::int64_t at = parts_.in_borders(part, box);
    std::memset(static_cast<T *>(problem_.output) + at, 0, static_cast<std::size_t>(part.count) * sizeof(T));
    std::memset(problem_.argmax + at, 0, static_cast<std::size_t>(part.count) * sizeof(std::int32_t));
  }

  // All channels of one border, directly from the map.
  void pool_border(const Part &part, const Side &side, std::int64_t box, const Lines &lines,
                   const Samples &samples) const {
    const T *map = static_cast<const T *>(problem_.input) + parts_.in_map(part);
    const std::int64_t next_line = side.next_line * parts_.pixel, at = parts_.in_borders(part, box);
    const MapChannels<T> all{map + lines.low * next_line, map + lines.high * next_line, side.next_pixel * parts_.pixel};
    for (std::int64_t c = 0; c < part.count; c += kLanes) {
      const std::int64_t channels = part.count - c;
      const MapChannels<T> pixels = all.from(c);
      const typename MapChannels<T>::Sums sums(pixels, samples, side, channels);
      Best<1> best;
      best.begin(sums);
      best.take(sums, 0, 1, problem_.geometry.pool_size + 1);
      best.store_numbers(problem_.argmax + at + c, channels);
      best.store_values(static_cast<T *>(problem_.output) + at + c, channels);
    }
  }

  // Computes the samples of a group's borders, some at a time, and calls use(first, count) for
  // them.
  template <typename Use>
  void find(const TaskScratch &scratch, const Group &group, const Use &use) const {
    const std::int64_t all = problem_.geometry.pool_size + std::int64_t{1};
    float at[Group::kMost], step[Group::kMost], fraction[Group::kMost];
    for (std::int64_t b = 0; b < group.count; ++b) {
      const T *box = boxes_of(group.part) + group.boxes[group.first + b] * 4;
      group.side.walk_of(box, problem_.geometry.pool_size, &at[b], &step[b]);
      fraction[b] = Lines(group.side.line_of(box), group.side.lines).fraction;
    }
    InterruptPoll poll;
    for (std::int64_t first = 0; first < all && !poll.interrupted(group.count * group.part.count * Samples::kMost);
         first += Samples::kMost) {
      const std::int32_t count = static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, all - first));
      float along[Group::kMost][Samples::kMost];
      // The definition adds the step repeatedly, with rounding.
      for (std::int64_t b = 0; b < group.count; ++b) {
        clear_floats(along[b], Samples::kMost);
        for (std::int32_t i = 0; i < count; ++i) {
          along[b][i] = at[b];
          at[b] += step[b];
        }
      }
      for (std::int64_t b = 0; b < group.count; ++b) {
        scratch.samples[b].find(along[b], count, group.side.length, fraction[b]);
      }
      use(static_cast<std::int32_t>(first), count);
    }
  }

  void pool_copied(const TaskScratch &scratch, const Group &group, const LinePair &pair, std::int64_t low,
                   std::int64_t high, LinePrefetcher<T> &prefetcher) const {
    find(scratch, group, [&](std::int32_t first, std::int32_t samples) {
      for (std::int64_t c = 0; c < group.part.count; c += pair.width()) {
        const CopiedChannels pixels{pair.line(low, c), pair.line(high, c), pair.width()};
        const std::int64_t end = smaller(c + pair.width(), group.part.count);
        pool_pieces<kBlockVectors>(scratch, group, pixels, first, samples, c, end, prefetcher);
      }
    });
  }

  void pool_group(const TaskScratch &scratch, const Group &group, const MapChannels<T> &pixels,
                  LinePrefetcher<T> &prefetcher) const {
    find(scratch, group, [&](std::int32_t first, std::int32_t samples) {
      pool_pieces<1>(scratch, group, pixels, first, samples, 0, group.part.count, prefetcher);
    });
  }

  // Channels c .. end, where `pixels` starts at c: as many vectors at a time as remain, at most
  // kVectors.
  template <int kVectors, typename Pixels>
  void pool_pieces(const TaskScratch &scratch, const Group &group, Pixels pixels, std::int32_t first,
                   std::int32_t samples, std::int64_t c, std::int64_t end, LinePrefetcher<T> &prefetcher) const {
    constexpr std::int64_t kWidth = kVectors * kLanes;
    for (; end - c >= kWidth; c += kWidth, pixels = pixels.from(kWidth)) {
      pool_block<kVectors, true>(scratch, group, pixels, first, samples, c, kWidth, prefetcher);
    }
    if constexpr (kVectors > 1) {
      pool_pieces<kVectors / 2>(scratch, group, pixels, first, samples, c, end, prefetcher);
    } else if (c < end) {
      pool_block<1, false>(scratch, group, pixels, first, samples, c, end - c, prefetcher);
    }
  }

  // Some samples of all borders of a group, for the channels from c on.
  template <int kVectors, bool kWhole, typename Pixels>
  void pool_block(const TaskScratch &scratch, const Group &group, const Pixels &pixels, std::int32_t first,
                  std::int32_t count, std::int64_t c, std::int64_t some_channels, LinePrefetcher<T> &prefetcher) const {
    const std::int64_t channels = kWhole ? kVectors * kLanes : some_channels;
    const bool last = first > problem_.geometry.pool_size - count;
    T *output = static_cast<T *>(problem_.output);
    for (std::int64_t b = 0; b < group.count; ++b) {
      const std::int64_t next = smaller(b + kBoxesAhead, group.count - 1);
      const std::int64_t asked = parts_.in_borders(group.part, group.boxes[group.first + next]) + c;
      prefetch<1, 3, 2>(problem_.argmax, asked, channels);
      prefetch<1, 3, 2>(output, asked, channels);
      prefetcher.prefetch_pixel();
      const std::int64_t at = parts_.in_borders(group.part, group.boxes[group.first + b]) + c;
      float *largest = scratch.largest + b * parts_.width + c;
      Best<kVectors> best;
      const typename Pixels::Sums sums(pixels, scratch.samples[b], group.side, channels);
      if (first == 0) {
        best.begin(sums);
      } else {
        best.load(largest, problem_.argmax + at, channels);
      }
      best.take(sums, first, first == 0 ? 1 : 0, count);
      best.store_numbers(problem_.argmax + at, channels);
      if (last) {
        best.store_values(output + at, channels);
      } else {
        best.store_values(largest, channels);
      }
    }
  }

  const BorderAlignForwardProblem &problem_;
  const Parts &parts_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_CPU_FORWARD_H_
