// Backward filter. The pairs of each cell are cut into segments of fixed length; a task sums one of
// them, chunk by chunk. Rows are read where they are, or copied if they have to be widened or
// filled up to whole vectors, or are so long that rows a power of two apart would compete for a few
// sets of the cache. Tiles of the sums stay in registers. The sums of segments are added in order.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_

#include "cpu/outer_product.h"
#include "ops/indice_convolution/cpu/rulebook.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

template <typename T>
class FilterGradient {
 public:
  typedef typename Arithmetic<T>::Value Value;
  static constexpr bool kConverted = sizeof(T) != sizeof(Value);

  FilterGradient(const FilterGradientProblem &problem, const GradientPlan &plan)
      : problem_(problem),
        plan_(plan),
        padded_(padded_channels(problem.output_channels)),
        feature_copy_(kConverted || problem.feature_channels >= kWideRow ? copy_stride(problem.feature_channels) : 0),
        output_copy_(kConverted || problem.output_channels >= kWideRow || problem.output_channels % kWidth != 0
                         ? copy_stride(padded_)
                         : 0),
        sums_(reinterpret_cast<Value *>(plan.sums)) {
    rows_[problem.feature_side] = problem.feature_rows;
    rows_[1 - problem.feature_side] = problem.output_rows;
  }

