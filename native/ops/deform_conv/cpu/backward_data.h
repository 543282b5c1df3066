// Gradients of input, offset and mask, for a block of positions at a time. First, tasks that own
// some positions compute the gradients of their columns, and from them those of offset and mask.
// Then tasks that own some channels add the columns of the block to the gradient of the input, in
// the order of the positions, so that each sum has one order.
#ifndef MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_DATA_H_
#define MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_DATA_H_

#include "ops/deform_conv/cpu/backward_weight.h"
#include "ops/deform_conv/cpu/panels.h"
#include "ops/deform_conv/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

template <typename T>
class DeformConvBackwardData {
 public:
  typedef typename Arithmetic<T>::Value Value;
  static constexpr bool kConverted = sizeof(T) != sizeof(Value);

  explicit DeformConvBackwardData(const DeformConvDataProblem &problem)
      : problem_(problem),
        g_(problem.geometry),
        samples_(problem),
        panels_(g_, problem.filter, Way::kBack),
        together_(positions_together(g_.positions(), g_.cells() * g_.channels)),
        block_(smaller<std::int64_t>((g_.positions() + together_ - 1) / together_, 2 * thread_count()) * together_) {}

  mluOpStatus_t run() const {
    const std::int64_t pixels = g_.batches * g_.size[0] * g_.size[1];
    const Scratch<Value> columns(block_ * column()), sums(kConverted ? pixels * g_.channels : 0);
    const Scratch<Place<Value>> places(block_ * g_.deformable_groups * g_.cells());
    const Scratch<Value> outputs(kConverted ? block_ * g_.out_channels : 0);
    if (!panels_.exists() || columns.data() == nullptr || sums.data() == nullptr || places.data() == nullptr ||
        outputs.data() == nullptr)
      return out_of_memory(problem_.function);
    // Nothing is written before the last allocation of the call.
    if (problem_.weight != nullptr) {
      const mluOpStatus_t status = DeformConvBackwardWeight<T>(*problem_.weight).run();
      if (status != MLUOP_STATUS_SUCCESS) return status;
    }
    const Memory memory{columns.data(), places.data(), outputs.data(),
                        kConverted ? sums.data() : static_cast<Value *>(problem_.grad_input)};
    panels_.fill();
    clear(memory.sums, pixels * g_.channels);
    for (std::int64_t first = 0; first < g_.positions() && !interrupted(); first += block_)
      add_block(memory, first, smaller(block_, g_.positions() - first));
    if (kConverted && !interrupted()) round_sums(memory.sums, pixels * g_.channels);
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kRun = 1 << 15;
  static constexpr int kParts = 16;  // partial sums over channels c, c + 16, c + 32, ...

  // Of a block, but for the sums, which are those of the whole input.
  struct Memory {
    Value *columns;
    Place<Value> *places;
    Value *outputs;  // gradients of the output, widened from half
    Value *sums;
  };

  std::int64_t column() const { return g_.cells() * g_.channels; }

  static void clear(Value *to, std::int64_t count) {
    auto clear_some = [&](std::int64_t begin, std::int64_t end) {
      for_slices(begin, end, [&](std::int64_t slice, std::int64_t stop) {
        std::memset(to + slice, 0, static_cast<std::size_t>(stop - slice) * sizeof *to);
      });
    };
    parallel_for(count, kRun, clear_some);
  }

  void round_sums(const Value *sums, std::int64_t count) const {
    T *const to = static_cast<T *>(problem_.grad_input);
    auto round_some = [&](std::int64_t begin, std::int64_t end) {
      for_slices(begin, end, [&](std::int64_t slice, std::int64_t stop) {
        for (std::int64_t i = slice; i < stop; ++i) store(to + i, sums[i]);
      });
    };
    parallel_for(count, kRun, round_some);
  }

  void add_block(const Memory &memory, std::int64_t first, std::int64_t rows) const {
    const std::int64_t tasks = (rows + together_ - 1) / together_;
    const std::int64_t slots = useful_slots(tasks, together_ * column());
    parallel_slots(tasks, slots, [&](std::int64_t, std::int64_t task) {
      const std::int64_t begin = task * together_;
      find_columns(memory, first, begin, smaller(together_, rows - begin));
    });
    if (interrupted()) return;
    constexpr std::int64_t kLeastChannels = 16;
    const std::int64_t parts = useful_slots(g_.channels / kLeastChannels + 1, rows * g_.cells() * kLeastChannels);
    const std::int64_t part = (g_.channels + parts - 1) / parts;
    parallel_slots(parts, parts, [&](std::int64_t, std::int64_t number) {
      add_columns(memory, rows, smaller(number * part, g_.channels), smaller((number + 1) * part, g_.channels));
    });
  }

  // For `rows` positions of the block from `begin` on.
  void find_columns(const Memory &memory, std::int64_t first, std::int64_t begin, std::int64_t rows) const {
    const Value *const gradient = widened_rows(memory, first, begin, rows);
    Value *const columns = memory.columns + begin * column();
    std::memset(columns, 0, static_cast<std::size_t>(rows * column()) * sizeof *columns);
    InterruptPoll poll;
    for (std::int64_t group = 0; group < g_.conv_groups; ++group) {
      const Value *sources[kMostTogether];
      rows_of(gradient + group * panels_.sources(), g_.out_channels, rows, sources);
      for (std::int64_t cell = 0; cell < g_.cells(); ++cell) {
        if (poll.interrupted(rows * panels_.sources() * panels_.targets() / kTileRows)) return;
        Value *targets[kMostTogether];
        rows_of(columns + cell * g_.channels + group * panels_.targets(), column(), rows, targets);
        panels_.multiply(group, cell, static_cast<int>(rows), sources, targets);
      }
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      if (poll.interrupted(column())) return;
      differentiate_places(first + begin + r, columns + r * column(), places_of(memory, begin + r));
    }
  }

  const Value *widened_rows(const Memory &memory, std::int64_t first, std::int64_t begin, std::int64_t rows) const {
    const T *const from = static_cast<const T *>(problem_.grad_output) + (first + begin) * g_.out_channels;
    if constexpr (!kConverted) return from;
    Value *const to = memory.outputs + begin * g_.out_channels;
    for (std::int64_t i = 0; i < rows * g_.out_channels; ++i) to[i] = widened(from[i]);
    return to;
  }

  Place<Value> *places_of(const Memory &memory, std::int64_t row) const {
    return memory.places + row * g_.deformable_groups * g_.cells();
  }

  // Finds the places of a position, and the gradients of its offsets and mask.
  void differentiate_places(std::int64_t position, const Value *columns, Place<Value> *places) const {
    const std::int64_t channels = g_.channels / g_.deformable_groups;
    for (std::int64_t group = 0; group < g_.deformable_groups; ++group) {
      for (std::int64_t cell = 0; cell < g_.cells(); ++cell, ++places) {
        *places = samples_.place(position, group, cell);
        Value dots[kCorners] = {};
        if (places->counts) find_dots(*places, columns + cell * g_.channels, group * channels, channels, dots);
        write(*places, dots, (position * g_.deformable_groups + group) * g_.cells() + cell);
      }
    }
  }

  // Sums over channels of the gradient of the column times each corner.
  void find_dots(const Place<Value> &place, const Value *column, std::int64_t first, std::int64_t channels,
                 Value *dots) const {
    Value part[kCorners][kParts] = {};
    for (std::int64_t c = 0; c < channels; c += kTileChannels) {
      const T *rows[kCorners];
      samples_.corners(place, first + c, rows);
      const std::int64_t count = smaller(kTileChannels, channels - c);
      for (int corner = 0; corner < kCorners; ++corner)
        add_products(column + first + c, rows[corner], count, part[corner]);
    }
    for (int corner = 0; corner < kCorners; ++corner) {
      Value *const sum = part[corner];
      for (int half = kParts / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
      }
      dots[corner] = sum[0];
    }
  }

  static void add_products(const Value *a, const T *b, std::int64_t count, Value *__restrict parts) {
    Value sum[kParts];
    std::memcpy(sum, parts, sizeof sum);
    std::int64_t i = 0;
    for (; i + kParts <= count; i += kParts) {
      for (int j = 0; j < kParts; ++j) sum[j] += a[i + j] * widened(b[i + j]);
    }
    for (int j = 0; i + j < count; ++j) sum[j] += a[i + j] * widened(b[i + j]);
    std::memcpy(parts, sum, sizeof sum);
  }

  void write(const Place<Value> &place, const Value *dots, std::int64_t number) const {
    const Value ly = place.low[0], lx = place.low[1], hy = 1 - ly, hx = 1 - lx;
    const Value dy = hx * (dots[2] - dots[0]) + lx * (dots[3] - dots[1]);
    const Value dx = hy * (dots[1] - dots[0]) + ly * (dots[3] - dots[2]);
    const Value *const w = place.weight;
    const Value sampled = ((w[0] * dots[0] + w[1] * dots[1]) + w[2] * dots[2]) + w[3] * dots[3];
    T *const offset = static_cast<T *>(problem_.grad_offset) + 2 * number;
    store(offset, place.counts ? dy * place.mask : 0);
    store(offset + 1, place.counts ? dx * place.mask : 0);
    if (problem_.grad_mask != nullptr) store(static_cast<T *>(problem_.grad_mask) + number, sampled);
  }

  // Adds the channels begin .. end of all columns of the block to the gradient of the input.
  void add_columns(const Memory &memory, std::int64_t rows, std::int64_t begin, std::int64_t end) const {
    const std::int64_t channels = g_.channels / g_.deformable_groups;
    InterruptPoll poll;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Place<Value> *place = places_of(memory, r);
      for (std::int64_t group = 0; group < g_.deformable_groups; ++group) {
        const std::int64_t from = larger(begin, group * channels), to = smaller(end, (group + 1) * channels);
        for (std::int64_t cell = 0; cell < g_.cells(); ++cell, ++place) {
          if (poll.interrupted(kCorners * (to > from ? to - from : 1))) return;
          const Value *const column = memory.columns + (r * g_.cells() + cell) * g_.channels;
          if (place->counts && to > from) add_place(*place, column, from, to, memory.sums);
        }
      }
    }
  }

  void add_place(const Place<Value> &place, const Value *column, std::int64_t from, std::int64_t to,
                 Value *sums) const {
    for (int corner = 0; corner < kCorners; ++corner) {
      if (place.pixel[corner] < 0) continue;
      const Value weight = place.weight[corner] * place.mask;
      Value *const sum = sums + place.pixel[corner] * g_.channels;
      for (std::int64_t c = from; c < to; ++c) sum[c] += weight * column[c];
    }
  }

  const DeformConvDataProblem &problem_;
  const DeformConvGeometry &g_;
  const Samples<T> samples_;
  const FilterPanels<T> panels_;
  const std::int64_t together_;  // positions of a task
  const std::int64_t block_;     // positions of a block
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CPU_BACKWARD_DATA_H_
