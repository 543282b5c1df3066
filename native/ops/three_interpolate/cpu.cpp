// ThreeInterpolate on the CPU.
//
// As many channels as a vector has lanes are worked on together. Their features are turned once into a tile [M][lanes], in
// which every source point is one vector: forward sums three of them per target, backward adds three multiples of a target's
// vector into them. Squares of results are turned back in registers. The order of additions is that of targets, then of
// neighbours, whatever the number of threads.
//
// With fewer channels than that pays for, or sources so many that the tiles would take memory, the same sums are formed one
// channel at a time.
#include "cpu/stream.h"
#include "cpu/vector.h"
#include "ops/three_interpolate/three_interpolate.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Values of a cache line.
template <typename T>
constexpr std::int64_t kPerLine = kCacheLine / static_cast<std::int64_t>(sizeof(T));

// Targets that are summed up before they are written. Results of fewer, which lie kilobytes apart, are slow to write; those of more are
// in the way in the first cache.
template <typename T>
constexpr std::int64_t kTargetTile = 8 * kPerLine<T>;
constexpr std::int64_t kMostTile = kTargetTile<Half>;
static_assert(kTargetTile<float> % kLanes == 0, "a tile of targets is whole squares");

// Some targets: for each of them and each neighbour where in a tile its source begins, and its weight. An index that names no source
// stands for source M, an extra one whose values do not count, with weight 0.
struct Targets {
  std::int32_t *source;  // whole vectors
  float *weight;

  // Values that as many targets take, and another square of them: where a square begins at any of them, it ends behind the last one.
  static std::int64_t size(std::int64_t count) { return (count + 2 * kLanes - 1) / kLanes * kLanes * kNeighbours; }

  Targets from(std::int64_t target) const { return {source + target * kNeighbours, weight + target * kNeighbours}; }

  template <typename T>
  void read(const std::int32_t *indices, const T *weights, std::int64_t count, std::int64_t sources) const {
    const std::int32_t limit = static_cast<std::int32_t>(sources);
    for (std::int64_t e = 0; e < size(count); e += kLanes) {
      const std::int64_t left = larger<std::int64_t>(count * kNeighbours - e, 0);
      const IntVector index = load_some(indices + e, left);
      const IntVector valid = (index >= 0) & (index < limit);
      // Unsigned, because compilers multiply before they choose, and an index may be anything.
      const UnsignedVector chosen = reinterpret_cast<UnsignedVector>(valid ? index : IntVector{} + limit);
      store(source + e, reinterpret_cast<IntVector>(chosen * kLanes));
      store(weight + e, valid ? load_some(weights + e, left) : Vector{});
    }
  }
};

// A task: some channels of one batch, in forward also a range of targets.
struct Task {
  std::int64_t batch;
  std::int64_t channel;
  std::int64_t channels;
  std::int64_t begin;
  std::int64_t end;
};

// Cuts the work into tasks. `chunks` > 1 cuts the targets of a channel block too.
struct Cut {
  Cut(const ThreeInterpolateGeometry &geometry, std::int64_t channels_per_task, std::int64_t chunks_wanted)
      : g(geometry),
        width(channels_per_task),
        blocks((g.channels + width - 1) / width),
        chunk((g.targets / larger<std::int64_t>(chunks_wanted, 1) / kMostTile + 1) * kMostTile),
        chunks((g.targets + chunk - 1) / chunk) {}

  std::int64_t tasks() const { return g.batches * blocks * chunks; }
  // About how many values a task handles.
  std::int64_t values() const { return (chunk * (kNeighbours + 1) + g.sources) * width; }

  Task task(std::int64_t number) const {
    const std::int64_t channel = number / chunks % blocks * width;
    const std::int64_t begin = number % chunks * chunk;
    return Task{number / chunks / blocks, channel, smaller(width, g.channels - channel), begin,
                smaller(begin + chunk, g.targets)};
  }

  const ThreeInterpolateGeometry &g;
  std::int64_t width, blocks, chunk, chunks;
};

// Where a tile of targets ends of which the one in memory at `first` is number n: at the end of a cache line, so that lines are
// read and written as a whole.
template <typename T>
inline std::int64_t end_of_tile(const T *first, std::int64_t n) {
  return n + kTargetTile<T> -
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first) % kCacheLine / sizeof(T));
}

