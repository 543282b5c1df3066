// BorderAlign backward. For each channel, the four corners of a place between pixels are stored
// side by side: a gradient is one addition of four numbers to one address. All borders between two
// lines of pixels add to the places between them, which fit into L1; then the places are added to
// the sums of the two lines. A line is written when no more borders can add to it.
//
// A task owns its part of the map, so there are no atomics and one order of additions: by line, by
// group of boxes, boxes ascending.
#ifndef MLUOPS_OPS_BORDER_ALIGN_CPU_BACKWARD_H_
#define MLUOPS_OPS_BORDER_ALIGN_CPU_BACKWARD_H_

#include "ops/border_align/cpu/borders.h"

namespace mluops {
namespace MLUOPS_LEVEL {

typedef float Corners __attribute__((vector_size(4 * sizeof(float))));

static inline void add_corners(float *to, Corners shares) {
  Corners sums;
  std::memcpy(&sums, to, sizeof sums);
  sums += shares;
  std::memcpy(to, &sums, sizeof sums);
}

#if defined(__AVX512F__)
// Values 0, 2, 4, ... and 1, 3, 5, ... of two vectors.
template <int... kLane>
static inline void unzip(Vector &a, Vector &b, Lanes<kLane...>) {
  const Vector even = __builtin_shufflevector(a, b, (2 * kLane)...),
               odd = __builtin_shufflevector(a, b, (2 * kLane + 1)...);
  a = even;
  b = odd;
}
#endif

// From four corners per channel, interleaved, to one vector over the channels per corner.
static inline void part_corners(Vector (&corner)[4]) {
#if defined(__AVX512F__)
  unzip(corner[0], corner[1], AllLanes());
  unzip(corner[2], corner[3], AllLanes());
  unzip(corner[0], corner[2], AllLanes());
  unzip(corner[1], corner[3], AllLanes());
#elif defined(__AVX2__)
  // First to where transposing groups of four lanes puts the channels in order.
  combine<Fours<0, 1>, Fours<1, 1>>(corner[0], corner[2]);
  combine<Fours<0, 1>, Fours<1, 1>>(corner[1], corner[3]);
  transpose_fours(corner[0], corner[2], corner[1], corner[3]);
  const Vector third = corner[1];
  corner[1] = corner[2];
  corner[2] = third;
#else
  transpose_fours(corner[0], corner[1], corner[2], corner[3]);
#endif
}

template <typename T>
class Backward {
 public:
  // Limits of the channels of a block; multiples of the lanes of every level.
  static constexpr std::int64_t kMostWidth = 64, kLeastWidth = 16;

  // Weights and places of the samples of a border. The last entry stands for all other numbers; it
  // adds to the place before the first one, which is not used.
  struct Shares {
    Corners weight[Samples::kMost + 1];
    std::int32_t place[Samples::kMost + 1];
  };

  typedef BorderAlignBackwardProblem Problem;

  // Scratch memory of a running task: the places of a block, the sums of two lines, sorted boxes,
  // and the shares of a group.
  struct TaskScratch {
    TaskScratch(const Parts &parts, Arena &memory)
        : places(memory.allocate<float>(larger(most_places(parts.g.height), most_places(parts.g.width)))),
          sums(memory.allocate<float>(2 * (parts.longest * smaller(parts.width, parts.g.channels) + kLanes))),
          boxes(memory.allocate<std::int32_t>(SortedBoxes::size(parts.g))),
          shares(memory.allocate<Shares>(Group::most(parts.g))) {}
    float *places;
    float *sums;
    std::int32_t *boxes;
    Shares *shares;
  };

  Backward(const BorderAlignBackwardProblem &problem, const Parts &parts) : problem_(problem), parts_(parts) {}

