// Backward filter. The pairs of each cell are cut into segments of fixed length; a task sums one of them, chunk by chunk. The rows of
// a chunk are copied into panels, one for each tile of channels, in which the values of all pairs lie side by side: rows that lie a
// power of two apart would compete for a few sets of the cache. Tiles of the sums stay in registers. The sums of segments are added
// in order.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_

#include "ops/indice_convolution/cpu_rulebook.h"
#include "ops/indice_convolution/cpu_vectors.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Adds to sums[i, o], i < kRows, the products left[p, i] * right[p, o] of `count` pairs. `left` has kTileRows values for each pair,
// `right` kVectors vectors; rows of the sums are `stride` values apart.
template <typename T, int kRows, int kVectors>
[[gnu::noinline]] void add_products(const typename Arithmetic<T>::Value *left,
                                    const typename Arithmetic<T>::Value *right, std::int64_t count,
                                    typename Arithmetic<T>::Value *sums, std::int64_t stride) {
  typedef typename Arithmetic<T>::Vector Vector;
  constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&sum[r][v], sums + r * stride + v * kWidth, sizeof sum[r][v]);
  }
  for (std::int64_t p = 0; p < count; ++p, left += kTileRows, right += kVectors * kWidth) {
    Vector factor[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&factor[v], right + v * kWidth, sizeof factor[v]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector value = Arithmetic<T>::everywhere(left[r]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Arithmetic<T>::multiply_add(value, factor[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(sums + r * stride + v * kWidth, &sum[r][v], sizeof sum[r][v]);
  }
}

template <typename T, int kVectors, int kRows = kTileRows>
inline void add_tile(std::int64_t rows, const typename Arithmetic<T>::Value *left,
                     const typename Arithmetic<T>::Value *right, std::int64_t count,
                     typename Arithmetic<T>::Value *sums, std::int64_t stride) {
  if constexpr (kRows > 0) {
    if (rows >= kRows) return add_products<T, kRows, kVectors>(left, right, count, sums, stride);
    add_tile<T, kVectors, kRows - 1>(rows, left, right, count, sums, stride);
  }
}

template <typename T>
class FilterGradient {
 public:
  typedef typename Arithmetic<T>::Value Value;

  FilterGradient(const FilterGradientProblem &problem, const GradientPlan &plan)
      : problem_(problem),
        plan_(plan),
        padded_(padded_channels(problem.output_channels)),
        tiles_((problem.feature_channels + kTileRows - 1) / kTileRows),
        sums_(reinterpret_cast<Value *>(plan.sums)) {
    rows_[problem.feature_side] = problem.feature_rows;
    rows_[1 - problem.feature_side] = problem.output_rows;
  }

  mluOpStatus_t run() const {
    const std::int64_t slots = useful_slots(plan_.segments, plan_.segment_length);
    const std::int64_t chunk_values = kChunk * (tiles_ * kTileRows + padded_);
    const std::int64_t slot_values = (chunk_values + kMostLanes - 1) / kMostLanes * kMostLanes;
    const Scratch<Value> chunks(slots * slot_values);
    if (chunks.data() == nullptr) return out_of_memory(problem_.function);
    cut_segments(problem_.rulebook, plan_.segment_length, plan_.segment);
    parallel_slots(plan_.segments, slots, [&](std::int64_t, std::int64_t number) {
      if (!interrupted())
        read_segment(problem_.rulebook, rows_, plan_.segment[number], [](const std::int32_t (&)[2]) {});
    });
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    *problem_.fault = first_fault(plan_.segment, plan_.segments);
    if (problem_.fault->cell >= 0) return MLUOP_STATUS_SUCCESS;
    parallel_slots(plan_.segments, slots, [&](std::int64_t slot, std::int64_t number) {
      add_segment(number, chunks.data() + slot * slot_values);
    });
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    write();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kChunk = 64;  // pairs, whose rows fit into the L1 cache for most numbers of channels

  std::int64_t sums_of_segment() const { return problem_.feature_channels * padded_; }

  void add_segment(std::int64_t number, Value *chunk) const {
    const PairSegment &segment = plan_.segment[number];
    Value *sums = sums_ + number * sums_of_segment();
    for_slices(0, sums_of_segment(), [&](std::int64_t begin, std::int64_t end) {
      std::memset(sums + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(Value));
    });
    Value *left = chunk, *right = chunk + kChunk * tiles_ * kTileRows;
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    InterruptPoll poll;
    for (std::int64_t l = segment.begin; l < segment.end; l += kChunk) {
      const std::int64_t count = gather(reader, l, segment.end, left, right);
      if (poll.interrupted(count * (sums_of_segment() / kTileRows + 1))) return;
      add_chunk(left, right, count, sums);
    }
  }

  // Copies the rows of some pairs into the panels, and asks for those of the next chunk. Returns how many exist, as all did when
  // they were looked at first.
  std::int64_t gather(const PairReader &reader, std::int64_t begin, std::int64_t last, Value *left,
                      Value *right) const {
    const std::int64_t end = smaller(begin + kChunk, last);
    constexpr std::int64_t kColumns = kTileVectors * Arithmetic<T>::kWidth;
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    std::int64_t count = 0;
    for (std::int64_t l = begin; l < end; ++l) {
      std::int32_t pair[2];
      if (l + kChunk < last && reader.read(l + kChunk, pair)) {
        prefetch<0, 2>(static_cast<const T *>(problem_.features), pair[problem_.feature_side] * features, features);
        prefetch<0, 2>(static_cast<const T *>(problem_.output_grad), pair[1 - problem_.feature_side] * outputs,
                       outputs);
      }
      if (!reader.read(l, pair)) continue;
      const T *feature = static_cast<const T *>(problem_.features) + pair[problem_.feature_side] * features;
      const T *output = static_cast<const T *>(problem_.output_grad) + pair[1 - problem_.feature_side] * outputs;
      std::int64_t i = 0;
      for (Value *to = left + count * kTileRows; i < features; i += kTileRows, to += kChunk * kTileRows)
        widen_row<kTileRows>(to, feature + i, features - i);
      for (std::int64_t o = 0; o < outputs; o += kColumns) {
        const int vectors = Tile<T>(outputs, o).vectors;
        Value *to = right + o * kChunk + count * vectors * Arithmetic<T>::kWidth;
        widen_row<kColumns>(to, output + o, outputs - o);
        for (std::int64_t rest = outputs - o; rest < vectors * Arithmetic<T>::kWidth; ++rest) to[rest] = 0;
      }
      ++count;
    }
    return count;
  }

  // Copies up to kMost values; those of a whole tile without a loop.
  template <std::int64_t kMost>
  static void widen_row(Value *to, const T *from, std::int64_t count) {
    if constexpr (sizeof(T) == sizeof(Value)) {
      if (count >= kMost) {
        std::memcpy(to, from, kMost * sizeof(Value));
        return;
      }
    }
    for (std::int64_t i = 0; i < smaller(count, kMost); ++i) to[i] = widened(from[i]);
  }

  void add_chunk(const Value *left, const Value *right, std::int64_t count, Value *sums) const {
    constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
    const std::int64_t features = problem_.feature_channels;
    for (std::int64_t o = 0; o < problem_.output_channels; o += kTileVectors * kWidth) {
      const int vectors = Tile<T>(problem_.output_channels, o).vectors;
      const Value *panel = right + o * kChunk, *rows = left;
      for (std::int64_t i = 0; i < features; i += kTileRows, rows += kChunk * kTileRows) {
        Value *to = sums + i * padded_ + o;
        if (vectors == kTileVectors) {
          add_tile<T, kTileVectors>(features - i, rows, panel, count, to, padded_);
        } else {
          add_tile<T, 1>(features - i, rows, panel, count, to, padded_);
        }
      }
    }
  }

  // Adds up the segments of each cell.
  void write() const {
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    auto write_cells = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      std::int64_t first = 0;
      for (std::int64_t cell = begin; cell < end; ++cell) {
        while (first < plan_.segments && plan_.segment[first].cell < cell) ++first;
        std::int64_t last = first;
        while (last < plan_.segments && plan_.segment[last].cell == cell) ++last;
        for (std::int64_t i = 0; i < features; ++i) {
          if (poll.interrupted(outputs * (last - first + 1))) return;
          T *to = static_cast<T *>(problem_.grad) + (cell * features + i) * outputs;
          for (std::int64_t o = 0; o < outputs; ++o) {
            Value sum = 0;
            for (std::int64_t s = first; s < last; ++s) sum += sums_[s * sums_of_segment() + i * padded_ + o];
            store(to + o, sum);
          }
        }
      }
    };
    constexpr std::int64_t kValuesPerPiece = 1 << 14;
    parallel_for(problem_.rulebook.cells, kValuesPerPiece / (features * outputs) + 1, write_cells);
  }

  const FilterGradientProblem &problem_;
  const GradientPlan &plan_;
  const std::int64_t padded_;
  const std::int64_t tiles_;  // of feature channels
  Value *const sums_;
  std::int64_t rows_[2];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