// Enough tasks for the threads, none so short that its tile is not worth it.
inline std::int64_t wanted_chunks(const ThreeInterpolateGeometry &g) {
  const std::int64_t blocks = g.batches * ((g.channels + kLanes - 1) / kLanes);
  return smaller<std::int64_t>(4 * thread_count() / blocks, g.targets / (4 * g.sources + 1024)) + 1;
}

// A source more than there are, and as many as a square has that begins at the last one.
inline std::int64_t tile_size(const ThreeInterpolateGeometry &g) { return (g.sources + kLanes) * kLanes; }

inline std::int64_t tensor_bytes(const ThreeInterpolateGeometry &g) {
  return g.batches * (g.channels * (g.sources + g.targets) + 6 * g.targets) * (g.half ? 2 : 4);
}

// Whether tiles pay: enough channels and targets, and little memory against that of the tensors. The number of threads has no
// say, so that it cannot show in the results.
inline bool tiles_pay(const ThreeInterpolateGeometry &g) {
  constexpr std::int64_t kFreeBytes = 2 << 20;
  const std::int64_t tile = tile_size(g) * static_cast<std::int64_t>(sizeof(float));
  const bool few_targets = g.targets * 2 * kNeighbours < g.sources;
  const bool counted = tile_size(g) <= INT32_MAX;  // Targets count places in a tile in 32 bits
  return g.channels * 4 >= kLanes && !few_targets && counted && tile <= larger(kFreeBytes, tensor_bytes(g) / 32);
}

// What a running task needs: a tile, and targets. Where memory allows it, all targets of a batch are kept for the next task, since
// making them ready again for each block of channels would take up to a fifth of the time.
struct Room {
  static bool keeps_targets(const Cut &cut, std::int64_t slots) {
    const std::int64_t bytes = slots * Targets::size(cut.g.targets) * 2 * static_cast<std::int64_t>(sizeof(float));
    return cut.blocks > 1 && cut.chunks == 1 && bytes <= tensor_bytes(cut.g) / 32;
  }

  Room(const ThreeInterpolateGeometry &g, bool keeps_targets, Dealer &memory)
      : keeps(keeps_targets),
        tile(memory.deal<float>(tile_size(g))),
        targets(deal_targets(keeps ? g.targets : smaller(kMostTile, g.targets), memory)),
        batch(memory.deal<std::int64_t>(1)) {}

  static Targets deal_targets(std::int64_t count, Dealer &memory) {
    std::int32_t *source = memory.deal<std::int32_t>(Targets::size(count));
    return Targets{source, memory.deal<float>(Targets::size(count))};
  }

  // `count` targets of a task from number n on.
  template <typename T, typename Problem>
  Targets ready(const Problem &problem, const Task &task, std::int64_t n, std::int64_t count) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    const std::int64_t first = task.batch * g.targets;
    const std::int32_t *indices = problem.indices + first * kNeighbours;
    const T *weights = static_cast<const T *>(problem.weights) + first * kNeighbours;
    if (!keeps) {
      targets.read(indices + n * kNeighbours, weights + n * kNeighbours, count, g.sources);
      return targets;
    }
    if (*batch != task.batch) {
      targets.read(indices, weights, g.targets, g.sources);
      *batch = task.batch;
    }
    return targets.from(n);
  }

  const bool keeps;
  float *const tile;
  const Targets targets;
  std::int64_t *const batch;  // whose targets are kept, -1 at first
};

// Row-wise [channels][length] to vectors [length][lanes]; missing channels are 0.
template <typename T>
inline void load_turned(const T *rows, std::int64_t stride, std::int64_t channels, std::int64_t count,
                        Vector (&square)[kLanes]) {
  if (channels == kLanes && count == kLanes) {
    for (int c = 0; c < kLanes; ++c) square[c] = load(rows + c * stride);
  } else {
    for (int c = 0; c < kLanes; ++c) square[c] = c < channels ? load_some(rows + c * stride, count) : Vector{};
  }
  transpose(square);
}