  // Half values are rounded once, when a line is written to the map.
  void run(const TaskScratch &scratch, std::int64_t task) const {
    const Part part = parts_.part(task);
    const Side side(problem_.geometry, part.side);
    const SortedBoxes boxes(boxes_of(part), problem_.geometry.boxes, side, scratch.boxes);
    const std::int64_t line_size = side.length * part.count + kLanes;
    if (!boxes.complete()) return;
    clear_floats(scratch.places, places_size(side.length, block_width(side, part)));
    clear_floats_interruptible(scratch.sums, 2 * line_size);
    InterruptPoll poll;
    for (std::int64_t line = 0; line < side.lines && !poll.interrupted(line_size); ++line) {
      float *low = scratch.sums + line % 2 * line_size;
      float *high = line + 1 < side.lines ? scratch.sums + (line + 1) % 2 * line_size : low;
      const std::int64_t end = boxes.end(line);
      for (std::int64_t first = boxes.begin(line); first < end; first += Group::kMost) {
        if (poll.interrupted(Group::kMost * part.count *
                             smaller<std::int64_t>(problem_.geometry.pool_size, Samples::kMost)))
          return;
        add_group(scratch, Group{part, side, boxes, first, smaller(Group::kMost, end - first)}, low, high);
      }
      write_line(part, side, line, low);
      clear_floats_interruptible(low, line_size);
    }
  }

  static bool are_few(const BorderAlignGeometry &g) {
    return MLUOPS_LEVEL::are_few(g) && g.height * g.width * g.channels <= kFewSums;
  }

  // A side with few borders on a small map.
  void run_few(std::int64_t number) const {
    const BorderAlignGeometry &g = problem_.geometry;
    const Part part = parts_.whole_side(number);
    const Side side(g, part.side);
    float sums[kFewSums];  // by lines, pixels and channels
    clear_floats(sums, g.height * g.width * g.channels);
    for (std::int64_t box = 0; box < g.boxes; ++box) {
      const T *corners = boxes_of(part) + box * 4;
      const Lines lines(side.line_of(corners), side.lines);
      if (!lines.inside) continue;
      float start, step, along[Samples::kMost] = {};
      side.walk_of(corners, g.pool_size, &start, &step);
      for (std::int32_t i = 0; i <= g.pool_size; ++i) along[i] = start + step * static_cast<float>(i);
      Samples samples;
      samples.find(along, g.pool_size + 1, side.length, lines.fraction);
      add_border(part, side, box, samples, sums + lines.low * side.length * g.channels,
                 sums + lines.high * side.length * g.channels);
    }
    for (std::int64_t line = 0; line < side.lines; ++line) {
      write_line(part, side, line, sums + line * side.length * g.channels);
    }
  }

 private:
  // Maximum size of a map for which few borders are added directly to sums.
  static constexpr std::int64_t kFewSums = 512;

  // Adds the gradients of one border to two lines of sums.
  void add_border(const Part &part, const Side &side, std::int64_t box, const Samples &samples, float *low,
                  float *high) const {
    const std::int64_t at = parts_.in_borders(part, box);
    const std::int32_t outside = Samples::outside(side.length), last = static_cast<std::int32_t>(side.length) - 1;
    for (std::int64_t c = 0; c < part.count; ++c) {
      const std::int32_t sample = read_once(problem_.argmax + at + c);
      if (sample < 0 || sample > problem_.geometry.pool_size || samples.low[sample] == outside) continue;
      const float gradient = to_float(static_cast<const T *>(problem_.grad_output)[at + c]);
      const std::int64_t left = samples.low[sample] * part.count + c;
      const std::int64_t right = smaller(samples.low[sample] + 1, last) * part.count + c;
      low[left] += gradient * samples.weight[Samples::kLowLow][sample];
      low[right] += gradient * samples.weight[Samples::kLowHigh][sample];
      high[left] += gradient * samples.weight[Samples::kHighLow][sample];
      high[right] += gradient * samples.weight[Samples::kHighHigh][sample];
    }
  }

  // Longer lines are processed in segments.
  static constexpr std::int64_t kMostPlaces = 512;

  // Number of values for the places of a line and the one before them, for `width` channels.
  static std::int64_t places_size(std::int64_t length, std::int64_t width) {
    return (smaller(length, kMostPlaces) + 1) * width * 4;
  }
  static std::int64_t most_places(std::int64_t length) { return places_size(length, fitting_width(length)); }

