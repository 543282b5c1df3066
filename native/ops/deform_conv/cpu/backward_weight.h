// Gradients of filter and bias, for a block of positions at a time. First, tasks that own some
// positions sample their columns; then tasks that own some rows of the gradient of the filter add
// the products of the block to them, in the order of the positions.
#ifndef MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_WEIGHT_H_
#define MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_WEIGHT_H_

#include "cpu/outer_product.h"
#include "ops/deform_conv/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

template <typename T>
class DeformConvBackwardWeight {
 public:
  typedef typename Arithmetic<T>::Value Value;
  static constexpr bool kConverted = sizeof(T) != sizeof(Value);

  explicit DeformConvBackwardWeight(const DeformConvWeightProblem &problem)
      : problem_(problem),
        g_(problem.geometry),
        samples_(problem),
        padded_((g_.group_channels() + kWidth - 1) / kWidth * kWidth),
        stride_(odd_lines(g_.channels + kColumns)) {}

  mluOpStatus_t run() const {
    const std::int64_t all = g_.conv_groups * g_.cells() * g_.group_outputs() * padded_;
    const Scratch<Value> columns(g_.cells() * kBlock * stride_), sums(all);
    const Scratch<Value> outputs(kConverted ? kBlock * g_.out_channels : 0);
    const Scratch<Value> bias(problem_.grad_bias == nullptr ? 0 : 2 * g_.out_channels);
    if (columns.data() == nullptr || sums.data() == nullptr || outputs.data() == nullptr || bias.data() == nullptr)
      return out_of_memory(problem_.function);
    const Memory memory{columns.data(), outputs.data(), sums.data(), bias.data()};
    clear(memory.columns, g_.cells() * kBlock * stride_);  // the rest of each row is read, and its products not used
    clear(memory.sums, all);
    if (problem_.grad_bias != nullptr) clear(memory.bias, g_.out_channels);
    for (std::int64_t first = 0; first < g_.positions() && !interrupted(); first += kBlock)
      add_block(memory, first, smaller(kBlock, g_.positions() - first));
    if (!interrupted()) write(memory);
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  static constexpr std::int64_t kColumns = kTileVectors * kWidth;
  static constexpr std::int64_t kBlock = ChunkRows<Value>::kMost;
  static constexpr std::int64_t kRows = 4 * kTileRows;  // of the gradient of the filter, of a task

  struct Memory {
    Value *columns;  // [cells, kBlock, stride]
    Value *outputs;  // gradients of the output, widened from half
    Value *sums;     // [groups, cells, outputs of a group, padded channels of a group]
    Value *bias;     // sums of all blocks, and of one
  };

  // An odd number of cache lines, so that rows do not compete for a few sets.
  static std::int64_t odd_lines(std::int64_t values) {
    constexpr std::int64_t kLine = kCacheLine / sizeof(Value);
    return ((values + kLine - 1) / kLine | 1) * kLine;
  }

  static void clear(Value *to, std::int64_t count) {
    auto clear_some = [&](std::int64_t begin, std::int64_t end) {
      for_slices(begin, end, [&](std::int64_t slice, std::int64_t stop) {
        std::memset(to + slice, 0, static_cast<std::size_t>(stop - slice) * sizeof *to);
      });
    };
    parallel_for(count, 1 << 15, clear_some);
  }

  void add_block(const Memory &memory, std::int64_t first, std::int64_t rows) const {
    auto sample_some = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t r = begin; r < end; ++r) {
        if (poll.interrupted(g_.cells() * g_.channels)) return;
        for (std::int64_t cell = 0; cell < g_.cells(); ++cell)
          samples_.sample(first + r, cell, memory.columns + (cell * kBlock + r) * stride_);
      }
    };
    parallel_for(rows, 4096 / (g_.cells() * g_.channels) + 1, sample_some);
    if (interrupted()) return;
    const Value *const gradient = widened_rows(memory, first, rows);
    if (problem_.grad_bias != nullptr) add_bias(memory, gradient, rows);
    const std::int64_t parts = (g_.group_outputs() + kRows - 1) / kRows;
    const std::int64_t tasks = g_.conv_groups * g_.cells() * parts;
    const std::int64_t work = rows * g_.group_channels() * smaller(kRows, g_.group_outputs()) / kTileRows;
    parallel_slots(tasks, useful_slots(tasks, work), [&](std::int64_t, std::int64_t task) {
      const std::int64_t begin = task % parts * kRows, cell = task / parts % g_.cells();
      if (!interrupted()) add_rows(memory, gradient, rows, {task / parts / g_.cells(), cell, begin});
    });
  }

  const Value *widened_rows(const Memory &memory, std::int64_t first, std::int64_t rows) const {
    const T *const from = static_cast<const T *>(problem_.grad_output) + first * g_.out_channels;
    if constexpr (!kConverted) return from;
    for (std::int64_t i = 0; i < rows * g_.out_channels; ++i) memory.outputs[i] = widened(from[i]);
    return memory.outputs;
  }

  // Sums a block before it is added, so that errors stay small where there are many positions.
  void add_bias(const Memory &memory, const Value *gradient, std::int64_t rows) const {
    Value *const all = memory.bias, *const block = memory.bias + g_.out_channels;
    std::memcpy(block, gradient, static_cast<std::size_t>(g_.out_channels) * sizeof *block);
    for (std::int64_t r = 1; r < rows; ++r) {
      for (std::int64_t c = 0; c < g_.out_channels; ++c) block[c] += gradient[r * g_.out_channels + c];
    }
    for (std::int64_t c = 0; c < g_.out_channels; ++c) all[c] += block[c];
  }

  // Some outputs of a group, and a cell.
  struct Part {
    std::int64_t group, cell, begin;
  };

  Value *sums_of(const Memory &memory, std::int64_t group, std::int64_t cell, std::int64_t output) const {
    return memory.sums + ((group * g_.cells() + cell) * g_.group_outputs() + output) * padded_;
  }

  void add_rows(const Memory &memory, const Value *gradient, std::int64_t rows, const Part &part) const {
    ChunkRows<Value> chunk;
    chunk.count = rows;
    for (std::int64_t r = 0; r < rows; ++r) {
      chunk.features[r] = gradient + r * g_.out_channels + part.group * g_.group_outputs();
      chunk.outputs[r] = memory.columns + (part.cell * kBlock + r) * stride_ + part.group * g_.group_channels();
    }
    const std::int64_t end = smaller(part.begin + kRows, g_.group_outputs());
    for (std::int64_t c = 0; c < g_.group_channels(); c += kColumns) {
      const int vectors = Tile<T>(g_.group_channels(), c).vectors;
      for (std::int64_t o = part.begin; o < end; o += kTileRows) {
        Value *const sums = sums_of(memory, part.group, part.cell, o) + c;
        if (vectors == kTileVectors) {
          add_tile<T, kTileVectors>(end - o, chunk, o, c, sums, padded_);
        } else {
          add_tile<T, 1>(end - o, chunk, o, c, sums, padded_);
        }
      }
    }
  }

  void write(const Memory &memory) const {
    T *const filter = static_cast<T *>(problem_.grad_filter);
    const std::int64_t channels = g_.group_channels();
    auto write_some = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end && !interrupted(); ++o) {
        for (std::int64_t cell = 0; cell < g_.cells(); ++cell) {
          const Value *const from = sums_of(memory, o / g_.group_outputs(), cell, o % g_.group_outputs());
          T *const to = filter + (o * g_.cells() + cell) * channels;
          for (std::int64_t c = 0; c < channels; ++c) store(to + c, from[c]);
        }
      }
    };
    parallel_for(g_.out_channels, (1 << 14) / (g_.cells() * channels) + 1, write_some);
    T *const bias = static_cast<T *>(problem_.grad_bias);
    for (std::int64_t c = 0; bias != nullptr && c < g_.out_channels; ++c) store(bias + c, memory.bias[c]);
  }

  const DeformConvWeightProblem &problem_;
  const DeformConvGeometry &g_;
  const Samples<T> samples_;
  const std::int64_t padded_;  // channels of a group, filled up to whole vectors
  const std::int64_t stride_;  // values from one row of the columns to the next
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_WEIGHT_H_
