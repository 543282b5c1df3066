// The pair lists that GetIndicePairs writes on the CPU when it uses a grid.
//
// Rows are processed in chunks, in order, so the pairs of each filter cell are in row order too.
// Each chunk has its own segment of every list.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_PAIR_LISTS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_PAIR_LISTS_H_

#include "cpu/nontemporal.h"
#include "cpu/vector.h"
#include "ops/get_indice_pairs/cpu/rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The pair lists of the result, [filter cells][2][rows], and the current end of each chunk in each
// list.
class PairLists {
 public:
  PairLists(const GetIndicePairsProblem &problem, std::int64_t chunks, std::int32_t *ends)
      : pairs_(problem.pairs),
        counts_(problem.counts),
        rows_(problem.rows),
        volume_(problem.volume),
        chunks_(chunks),
        nontemporal_padding_(2 * volume_ * rows_ * static_cast<std::int64_t>(sizeof(std::int32_t)) >=
                             streaming_bytes() / 4),
        ends_(ends) {}

  std::int64_t chunks() const { return chunks_; }
  std::int64_t volume() const { return volume_; }
  std::int64_t chunk_begin(std::int64_t chunk) const { return chunk * rows_ / chunks_; }
  std::int32_t *ends_of(std::int64_t chunk) const { return ends_ + chunk * volume_; }

  // Calls body(chunk, first row, end row) for every chunk, concurrently.
  template <typename Body>
  void for_chunks(const Body &body) const {
    auto run = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) body(chunk, chunk_begin(chunk), chunk_begin(chunk + 1));
    };
    parallel_for(chunks_, 1, run);
  }

  // Adds the pair of a row and an output under filter cell k; `ends` are those of the row's chunk.
  // There are too many lists for hardware prefetchers.
  void add(std::int32_t *ends, std::int64_t k, std::int32_t row, std::int32_t output) const {
    const std::int32_t at = ends[k]++;
    std::int32_t *inputs = pairs_ + k * 2 * rows_;
    inputs[at] = row;
    inputs[rows_ + at] = output;
    prefetch_value<1>(inputs, at + kAhead);
    prefetch_value<1>(inputs, rows_ + at + kAhead);
  }

  // Adds the pairs of `count` rows under one filter cell; output(i) is that of rows[i]. Prefetches
  // as many lines for the next run.
  template <typename Output>
  void add_run(std::int32_t *ends, std::int64_t k, const std::int32_t *rows, std::int64_t count,
               const Output &output) const {
    std::int32_t *const inputs = pairs_ + k * 2 * rows_ + ends[k], *const outputs = inputs + rows_;
    ends[k] += static_cast<std::int32_t>(count);
    for (std::int64_t i = 0; i < count; ++i) inputs[i] = rows[i];
    for (std::int64_t i = 0; i < count; ++i) outputs[i] = output(i);
    prefetch<1>(inputs, count, count);
    prefetch<1>(outputs, count, count);
  }

  std::int32_t *clear_counts(std::int64_t chunk) const {
    std::int32_t *counts = ends_of(chunk);
    std::memset(counts, 0, static_cast<std::size_t>(volume_) * sizeof *counts);
    return counts;
  }

  // Makes the segments contiguous, given the number of pairs of every chunk.
  void join_segments() const {
    for (std::int64_t k = 0; k < volume_; ++k) {
      std::int32_t before = 0;
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const std::int32_t here = ends_of(chunk)[k];
        ends_of(chunk)[k] = before;
        before += here;
      }
      counts_[k] = before;
    }
  }

  // Calls body(chunk, first row, end row) for every chunk, and concurrently pads the lists: one
  // thread writes while another waits for lookups.
  template <typename Body>
  void for_joined_chunks(const Body &body) const {
    auto run = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t chunk = i - volume_;
        if (chunk < 0) {
          fill_padding(i);
        } else {
          body(chunk, chunk_begin(chunk), chunk_begin(chunk + 1));
        }
      }
    };
    parallel_for(chunks_ + volume_, 1, run);
  }

  // For unknown numbers of pairs: each segment starts where it would if every row of the chunks
  // before had a pair.
  void start_segment(std::int64_t chunk) const {
    for (std::int64_t k = 0; k < volume_; ++k) ends_of(chunk)[k] = static_cast<std::int32_t>(chunk_begin(chunk));
  }

  // Compacts the segments, counts the pairs and pads the lists.
  void finish() const {
    auto finish = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        counts_[k] = static_cast<std::int32_t>(compact(k));
        fill_padding(k);
      }
    };
    parallel_for(volume_, kRowsPerPiece / (2 * rows_) + 1, finish);
  }

 private:
  static constexpr std::int64_t kAhead = 2 * kCacheLine / sizeof(std::int32_t);

  void fill_padding(std::int64_t k) const {
    std::int32_t *inputs = pairs_ + k * 2 * rows_ + counts_[k];
    const std::size_t left = static_cast<std::size_t>(rows_ - counts_[k]) * sizeof *inputs;
    if (nontemporal_padding_) {
      fill_nontemporal(inputs, 0xff, left);
      fill_nontemporal(inputs + rows_, 0xff, left);
      nontemporal_fence();
    } else {
      std::memset(inputs, 0xff, left);
      std::memset(inputs + rows_, 0xff, left);
    }
  }

  std::int64_t compact(std::int64_t k) const {
    std::int32_t *inputs = pairs_ + k * 2 * rows_;
    std::int64_t count = 0;
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::int64_t begin = chunk_begin(chunk), here = ends_of(chunk)[k] - begin;
      if (begin != count) {
        const std::size_t bytes = static_cast<std::size_t>(here) * sizeof *inputs;
        std::memmove(inputs + count, inputs + begin, bytes);
        std::memmove(inputs + rows_ + count, inputs + rows_ + begin, bytes);
      }
      count += here;
    }
    return count;
  }

  std::int32_t *const pairs_;
  std::int32_t *const counts_;
  const std::int64_t rows_, volume_, chunks_;
  const bool
      nontemporal_padding_;   // write padding with non-temporal stores, also in smaller results: it is not read again
  std::int32_t *const ends_;  // [chunks][volume]
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_PAIR_LISTS_H_