  // Channels of a block whose places fit into L1, at least kLeastWidth.
  static std::int64_t fitting_width(std::int64_t length) {
    std::int64_t width = kMostWidth;
    while (width > kLeastWidth && length * width * static_cast<std::int64_t>(sizeof(Corners)) > usable_l1d_bytes()) {
      width /= 2;
    }
    return width;
  }

  static std::int64_t block_width(const Side &side, const Part &part) {
    const std::int64_t padded = (part.count + kLanes - 1) / kLanes * kLanes;
    return smaller(fitting_width(side.length), padded);
  }

  const T *boxes_of(const Part &part) const {
    return static_cast<const T *>(problem_.box) + part.batch * problem_.geometry.boxes * 4;
  }

  void add_group(const TaskScratch &scratch, const Group &group, float *low, float *high) const {
    const std::int64_t all = problem_.geometry.pool_size + std::int64_t{1};
    InterruptPoll poll;
    for (std::int64_t first = 0; first < all; first += Samples::kMost) {
      const std::int32_t count = static_cast<std::int32_t>(smaller<std::int64_t>(Samples::kMost, all - first));
      for (std::int64_t begin = 0; begin < group.side.length; begin += kMostPlaces) {
        if (poll.interrupted(group.count * group.part.count * Samples::kMost)) return;
        const Segment segment{begin, smaller(kMostPlaces, group.side.length - begin),
                              block_width(group.side, group.part)};
        add_segment(scratch, group, static_cast<std::int32_t>(first), count, segment, low, high);
      }
    }
  }

  // A range of places in a line, and the channels processed at a time.
  struct Segment {
    std::int64_t first;
    std::int64_t count;
    std::int64_t width;
  };

  void add_segment(const TaskScratch &scratch, const Group &group, std::int32_t first, std::int32_t samples,
                   const Segment &segment, float *low, float *high) const {
    find(scratch.shares, group, first, samples, segment);
    float *places = scratch.places + segment.width * 4;  // the place before is for gradients that do not count
    for (std::int64_t c = 0; c < group.part.count; c += segment.width) {
      const std::int64_t channels = smaller(segment.width, group.part.count - c);
      add_block(places, scratch.shares, group, first, samples, c, channels);
      const std::int64_t at = segment.first * group.part.count + c;
      const bool more = segment.first + segment.count < group.side.length;
      collect(places, segment, more, channels, low + at, high + at, group.part.count);
    }
  }

  // Samples first .. first + count of the borders of a group.
  void find(Shares *shares, const Group &group, std::int32_t first, std::int32_t count, const Segment &segment) const {
    const std::int32_t next_place = static_cast<std::int32_t>(segment.width) * 4;
    for (std::int64_t b = 0; b < group.count; ++b) {
      const T *box = boxes_of(group.part) + group.boxes[group.first + b] * 4;
      float start, step;
      group.side.walk_of(box, problem_.geometry.pool_size, &start, &step);
      float along[Samples::kMost];
      for (std::int32_t i = 0; i < Samples::kMost; ++i) along[i] = start + step * static_cast<float>(first + i);
      Samples samples;
      samples.find(along, count, group.side.length, Lines(group.side.line_of(box), group.side.lines).fraction);
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int64_t place = samples.low[i] - segment.first;  // past the line if outside the map
        const bool here = place >= 0 && place < segment.count;
        shares[b].weight[i] =
            Corners{samples.weight[0][i], samples.weight[1][i], samples.weight[2][i], samples.weight[3][i]};
        shares[b].place[i] = here ? static_cast<std::int32_t>(place) * next_place : -next_place;
      }
      shares[b].weight[count] = Corners{};
      shares[b].place[count] = -next_place;
    }
  }

