// Forward and backward data. A task owns a block of rows of the target: it goes through the pairs of all cells whose target lies
// there, so that nothing is added by two threads and each sum has one order. Rows of the source are read where they are, some at a
// time; their products with a tile of channels stay in registers.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_PRODUCT_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_PRODUCT_H_

#include "ops/indice_convolution/cpu_rulebook.h"
#include "ops/indice_convolution/cpu_vectors.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Rows of source and target that are multiplied together; the targets differ.
template <typename Value>
struct RowGroup {
  const Value *source[kTileRows];
  Value *target[kTileRows];
};

// Adds source @ panel to `columns` values of the targets. The panel has kVectors vectors for each source channel.
template <typename T, int kRows, int kVectors>
[[gnu::noinline]] void multiply_rows(const RowGroup<typename Arithmetic<T>::Value> &rows,
                                     const typename Arithmetic<T>::Value *panel, std::int64_t channels,
                                     const Tile<T> &tile) {
  typedef typename Arithmetic<T>::Value Value;
  typedef typename Arithmetic<T>::Vector Vector;
  constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  const Value *source[kRows];
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    source[r] = rows.source[r];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = load_some(rows.target[r] + tile.begin + v * kWidth, tile.columns - v * kWidth);
  }
  for (std::int64_t c = 0; c < channels; ++c, panel += kVectors * kWidth) {
    Vector factor[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&factor[v], panel + v * kWidth, sizeof factor[v]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector value = Arithmetic<T>::everywhere(source[r][c]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Arithmetic<T>::multiply_add(value, factor[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      store_some(rows.target[r] + tile.begin + v * kWidth, sum[r][v], tile.columns - v * kWidth);
  }
}

template <typename T, int kVectors, int kRows = kTileRows>
inline void multiply_group(int count, const RowGroup<typename Arithmetic<T>::Value> &rows,
                           const typename Arithmetic<T>::Value *panel, std::int64_t channels, const Tile<T> &tile) {
  if constexpr (kRows > 0) {
    if (count == kRows) return multiply_rows<T, kRows, kVectors>(rows, panel, channels, tile);
    multiply_group<T, kVectors, kRows - 1>(count, rows, panel, channels, tile);
  }
}

// The filters as panels: for each cell and tile of target channels [source channels, vectors of the tile], padded with zeros.
template <typename T>
class Panels {
 public:
  typedef typename Arithmetic<T>::Value Value;

  Panels(const IndiceProductProblem &problem, const ProductPlan &plan)
      : problem_(problem), panels_(reinterpret_cast<Value *>(plan.panels)) {}

  const Value *of(std::int64_t cell, const Tile<T> &tile) const { return place(cell, tile); }

  void make() const {
    auto fill = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t cell = begin; cell < end; ++cell) {
        for (std::int64_t first = 0; first < problem_.target_channels; first += kTileVectors * Tile<T>::kWidth) {
          if (!fill_tile(cell, Tile<T>(problem_.target_channels, first), poll)) return;
        }
      }
    };
    constexpr std::int64_t kValuesPerPiece = 1 << 14;
    const std::int64_t values = problem_.source_channels * problem_.target_channels;
    parallel_for(problem_.rulebook.cells, kValuesPerPiece / values + 1, fill);
  }

 private:
  Value *place(std::int64_t cell, const Tile<T> &tile) const {
    const std::int64_t padded = padded_channels(problem_.target_channels);
    return panels_ + (cell * padded + tile.begin) * problem_.source_channels;
  }

  bool fill_tile(std::int64_t cell, const Tile<T> &tile, InterruptPoll &poll) const {
    const IndiceProductProblem &p = problem_;
    const T *from = static_cast<const T *>(p.filters) + cell * p.cell_stride + tile.begin * p.target_channel_stride;
    Value *to = place(cell, tile);
    const std::int64_t width = tile.vectors * Tile<T>::kWidth;
    for (std::int64_t c = 0; c < p.source_channels; ++c, from += p.source_channel_stride, to += width) {
      if (poll.interrupted(width)) return false;
      if (p.target_channel_stride == 1) {
        for (std::int64_t o = 0; o < tile.columns; ++o) to[o] = widened(from[o]);
      } else {
        for (std::int64_t o = 0; o < tile.columns; ++o) to[o] = widened(from[o * p.target_channel_stride]);
      }
      for (std::int64_t o = tile.columns; o < width; ++o) to[o] = 0;
    }
    return true;
  }

  const IndiceProductProblem &problem_;
  Value *const panels_;
};

template <typename T>
class IndiceProduct {
 public:
  typedef typename Arithmetic<T>::Value Value;
  static constexpr bool kConverted = sizeof(T) != sizeof(Value);

  IndiceProduct(const IndiceProductProblem &problem, const ProductPlan &plan)
      : problem_(problem),
        plan_(plan),
        panels_(problem, plan),
        source_(kConverted ? reinterpret_cast<const Value *>(plan.source)
                           : static_cast<const Value *>(problem.source)) {}

  mluOpStatus_t run() const {
    const std::int64_t values = (std::int64_t{1} << plan_.block_shift) * problem_.target_channels;
    const std::int64_t slots = useful_slots(plan_.blocks, values);
    const std::int64_t block_rows = std::int64_t{1} << plan_.block_shift;
    Arena counted(nullptr);
    (void)Owner(*this, counted);
    const Scratch<char> memory(slots * counted.used());
    if (memory.data() == nullptr) return out_of_memory(problem_.function);
    *problem_.fault = PairSort(problem_, plan_).run();
    if (problem_.fault->cell >= 0 || interrupted()) return MLUOP_STATUS_SUCCESS;
    panels_.make();
    if (kConverted) widen_source();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    parallel_slots(plan_.blocks, slots, [&](std::int64_t slot, std::int64_t block) {
      Arena arena(memory.data() + slot * counted.used());
      Owner owner(*this, arena);
      owner.fill(block * block_rows, smaller(block_rows, problem_.target_rows - block * block_rows), block);
    });
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr int kChunk = 256;  // pairs that are grouped together

  // What a task works with: a block of rows of the target, and its memory.
  class Owner {
   public:
    Owner(const IndiceProduct &product, Arena &arena)
        : p_(product),
          rows_(std::int64_t{1} << product.plan_.block_shift),
          last_group_(arena.allocate<std::int32_t>(rows_)),
          sums_(kConverted ? arena.allocate<Value>(rows_ * product.problem_.target_channels) : nullptr) {}

    void fill(std::int64_t first, std::int64_t rows, std::int64_t block) {
      const std::int64_t channels = p_.problem_.target_channels;
      T *const target = static_cast<T *>(p_.problem_.target) + first * channels;
      if (!kConverted) sums_ = reinterpret_cast<Value *>(target);
      first_ = first;
      std::memset(sums_, 0, static_cast<std::size_t>(rows * channels) * sizeof(Value));
      std::memset(last_group_, 0, static_cast<std::size_t>(rows) * sizeof *last_group_);
      group_number_ = 0;
      const std::int64_t cells = p_.problem_.rulebook.cells;
      const std::int64_t *starts = p_.plan_.starts + block * cells;
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        if (!add_cell(cell, starts[cell], starts[cell + 1])) return;
      }
      if (!kConverted) return;
      for_slices(0, rows * channels, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) store(target + i, sums_[i]);
      });
    }

   private:
    typedef RowGroup<Value> Group;

    bool add_cell(std::int64_t cell, std::int64_t begin, std::int64_t end) {
      const std::int64_t work = p_.problem_.source_channels * p_.problem_.target_channels / kTileRows + 1;
      while (begin < end) {
        const std::int64_t stop = smaller<std::int64_t>(begin + kChunk, end);
        if (poll_.interrupted((stop - begin) * work)) return false;
        group(begin, stop);
        add_groups(cell);
        begin = stop;
      }
      return true;
    }

    // Cuts pairs into groups with different targets.
    void group(std::int64_t begin, std::int64_t end) {
      const std::int64_t source_channels = p_.problem_.source_channels, channels = p_.problem_.target_channels;
      const std::int64_t first = first_;
      const Value *const sources = p_.source_;
      Value *const sums = sums_;
      std::int32_t *const last_group = last_group_;
      std::int32_t number = group_number_ + 1;
      const RowPair *const pairs = p_.plan_.sorted;
      Group *group = group_;
      int *size = sizes_, count = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const RowPair pair = pairs[i];
        if (pair.source < 0) continue;
        const std::int64_t row = pair.target - first, source = pair.source * source_channels;
        if (count == kTileRows || last_group[row] == number) {
          *size++ = count;
          ++group;
          count = 0;
          ++number;
        }
        prefetch<0, 2, 1>(sources, source, source_channels);
        last_group[row] = number;
        group->source[count] = sources + source;
        group->target[count++] = sums + row * channels;
      }
      if (count > 0) *size++ = count;
      group_number_ = number;
      groups_ = static_cast<int>(size - sizes_);
    }

    void add_groups(std::int64_t cell) const {
      const std::int64_t source_channels = p_.problem_.source_channels, channels = p_.problem_.target_channels;
      for (std::int64_t first = 0; first < channels; first += kTileVectors * Tile<T>::kWidth) {
        const Tile<T> tile(channels, first);
        const Value *panel = p_.panels_.of(cell, tile);
        for (int g = 0; g < groups_; ++g) {
          if (tile.vectors == kTileVectors) {
            multiply_group<T, kTileVectors>(sizes_[g], group_[g], panel, source_channels, tile);
          } else {
            multiply_group<T, 1>(sizes_[g], group_[g], panel, source_channels, tile);
          }
        }
      }
    }

    const IndiceProduct &p_;
    const std::int64_t rows_;
    std::int32_t *const last_group_;  // of each row of the block
    std::int32_t group_number_ = 0;   // counted through the block
    Value *sums_;
    std::int64_t first_ = 0;
    InterruptPoll poll_;
    Group group_[kChunk];
    int sizes_[kChunk];
    int groups_ = 0;
  };

  void widen_source() const {
    constexpr std::int64_t kValuesPerPiece = 1 << 15;
    Value *to = reinterpret_cast<Value *>(plan_.source);
    const T *from = static_cast<const T *>(problem_.source);
    auto widen = [&](std::int64_t begin, std::int64_t end) {
      for_slices(begin, end, [&](std::int64_t slice, std::int64_t stop) {
        for (std::int64_t i = slice; i < stop; ++i) to[i] = widened(from[i]);
      });
    };
    parallel_for(problem_.source_rows * problem_.source_channels, kValuesPerPiece, widen);
  }

  const IndiceProductProblem &problem_;
  const ProductPlan &plan_;
  const Panels<T> panels_;
  const Value *const source_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_PRODUCT_H_
