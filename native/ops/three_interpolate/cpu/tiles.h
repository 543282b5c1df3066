// Shared by forward and backward: preparation of targets, division into tasks, scratch memory, and
// transposing rows into tiles.
//
// Everything here is in an unnamed namespace: only one file per level includes it, and GCC inlines
// such functions more readily.
#ifndef MLUOPS_OPS_THREE_INTERPOLATE_CPU_TILES_H_
#define MLUOPS_OPS_THREE_INTERPOLATE_CPU_TILES_H_

#include "cpu/vector.h"
#include "ops/three_interpolate/three_interpolate.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Values of a cache line.
template <typename T>
constexpr std::int64_t kPerLine = kCacheLine / static_cast<std::int64_t>(sizeof(T));

// Targets per tile: fewer give short writes that are kilobytes apart, more compete with the tile
// for L1.
template <typename T>
constexpr std::int64_t kTargetTile = 8 * kPerLine<T>;
constexpr std::int64_t kMostTile = kTargetTile<Half>;
static_assert(kTargetTile<float> % kLanes == 0, "a tile of targets is whole squares");

// Prepared targets: for each neighbour of each target the offset of its source in a tile, and its
// weight. An invalid index becomes source M, an extra one whose values do not count, with weight 0.
struct Targets {
  std::int32_t *source;  // whole vectors
  float *weight;

  // Number of values for `count` targets plus one square, since a square may start at any target
  // and end after the last one.
  static std::int64_t size(std::int64_t count) { return (count + 2 * kLanes - 1) / kLanes * kLanes * kNeighbours; }

  Targets from(std::int64_t target) const { return {source + target * kNeighbours, weight + target * kNeighbours}; }

  // Returns false if the call is interrupted; the targets must not be used then.
  template <typename T>
  bool read(const std::int32_t *indices, const T *weights, std::int64_t count, std::int64_t sources) const {
    const std::int32_t limit = static_cast<std::int32_t>(sources);
    InterruptPoll poll;
    for (std::int64_t e = 0; e < size(count); e += kLanes) {
      if (poll.interrupted(kLanes)) return false;
      const std::int64_t left = larger<std::int64_t>(count * kNeighbours - e, 0);
      const IntVector index = read_vector_once(load_some(indices + e, left));
      const IntVector valid = (index >= 0) & (index < limit);
      // Unsigned, because compilers may multiply before selecting, and an index may have any value.
      const UnsignedVector chosen = reinterpret_cast<UnsignedVector>(valid ? index : IntVector{} + limit);
      store(source + e, reinterpret_cast<IntVector>(chosen * kLanes));
      store(weight + e, valid ? load_some(weights + e, left) : Vector{});
    }
    return true;
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

// Divides the work into tasks. `chunks` > 1 divides the targets of a channel block too.
struct Cut {
  Cut(const ThreeInterpolateGeometry &geometry, std::int64_t channels_per_task, std::int64_t chunks_wanted)
      : g(geometry),
        width(channels_per_task),
        blocks((g.channels + width - 1) / width),
        chunk((g.targets / larger<std::int64_t>(chunks_wanted, 1) / kMostTile + 1) * kMostTile),
        chunks((g.targets + chunk - 1) / chunk) {}

  std::int64_t tasks() const { return g.batches * blocks * chunks; }
  // Approximate number of values of a task.
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

// End of a tile of targets that starts at number n, stored at `first`: the end of a cache line, so
// that whole lines are read and written.
template <typename T>
inline std::int64_t end_of_tile(const T *first, std::int64_t n) {
  return n + kTargetTile<T> -
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first) % kCacheLine / sizeof(T));
}

// Enough tasks for the threads, each large enough to amortise its tile.
inline std::int64_t wanted_chunks(const ThreeInterpolateGeometry &g) {
  const std::int64_t blocks = g.batches * ((g.channels + kLanes - 1) / kLanes);
  return smaller<std::int64_t>(4 * thread_count() / blocks, g.targets / (4 * g.sources + 1024)) + 1;
}

// One extra source, plus a square that starts at the last one.
inline std::int64_t tile_size(const ThreeInterpolateGeometry &g) { return (g.sources + kLanes) * kLanes; }

inline std::int64_t tensor_bytes(const ThreeInterpolateGeometry &g) {
  return g.batches * (g.channels * (g.sources + g.targets) + 6 * g.targets) * (g.half ? 2 : 4);
}

// Whether tiles are faster: enough channels and targets, and little memory compared with the
// tensors. Independent of the number of threads, so that results are too.
inline bool tiles_pay(const ThreeInterpolateGeometry &g) {
  constexpr std::int64_t kFreeBytes = 2 << 20;
  const std::int64_t tile = tile_size(g) * static_cast<std::int64_t>(sizeof(float));
  const bool few_targets = g.targets * 2 * kNeighbours < g.sources;
  const bool counted = tile_size(g) <= INT32_MAX;  // Targets stores offsets in 32 bits
  return g.channels * 4 >= kLanes && !few_targets && counted && tile <= larger(kFreeBytes, tensor_bytes(g) / 32);
}

// Scratch memory of a running task: a tile and targets. If memory allows, all targets of a batch
// are kept for the next task: preparing them again for each block of channels takes up to a fifth
// of the time.
struct TaskScratch {
  static bool keeps_targets(const Cut &cut, std::int64_t slots) {
    const std::int64_t bytes = slots * Targets::size(cut.g.targets) * 2 * static_cast<std::int64_t>(sizeof(float));
    return cut.blocks > 1 && cut.chunks == 1 && bytes <= tensor_bytes(cut.g) / 32;
  }