// Asks for what lies `further` on in some rows, too many for the hardware to foresee each of them. To be called wherever a square begins,
// `at` in the rows; squares share cache lines.
template <int kWrite, typename T>
[[gnu::always_inline]] inline void ask_for_rows(const T *rows, std::int64_t stride, std::int64_t count, std::int64_t at,
                                                std::int64_t ahead) {
  constexpr std::int64_t kValuesPerLine = kCacheLine / sizeof(T);
  const std::int64_t further = at + ahead;
  if (at % kValuesPerLine != 0) return;
  for (std::int64_t i = 0; i < count; ++i) ask_for_value<kWrite, 2>(rows, i * stride + further);
}

constexpr std::int64_t kTargetsAhead = 256, kSourcesAhead = 64;

template <typename T>
class Forward {
 public:
  Forward(const ThreeInterpolateForwardProblem &problem, const Cut &cut)
      : problem_(problem),
        g_(problem.geometry),
        cut_(cut),
        stream_(g_.batches * g_.channels * g_.targets * static_cast<std::int64_t>(sizeof(T)) >= streaming_bytes()),
        whole_tiles_(stream_ && g_.targets % kPerLine<T> == 0) {}

  void tiled(const Room &room, std::int64_t number) const {
    const Task task = cut_.task(number);
    fill(room.tile, task);
    for (std::int64_t n = task.begin, end; n < task.end; n = end) {
      end = smaller(end_of_tile(output(task, n), n), task.end);
      const Targets targets = room.ready<T>(problem_, task, n, end - n);
      if (whole_tiles_ && end - n == kTargetTile<T>) {
        sum_targets<true>(room.tile, targets, task, n, end - n);
      } else {
        sum_targets<false>(room.tile, targets, task, n, end - n);
      }
    }
    if (stream_) finish_stream();
  }

  // One channel, straight from its features.
  void plain(std::int64_t number) const {
    const Task task = cut_.task(number);
    const T *source = features(task);
    T *target = output(task, task.begin);
    const std::int64_t first = (task.batch * g_.targets + task.begin) * kNeighbours;
    const std::int32_t *index = problem_.indices + first;
    const T *weight = static_cast<const T *>(problem_.weights) + first;
    for (std::int64_t n = 0; n < task.end - task.begin; ++n, index += kNeighbours, weight += kNeighbours) {
      float term[kNeighbours];
      for (int i = 0; i < kNeighbours; ++i) {
        const bool valid = index[i] >= 0 && index[i] < g_.sources;
        term[i] = valid ? to_float(weight[i]) * to_float(source[index[i]]) : 0.0f;
      }
      store(target + n, term[0] + term[1] + term[2]);
    }
  }

 private:
  const T *features(const Task &task) const {
    return static_cast<const T *>(problem_.features) + (task.batch * g_.channels + task.channel) * g_.sources;
  }

  T *output(const Task &task, std::int64_t target) const {
    return static_cast<T *>(problem_.output) + (task.batch * g_.channels + task.channel) * g_.targets + target;
  }

  void fill(float *tile, const Task &task) const {
    const T *rows = features(task);
    Vector square[kLanes];
    for (std::int64_t m = 0; m < g_.sources; m += kLanes) {
      const std::int64_t count = smaller<std::int64_t>(kLanes, g_.sources - m);
      // Behind the end of these rows come the next task's, to which the sums leave time to arrive.
      const std::int64_t next = m + kSourcesAhead < g_.sources ? 0 : (task.channels - 1) * g_.sources;
      ask_for_rows<0>(rows, g_.sources, task.channels, m, kSourcesAhead + next);
      load_turned(rows + m, g_.sources, task.channels, count, square);
      store_square(tile + m * kLanes, kLanes, square);
    }
    store(tile + g_.sources * kLanes, Vector{});
  }