  mluOpStatus_t run() const {
    const std::int64_t slots = useful_slots(plan_.segments, plan_.segment_length);
    const std::int64_t slot_values = Rows::kMost * (feature_copy_ + output_copy_);
    const Scratch<Value> copies(slots * slot_values);
    if (copies.data() == nullptr) return out_of_memory(problem_.function);
    cut_segments(problem_.rulebook, plan_.segment_length, plan_.segment);
    parallel_slots(plan_.segments, slots, [&](std::int64_t slot, std::int64_t number) {
      if (!interrupted()) add_segment(number, copies.data() + slot * slot_values);
    });
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    *problem_.fault = first_fault(plan_.segment, plan_.segments);
    if (problem_.fault->cell < 0) write();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  typedef ChunkRows<T> Rows;
  static constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  static constexpr std::int64_t kWideRow = 256 / sizeof(Value);  // from here on rows are copied

  // An odd number of cache lines, so that rows do not compete for a few sets.
  static std::int64_t copy_stride(std::int64_t channels) {
    constexpr std::int64_t kLine = kCacheLine / sizeof(Value);
    return ((channels + kLine - 1) / kLine | 1) * kLine;
  }

  std::int64_t sums_of_segment() const { return problem_.feature_channels * padded_; }

  // Sums a segment, up to the first wrong pair.
  void add_segment(std::int64_t number, Value *copies) const {
    PairSegment &segment = plan_.segment[number];
    Value *sums = sums_ + number * sums_of_segment();
    for_slices(0, sums_of_segment(), [&](std::int64_t begin, std::int64_t end) {
      std::memset(sums + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(Value));
    });
    const PairReader reader(problem_.rulebook, segment.cell, rows_);
    InterruptPoll poll;
    Rows chunks[2];
    int current = 0;
    find_rows(reader, segment.begin, segment, chunks[current]);
    for (std::int64_t next = segment.begin + Rows::kMost; chunks[current].count > 0; next += Rows::kMost) {
      if (segment.fault.cell >= 0) return;  // a later wrong pair must not take the place of the first
      find_rows(reader, next, segment, chunks[1 - current]);
      if (poll.interrupted(chunks[current].count * (sums_of_segment() / kTileRows + 1))) return;
      add_chunk(chunks[current], chunks[1 - current], copies, sums);
      current = 1 - current;
    }
  }

  // Finds the rows of the next pairs of a segment, up to a wrong one.
  void find_rows(const PairReader &reader, std::int64_t begin, PairSegment &segment, Rows &rows) const {
    const std::int64_t wanted = larger<std::int64_t>(smaller(Rows::kMost, segment.end - begin), 0);
    std::int32_t pairs[2][Rows::kMost];
    const std::int64_t count = reader.read_some(begin, wanted, pairs);
    if (count < wanted) segment.fault = fault_of(reader, segment, begin + count, pairs[0][count], pairs[1][count]);
    const T *const all_features = static_cast<const T *>(problem_.features);
    const T *const all_outputs = static_cast<const T *>(problem_.output_grad);
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    const int side = problem_.feature_side;
    for (std::int64_t i = 0; i < count; ++i) rows.features[i] = all_features + pairs[side][i] * features;
    for (std::int64_t i = 0; i < count; ++i) rows.outputs[i] = all_outputs + pairs[1 - side][i] * outputs;
    rows.count = count;
  }

  void add_chunk(const Rows &rows, const Rows &next, Value *copies, Value *sums) const {
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    ChunkRows<Value> found;
    found.count = rows.count;
    use_or_copy(rows.features, rows.count, features, features, feature_copy_, copies, found.features);
    copies += Rows::kMost * feature_copy_;
    use_or_copy(rows.outputs, rows.count, outputs, padded_, output_copy_, copies, found.outputs);
    add_rows(found, next, sums);
  }

  // Finds rows where they are, or, if there is a stride, copies of them, filled up with zeros to
  // `padded` values.
  static void use_or_copy(const T *const *rows, std::int64_t count, std::int64_t channels, std::int64_t padded,
                          std::int64_t stride, Value *copies, const Value **found) {
    if constexpr (!kConverted) {
      if (stride == 0) {
        std::memcpy(found, rows, static_cast<std::size_t>(count) * sizeof *rows);
        return;
      }
    }
    for (std::int64_t p = 0; p < count; ++p, copies += stride) {
      widen_row(rows[p], channels, copies);
      for (std::int64_t i = channels; i < padded; ++i) copies[i] = 0;
      found[p] = copies;
    }
  }

  static void widen_row(const T *from, std::int64_t count, Value *to) {
    std::int64_t i = 0;
    if constexpr (!kConverted) {
      for (; i + kWidth <= count; i += kWidth) std::memcpy(to + i, from + i, kWidth * sizeof(Value));
    }
    for (; i < count; ++i) to[i] = widened(from[i]);
  }

  // Prefetches some of the next rows between the tiles: requests for all at once would stall.
  void add_rows(const ChunkRows<Value> &rows, const Rows &next, Value *sums) const {
    const std::int64_t features = problem_.feature_channels, outputs = problem_.output_channels;
    constexpr std::int64_t kColumns = kTileVectors * kWidth;
    const std::int64_t tiles = (features + kTileRows - 1) / kTileRows * ((outputs + kColumns - 1) / kColumns);
    const std::int64_t rows_per_tile = (next.count + tiles - 1) / tiles;
    std::int64_t asked = 0;
    for (std::int64_t o = 0; o < outputs; o += kColumns) {
      const int vectors = Tile<T>(outputs, o).vectors;
      for (std::int64_t i = 0; i < features; i += kTileRows) {
        const std::int64_t until = smaller(asked + rows_per_tile, next.count);
        for (; asked < until; ++asked) {
          prefetch<0, 2, 1>(next.features[asked], 0, features);
          prefetch<0, 2, 1>(next.outputs[asked], 0, outputs);
        }
        Value *to = sums + i * padded_ + o;
        if (vectors == kTileVectors) {
          add_tile<T, kTileVectors>(features - i, rows, i, o, to, padded_);
        } else {
          add_tile<T, 1>(features - i, rows, i, o, to, padded_);
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
  const std::int64_t feature_copy_;  // values from one copied row to the next; 0: rows are read where they are
  const std::int64_t output_copy_;
  Value *const sums_;
  std::int64_t rows_[2];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_FILTER_GRADIENT_H_