  TaskScratch(const ThreeInterpolateGeometry &g, bool keeps_targets, Arena &memory)
      : keeps(keeps_targets),
        tile(memory.allocate<float>(tile_size(g))),
        targets(allocate_targets(keeps ? g.targets : smaller(kMostTile, g.targets), memory)),
        batch(memory.allocate<std::int64_t>(1)) {}

  static Targets allocate_targets(std::int64_t count, Arena &memory) {
    std::int32_t *source = memory.allocate<std::int32_t>(Targets::size(count));
    return Targets{source, memory.allocate<float>(Targets::size(count))};
  }

  // `count` targets of a task from number n on; `source` is NULL if the call is interrupted.
  template <typename T, typename Problem>
  Targets ready(const Problem &problem, const Task &task, std::int64_t n, std::int64_t count) const {
    const ThreeInterpolateGeometry &g = problem.geometry;
    const std::int64_t first = task.batch * g.targets;
    const std::int32_t *indices = problem.indices + first * kNeighbours;
    const T *weights = static_cast<const T *>(problem.weights) + first * kNeighbours;
    if (!keeps) {
      const bool read = targets.read(indices + n * kNeighbours, weights + n * kNeighbours, count, g.sources);
      return read ? targets : Targets{nullptr, nullptr};
    }
    if (*batch != task.batch) {
      *batch = -1;
      if (!targets.read(indices, weights, g.targets, g.sources)) return Targets{nullptr, nullptr};
      *batch = task.batch;
    }
    return targets.from(n);
  }

  const bool keeps;
  float *const tile;
  const Targets targets;
  std::int64_t *const batch;  // batch of the kept targets, initially -1
};

// Transposes rows [channels][length] to vectors [length][lanes]; missing channels are 0.
template <typename T>
inline void load_transposed(const T *rows, std::int64_t stride, std::int64_t channels, std::int64_t count,
                            Vector (&square)[kLanes]) {
  if (channels == kLanes && count == kLanes) {
    for (int c = 0; c < kLanes; ++c) square[c] = load(rows + c * stride);
  } else {
    for (int c = 0; c < kLanes; ++c) square[c] = c < channels ? load_some(rows + c * stride, count) : Vector{};
  }
  transpose(square);
}

// Prefetches `ahead` values further in some rows; there are too many rows for hardware prefetchers.
// To be called at every square, which starts at `at` in the rows; squares share cache lines.
template <int kWrite, typename T>
[[gnu::always_inline]] inline void prefetch_rows(const T *rows, std::int64_t stride, std::int64_t count,
                                                 std::int64_t at, std::int64_t ahead) {
  if (at % kPerLine<T> != 0) return;
  for (std::int64_t i = 0; i < count; ++i) prefetch_value<kWrite, 2>(rows, i * stride + at + ahead);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_INTERPOLATE_CPU_TILES_H_