  // A whole tile begins at a cache line in every row, and is written past the caches: straight code, no branch for what is in a line.
  template <bool kWhole>
  void sum_targets(const float *tile, const Targets &targets, const Task &task, std::int64_t n,
                   std::int64_t some) const {
    const std::int64_t count = kWhole ? kTargetTile<T> : some;
    T *rows = output(task, n);
    T results[kLanes][kTargetTile<T>];
    for (std::int64_t start = 0; start < count; start += kLanes) {
      if (!kWhole && !stream_) ask_for_rows<1>(rows, g_.targets, task.channels, start, 0);
      const Targets these = targets.from(start);
      Vector square[kLanes];
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kLanes; ++i) square[i] = sum(tile, these, i);
      transpose(square);
      for (int c = 0; c < kLanes; ++c) store(&results[c][start], square[c]);
    }
    for (std::int64_t c = 0; c < task.channels; ++c) {
      T *const to = rows + c * g_.targets;
      if (kWhole) {
        for (std::int64_t at = 0; at < count; at += kPerLine<T>) {
          stream_line(reinterpret_cast<char *>(to + at), reinterpret_cast<const char *>(results[c] + at));
        }
      } else if (stream_) {
        stream_bytes(to, results[c], static_cast<std::size_t>(count) * sizeof(T));
      } else {
        copy_row(to, results[c], count);
      }
    }
  }

  static Vector sum(const float *tile, const Targets &targets, std::int64_t target) {
    const std::int32_t *source = targets.source + target * kNeighbours;
    const float *weight = targets.weight + target * kNeighbours;
    const Vector first = weight[0] * load(tile + source[0]);
    const Vector second = first + weight[1] * load(tile + source[1]);
    return second + weight[2] * load(tile + source[2]);
  }

  const ThreeInterpolateForwardProblem &problem_;
  const ThreeInterpolateGeometry &g_;
  const Cut &cut_;
  const bool stream_;
  const bool whole_tiles_;  // a tile that begins at a cache line in one row does in all
};

template <typename T>
class Backward {
 public:
  Backward(const ThreeInterpolateBackwardProblem &problem, const Cut &cut)
      : problem_(problem), g_(problem.geometry), cut_(cut) {}

  void tiled(const Room &room, std::int64_t number) const {
    const Task task = cut_.task(number);
    clear_floats(room.tile, tile_size(g_));
    for (std::int64_t n = 0, end; n < g_.targets; n = end) {
      end = smaller(end_of_tile(gradients(task) + n, n), g_.targets);
      add_targets(room.tile, room.ready<T>(problem_, task, n, end - n), task, n, end - n);
    }
    empty(room.tile, task);
  }

  // One channel, summed up in `sums` of M floats.
  void plain(float *sums, std::int64_t number) const {
    const Task task = cut_.task(number);
    const std::int64_t first = task.batch * g_.targets * kNeighbours;
    const std::int32_t *index = problem_.indices + first;
    const T *weight = static_cast<const T *>(problem_.weights) + first;
    const T *gradient = gradients(task);
    clear_floats(sums, g_.sources);
    for (std::int64_t n = 0; n < g_.targets; ++n, index += kNeighbours, weight += kNeighbours) {
      const float share = to_float(gradient[n]);
      for (int i = 0; i < kNeighbours; ++i) {
        if (index[i] >= 0 && index[i] < g_.sources) sums[index[i]] += to_float(weight[i]) * share;
      }
    }
    store_row(results(task), sums, g_.sources);
  }

 private:
  const T *gradients(const Task &task) const {
    return static_cast<const T *>(problem_.grad_output) + (task.batch * g_.channels + task.channel) * g_.targets;
  }

  T *results(const Task &task) const {
    return static_cast<T *>(problem_.grad_features) + (task.batch * g_.channels + task.channel) * g_.sources;
  }

