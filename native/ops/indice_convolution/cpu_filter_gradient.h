// Backward filter. The pairs of each cell are cut into segments of fixed length; a task sums one of them, chunk by chunk: the rows
// of a chunk are copied side by side, and tiles of the sums stay in registers. The sums of segments are added in order.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_

#include "ops/indice_convolution/cpu_rulebook.h"
#include "ops/indice_convolution/cpu_vectors.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Adds to sums[i, o], i < kRows, the products left[p, i] * right[p, o] of `count` pairs. All rows of `right` and of the sums have
// whole vectors.
template <typename T, int kRows, int kVectors>
[[gnu::noinline]] void add_products(const typename Arithmetic<T>::Value *left, std::int64_t left_stride,
                                    const typename Arithmetic<T>::Value *right, std::int64_t right_stride,
                                    std::int64_t count, typename Arithmetic<T>::Value *sums) {
  typedef typename Arithmetic<T>::Vector Vector;
  constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&sum[r][v], sums + r * right_stride + v * kWidth, sizeof sum[r][v]);
  }
  for (std::int64_t p = 0; p < count; ++p, left += left_stride, right += right_stride) {
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
    for (int v = 0; v < kVectors; ++v) std::memcpy(sums + r * right_stride + v * kWidth, &sum[r][v], sizeof sum[r][v]);
  }
}

template <typename T, int kVectors, int kRows = kTileRows>
inline void add_tile(std::int64_t rows, const typename Arithmetic<T>::Value *left, std::int64_t left_stride,
                     const typename Arithmetic<T>::Value *right, std::int64_t right_stride, std::int64_t count,
                     typename Arithmetic<T>::Value *sums) {
  if constexpr (kRows > 0) {
    if (rows >= kRows) return add_products<T, kRows, kVectors>(left, left_stride, right, right_stride, count, sums);
    add_tile<T, kVectors, kRows - 1>(rows, left, left_stride, right, right_stride, count, sums);
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
        sums_(reinterpret_cast<Value *>(plan.sums)) {
    rows_[problem.feature_side] = problem.feature_rows;
    rows_[1 - problem.feature_side] = problem.output_rows;
  }

  mluOpStatus_t run() const {
    const std::int64_t slots = useful_slots(plan_.segments, plan_.segment_length);
    const std::int64_t chunk_values = kChunk * (problem_.feature_channels + padded_);
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
    Value *left = chunk, *right = chunk + kChunk * problem_.feature_channels;
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    InterruptPoll poll;
    for (std::int64_t l = segment.begin; l < segment.end; l += kChunk) {
      const std::int64_t count = gather(reader, l, smaller(l + kChunk, segment.end), left, right);
      if (poll.interrupted(count * (sums_of_segment() / kTileRows + 1))) return;
      add_chunk(left, right, count, sums);
    }
  }

  // Copies the rows of some pairs; returns how many exist, as all did when they were looked at first.
  std::int64_t gather(const PairReader &reader, std::int64_t begin, std::int64_t end, Value *left, Value *right) const {
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    std::int64_t count = 0;
    for (std::int64_t l = begin; l < end; ++l) {
      std::int32_t pair[2];
      if (!reader.read(l, pair)) continue;
      const T *feature = static_cast<const T *>(problem_.features) + pair[problem_.feature_side] * features;
      const T *output = static_cast<const T *>(problem_.output_grad) + pair[1 - problem_.feature_side] * outputs;
      Value *to = left + count * features;
      for (std::int64_t i = 0; i < features; ++i) to[i] = widened(feature[i]);
      to = right + count * padded_;
      for (std::int64_t o = 0; o < outputs; ++o) to[o] = widened(output[o]);
      for (std::int64_t o = outputs; o < padded_; ++o) to[o] = 0;
      ++count;
    }
    return count;
  }

  void add_chunk(const Value *left, const Value *right, std::int64_t count, Value *sums) const {
    constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
    const std::int64_t features = problem_.feature_channels;
    for (std::int64_t o = 0; o < problem_.output_channels; o += kTileVectors * kWidth) {
      const int vectors = Tile<T>(problem_.output_channels, o).vectors;
      for (std::int64_t i = 0; i < features; i += kTileRows) {
        Value *to = sums + i * padded_ + o;
        if (vectors == kTileVectors) {
          add_tile<T, kTileVectors>(features - i, left + i, features, right + o, padded_, count, to);
        } else {
          add_tile<T, 1>(features - i, left + i, features, right + o, padded_, count, to);
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
  Value *const sums_;
  std::int64_t rows_[2];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
