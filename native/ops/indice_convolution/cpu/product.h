// Forward and backward data. A task owns a block of rows of the target: it goes through the pairs
// of all cells whose target lies there, so that nothing is added by two threads and each sum has
// one order. Rows of the source are read where they are, some at a time; their products with a tile
// of channels stay in registers.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_PRODUCT_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_PRODUCT_H_

#include "cpu/row_product.h"
#include "ops/indice_convolution/cpu/block_pairs.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Some pairs of rows of a cell, cut into groups that are multiplied together. The targets of a
// group differ.
template <typename Value>
struct RowChunk {
  static constexpr int kMost = 256;

  std::int64_t cell = 0;
  int rows = 0, groups = 0;
  int size[kMost];             // of each group
  const Value *source[kMost];  // group after group
  Value *target[kMost];
};

// The filters as panels: for each cell and tile of target channels [source channels, vectors of the
// tile], padded with zeros.
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
    (void)Owner(*this, nullptr, counted);
    const Scratch<char> memory(slots * counted.used());
    if (memory.data() == nullptr) return out_of_memory(problem_.function);
    BlockPairs pairs(problem_, plan_);
    *problem_.fault = pairs.find();
    if (problem_.fault->cell >= 0 || interrupted()) return MLUOP_STATUS_SUCCESS;
    panels_.make();
    if (kConverted) widen_source();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    parallel_slots(plan_.blocks, slots, [&](std::int64_t slot, std::int64_t block) {
      Arena arena(memory.data() + slot * counted.used());
      Owner owner(*this, &pairs, arena);
      owner.fill(block * block_rows, smaller(block_rows, problem_.target_rows - block * block_rows), block);
    });
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  // The block of target rows that a task owns, and its memory.
  class Owner {
   public:
    Owner(const IndiceProduct &product, const BlockPairs *pairs, Arena &arena)
        : p_(product),
          pairs_(pairs),
          rows_(std::int64_t{1} << product.plan_.block_shift),
          last_group_(arena.allocate<std::int32_t>(rows_)),
          sums_(kConverted ? arena.allocate<Value>(rows_ * product.problem_.target_channels) : nullptr) {}

    void fill(std::int64_t first, std::int64_t rows, std::int64_t block) {
      const std::int64_t channels = p_.problem_.target_channels;
      T *const target = static_cast<T *>(p_.problem_.target) + first * channels;
      if (!kConverted) sums_ = reinterpret_cast<Value *>(target);
      first_ = first;
      block_rows_ = rows;
      std::memset(sums_, 0, static_cast<std::size_t>(rows * channels) * sizeof(Value));
      std::memset(last_group_, 0, static_cast<std::size_t>(rows) * sizeof *last_group_);
      group_number_ = 0;
      chunk_[current_].rows = chunk_[current_].groups = 0;
      for (std::int64_t cell = 0; cell < p_.problem_.rulebook.cells; ++cell) {
        if (!add_cell(cell, pairs_->of(block, cell))) return;
      }
      multiply();
      if (!kConverted) return;
      for_slices(0, rows * channels, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) store(target + i, sums_[i]);
      });
    }

   private:
    typedef RowChunk<Value> Chunk;

    bool add_cell(std::int64_t cell, PairRange range) {
      const std::int64_t work = p_.problem_.source_channels * p_.problem_.target_channels / kTileRows + 1;
      while (range.count > 0) {
        const std::int64_t count = smaller<std::int64_t>(Chunk::kMost, range.count);
        if (poll_.interrupted(count * work)) return false;
        Chunk &next = chunk_[1 - current_];
        next.cell = cell;
        if (!pairs_->ascending() || !group_ascending(range, count, next)) group(range, count, next);
        multiply();
        range = {range.sources + count, range.targets + count, range.count - count};
      }
      return true;
    }

    // Cuts the first pairs of a range into groups.
    void group(const PairRange &range, std::int64_t pairs, Chunk &chunk) {
      std::int32_t number = group_number_ + 1;
      int *size = chunk.size, all = 0, begin = 0;
      for (std::int64_t i = 0; i < pairs; ++i) {
        const std::uint32_t source = static_cast<std::uint32_t>(read_once(range.sources + i));
        const std::uint32_t row = row_of(read_once(range.targets + i));
        if (source >= p_.problem_.source_rows || row >= block_rows_) continue;
        if (all - begin == kTileRows || last_group_[row] == number) {
          *size++ = all - begin;
          begin = all;
          ++number;
        }
        last_group_[row] = number;
        chunk.source[all] = p_.source_ + source * p_.problem_.source_channels;
        chunk.target[all++] = sums_ + row * p_.problem_.target_channels;
      }
      if (all > begin) *size++ = all - begin;
      group_number_ = number;
      chunk.rows = all;
      chunk.groups = static_cast<int>(size - chunk.size);
    }

    // The same for ascending targets, which differ. False if the pairs have changed.
    bool group_ascending(const PairRange &range, std::int64_t pairs, Chunk &chunk) const {
      std::int32_t sources[Chunk::kMost], targets[Chunk::kMost];
      copy_once(sources, range.sources, pairs);
      copy_once(targets, range.targets, pairs);
      const std::uint32_t source_rows = static_cast<std::uint32_t>(p_.problem_.source_rows);
      const std::uint32_t rows = static_cast<std::uint32_t>(block_rows_);
      std::uint32_t wrong = 0;
      for (std::int64_t i = 0; i < pairs; ++i) {
        wrong |= static_cast<std::uint32_t>(sources[i]) >= source_rows;
        wrong |= row_of(targets[i]) >= rows;
      }
      if (wrong != 0) return false;
      const Value *const source = p_.source_;
      Value *const target = sums_;
      const std::int64_t source_channels = p_.problem_.source_channels, channels = p_.problem_.target_channels;
      for (std::int64_t i = 0; i < pairs; ++i) chunk.source[i] = source + sources[i] * source_channels;
      for (std::int64_t i = 0; i < pairs; ++i) chunk.target[i] = target + row_of(targets[i]) * channels;
      chunk.rows = static_cast<int>(pairs);
      chunk.groups = (chunk.rows + kTileRows - 1) / kTileRows;
      for (int g = 0; g < chunk.groups; ++g) chunk.size[g] = smaller(kTileRows, chunk.rows - g * kTileRows);
      return true;
    }

    // Counted from the first row of the block.
    std::uint32_t row_of(std::int32_t target) const {
      return static_cast<std::uint32_t>(target) - static_cast<std::uint32_t>(first_);
    }

    // Multiplies the current chunk; then the next one is the current one. Between the groups it
    // prefetches some of the rows of the next chunk: all at once they would fill the miss buffers.
    void multiply() {
      const std::int64_t source_channels = p_.problem_.source_channels, channels = p_.problem_.target_channels;
      Chunk &now = chunk_[current_];
      const Chunk &next = chunk_[1 - current_];
      const int rows_per_group = now.groups > 0 ? (next.rows + now.groups - 1) / now.groups : 0;
      int asked = 0;
      for (std::int64_t first = 0; first < channels; first += kTileVectors * Tile<T>::kWidth) {
        const Tile<T> tile(channels, first);
        const Value *panel = p_.panels_.of(now.cell, tile);
        const Value *const *sources = now.source;
        Value *const *targets = now.target;
        for (int g = 0; g < now.groups; ++g) {
          for (const int until = smaller(asked + rows_per_group, next.rows); asked < until; ++asked)
            prefetch<0, 2, 1>(next.source[asked], 0, source_channels);
          multiply_tile(now.size[g], sources, targets, panel, tile);
          sources += now.size[g];
          targets += now.size[g];
        }
      }
      now.rows = now.groups = 0;
      current_ = 1 - current_;
    }

    void multiply_tile(int rows, const Value *const *sources, Value *const *targets, const Value *panel,
                       const Tile<T> &tile) const {
      const std::int64_t channels = p_.problem_.source_channels;
      const bool whole = tile.columns == tile.vectors * Tile<T>::kWidth;
      if (tile.vectors == kTileVectors) {
        if (whole) return multiply_group<T, kTileVectors, true>(rows, sources, targets, panel, channels, tile);
        return multiply_group<T, kTileVectors, false>(rows, sources, targets, panel, channels, tile);
      }
      if (whole) return multiply_group<T, 1, true>(rows, sources, targets, panel, channels, tile);
      multiply_group<T, 1, false>(rows, sources, targets, panel, channels, tile);
    }

    const IndiceProduct &p_;
    const BlockPairs *const pairs_;
    const std::int64_t rows_;
    std::int32_t *const last_group_;  // of each row of the block
    std::int32_t group_number_ = 0;   // counted through the block
    Value *sums_;
    std::int64_t first_ = 0;       // row of the block
    std::int64_t block_rows_ = 0;  // fewer than rows_ in the last block
    InterruptPoll poll_;
    Chunk chunk_[2];
    int current_ = 0;  // the current chunk, 0 or 1
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