  void add_targets(float *tile, const Targets &targets, const Task &task, std::int64_t n, std::int64_t count) const {
    const T *rows = gradients(task) + n;
    for (std::int64_t start = 0; start < count; start += kLanes) {
      const std::int64_t here = smaller<std::int64_t>(kLanes, count - start);
      // Behind the end of these rows come the next task's.
      const std::int64_t next = n + start + kTargetsAhead < g_.targets ? 0 : (task.channels - 1) * g_.targets;
      ask_for_rows<0>(rows, g_.targets, task.channels, start, kTargetsAhead + next);
      Vector square[kLanes];
      load_turned(rows + start, g_.targets, task.channels, here, square);
      const Targets these = targets.from(start);
      if (here == kLanes) {
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < kLanes; ++j) add(tile, these, j, square[j]);
      } else {
        Vector rest[kLanes];  // taken by a variable, so that these are in memory, and the square is not
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < kLanes; ++j) rest[j] = square[j];
        for (std::int64_t j = 0; j < here; ++j) add(tile, these, j, rest[j]);
      }
    }
  }

  [[gnu::always_inline]] static void add(float *tile, const Targets &targets, std::int64_t target, Vector share) {
#pragma GCC unroll 3
    for (std::int64_t e = target * kNeighbours; e < (target + 1) * kNeighbours; ++e) {
      float *sum = tile + targets.source[e];
      store(sum, load(sum) + targets.weight[e] * share);
    }
  }

  void empty(const float *tile, const Task &task) const {
    T *rows = results(task);
    for (std::int64_t m = 0; m < g_.sources; m += kLanes) {
      const std::int64_t count = smaller<std::int64_t>(kLanes, g_.sources - m);
      Vector square[kLanes];
      load_square(square, tile + m * kLanes, kLanes);
      transpose(square);
      T *to = rows + m;
      if (count == kLanes && task.channels == kLanes) {
#pragma GCC unroll 16
        for (int c = 0; c < kLanes; ++c, to += g_.sources) store(to, square[c]);
      } else {
        for (std::int64_t c = 0; c < task.channels; ++c, to += g_.sources) store_some(to, square[c], count);
      }
    }
  }

  const ThreeInterpolateBackwardProblem &problem_;
  const ThreeInterpolateGeometry &g_;
  const Cut &cut_;
};

// Runs kernel.tiled() for all tasks of a cut.
template <typename Kernel>
mluOpStatus_t run_tiled(const char *function, const Kernel &kernel, const Cut &cut) {
  const std::int64_t slots = useful_slots(cut.tasks(), cut.values());
  const bool keeps = Room::keeps_targets(cut, slots);
  Dealer counter(nullptr);
  const Room counted(cut.g, keeps, counter);
  const Scratch<char> memory(slots * counter.used());
  if (memory.data() == nullptr) return out_of_memory(function);
  auto room_of = [&](std::int64_t slot) {
    Dealer dealer(memory.data() + slot * counter.used());
    return Room(cut.g, keeps, dealer);
  };
  for (std::int64_t slot = 0; slot < slots; ++slot) *room_of(slot).batch = -1;
  parallel_slots(cut.tasks(), slots,
                 [&](std::int64_t slot, std::int64_t number) { kernel.tiled(room_of(slot), number); });
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_forward(const ThreeInterpolateForwardProblem &problem) {
  const ThreeInterpolateGeometry &g = problem.geometry;
  if (tiles_pay(g)) {
    const Cut cut(g, kLanes, wanted_chunks(g));
    return run_tiled("mluOpThreeInterpolateForward", Forward<T>(problem, cut), cut);
  }
  const Cut rows(g, 1, wanted_chunks(g));
  const Forward<T> forward(problem, rows);
  auto sum = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) forward.plain(number);
  };
  parallel_for(rows.tasks(), 4096 / rows.chunk + 1, sum);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run_backward(const ThreeInterpolateBackwardProblem &problem) {
  constexpr const char *kFunction = "mluOpThreeInterpolateBackward";
  const ThreeInterpolateGeometry &g = problem.geometry;
  const Cut cut(g, tiles_pay(g) ? kLanes : 1, 1);
  const Backward<T> backward(problem, cut);
  if (tiles_pay(g)) return run_tiled(kFunction, backward, cut);
  const std::int64_t slots = useful_slots(cut.tasks(), cut.values());
  const Scratch<float> sums(slots * g.sources);
  if (sums.data() == nullptr) return out_of_memory(kFunction);
  parallel_slots(cut.tasks(), slots, [&](std::int64_t slot, std::int64_t number) {
    backward.plain(sums.data() + slot * g.sources, number);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t three_interpolate_forward(const ThreeInterpolateForwardProblem &problem) {
  return problem.geometry.half ? run_forward<Half>(problem) : run_forward<float>(problem);
}

mluOpStatus_t three_interpolate_backward(const ThreeInterpolateBackwardProblem &problem) {
  return problem.geometry.half ? run_backward<Half>(problem) : run_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_forward, three_interpolate_forward, ThreeInterpolateForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_three_interpolate_backward, three_interpolate_backward, ThreeInterpolateBackwardProblem);