  // Adds the gradients of some channels of a group whose argmax is in first .. first + count.
  void add_block(float *places, const Shares *shares, const Group &group, std::int32_t first, std::int32_t count,
                 std::int64_t c, std::int64_t channels) const {
    const T *gradients = static_cast<const T *>(problem_.grad_output);
    constexpr std::int64_t kFarAhead = 16;
    for (std::int64_t b = 0; b < group.count; ++b) {
      prefetch_border<2>(group, b + kFarAhead, gradients, c, channels);
      prefetch_border<3>(group, b + kBoxesAhead, gradients, c, channels);
      const std::int64_t at = parts_.in_borders(group.part, group.boxes[group.first + b]) + c;
      float converted[kMostWidth];
      add_border(places, shares[b], first, count, problem_.argmax + at, floats(gradients + at, converted, channels),
                 channels);
    }
  }

  template <int kCache>
  [[gnu::always_inline]] void prefetch_border(const Group &group, std::int64_t number, const T *gradients,
                                              std::int64_t c, std::int64_t channels) const {
    const std::int64_t box = group.boxes[smaller(group.first + number, problem_.geometry.boxes - 1)];
    const std::int64_t at = parts_.in_borders(group.part, box) + c;
    prefetch<0, kCache, 2>(problem_.argmax, at, channels);
    prefetch<0, kCache, 2>(gradients, at, channels);
  }

  static const float *floats(const float *from, float *, std::int64_t) { return from; }
  static const float *floats(const Half *from, float *converted, std::int64_t count) {
    load_row(from, converted, count);
    return converted;
  }

  static void add_border(float *places, const Shares &shares, std::int32_t first, std::int32_t count,
                         const std::int32_t *argmax, const float *gradient, std::int64_t channels) {
    std::int32_t sample[kMostWidth];
    for (std::int64_t i = 0; i < channels; i += kLanes) {
      // Unsigned, because argmax may have any value and the difference might overflow.
      const IntVector read = read_vector_once(load_some(argmax + i, channels - i));
      const UnsignedVector number = reinterpret_cast<UnsignedVector>(read) - static_cast<std::uint32_t>(first);
      const UnsignedVector others = UnsignedVector{} + static_cast<std::uint32_t>(count);
      store(sample + i, reinterpret_cast<IntVector>(number < others ? number : others));
    }
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < channels; ++i) {
      const std::int32_t own = sample[i];
      add_corners(places + shares.place[own] + i * 4, gradient[i] * shares.weight[own]);
    }
  }

  // Adds the places of a block to the sums of its lines, whose pixels are `next` values apart, and
  // clears them. `more` is set if the line continues after the segment. Lanes without a channel add
  // 0 to the following values.
  static void collect(float *places, const Segment &segment, bool more, std::int64_t channels, float *low, float *high,
                      std::int64_t next) {
    const std::int64_t step = segment.width * 4;
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      Vector low_before = {}, high_before = {};  // shares of the place before
      for (std::int64_t p = 0; p < segment.count; ++p) {
        float *from = places + p * step + c * 4;
        Vector corner[4];
        for (int j = 0; j < 4; ++j) {
          corner[j] = load(from + j * kLanes);
          store(from + j * kLanes, Vector{});
        }
        part_corners(corner);
        add(low + p * next + c, corner[Samples::kLowLow] + low_before);
        add(high + p * next + c, corner[Samples::kHighLow] + high_before);
        low_before = corner[Samples::kLowHigh];
        high_before = corner[Samples::kHighHigh];
      }
      // Both pixels of a line's last place are the last pixel.
      const std::int64_t behind = more ? segment.count : segment.count - 1;
      add(low + behind * next + c, low_before);
      add(high + behind * next + c, high_before);
    }
  }

  static void add(float *to, Vector value) { store(to, load(to) + value); }

  void write_line(const Part &part, const Side &side, std::int64_t line, const float *sums) const {
    T *map = static_cast<T *>(problem_.grad_input) + parts_.in_map(part) + line * side.next_line * parts_.pixel;
    const std::int64_t step = side.next_pixel * parts_.pixel;
    InterruptPoll poll;
    for (std::int64_t p = 0; p < side.length && !poll.interrupted(part.count); ++p) {
      prefetch<1, 3, 2>(map, (p + kPixelsAhead) * step, part.count);
      store_row(map + p * step, sums + p * part.count, part.count);
    }
  }

  const BorderAlignBackwardProblem &problem_;
  const Parts &parts_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_CPU_BACKWARD_H_
