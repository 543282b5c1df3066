// The input rows of GetIndicePairs on the CPU, sorted by place and cut into runs.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_

#include "ops/get_indice_pairs/cpu/radix_sort.h"
#include "ops/get_indice_pairs/cpu/rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Sorted rows and their runs. A run has the rows of one line.
struct InputRuns {
  bool ordered = false;                     // the rows arrived in ascending order
  std::int32_t *column = nullptr;           // of the sorted rows
  std::int32_t *number = nullptr;           // likewise
  std::int32_t *distinct_column = nullptr;  // sub-manifold mode only: of the first row of each place
  std::int32_t *distinct_number = nullptr;  // likewise
  SparseRun *run = nullptr;                 // [count + 1]
  std::uint64_t *line = nullptr;            // of each run, ascending
  std::int64_t count = 0;
};

// Repeated division by one number, in a third of the time of a division instruction.
class Divisor {
 public:
  struct Result {
    std::uint64_t quotient, rest;
  };

  explicit Divisor(int by) : value(static_cast<std::uint64_t>(by)), inverse_(~std::uint64_t{0} / value) {}

  // The high product is the quotient or one less.
  Result divide(std::uint64_t number) const {
    __extension__ typedef unsigned __int128 Wide;
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(number) * inverse_ >> 64);
    const std::uint64_t rest = number - quotient * value;
    const bool less = rest >= value;
    return Result{quotient + less, less ? rest - value : rest};
  }

  const std::uint64_t value;

 private:
  const std::uint64_t inverse_;
};

class RowSorter {
 public:
  // `base` is the aligned start of the workspace.
  RowSorter(const GetIndicePairsProblem &problem, const SortedWorkspace &parts, void *base)
      : input_(problem), geometry_(problem.geometry), rows_(problem.rows) {
    memory_[0] = part<char>(base, parts.rows);
    memory_[1] = part<char>(base, parts.rows_other);
    in_.run = part<SparseRun>(base, parts.runs);
    in_.line = part<std::uint64_t>(base, parts.run_line);
    in_.distinct_column = part<std::int32_t>(base, parts.distinct);
    in_.distinct_number = in_.distinct_column + rows_;
  }

  // Sorts the rows by place, equal places by number, and finds their runs. Rows that are already
  // ascending, as after an earlier convolution, are not moved. Incomplete if the call is
  // interrupted.
  InputRuns sort() {
    if (packable()) {
      sort_as<std::uint64_t>();
    } else {
      sort_as<SparseRecord>();
    }
    return in_;
  }

 private:
  bool sub_manifold() const { return geometry_.sub_m != 0; }

  // Number of an input row's cell in its space.
  std::uint64_t cell_of(const Row &r) const {
    const std::uint64_t line =
        line_of(r.batch, r.depth, geometry_.input_space[kDepth], r.height, geometry_.input_space[kHeight]);
    return line * static_cast<std::uint64_t>(geometry_.input_space[kWidth]) + static_cast<std::uint64_t>(r.width);
  }

  int cell_bits() const {
    std::uint64_t cells = static_cast<std::uint64_t>(geometry_.batch);
    for (const int extent : geometry_.input_space) cells *= static_cast<std::uint64_t>(extent);
    return bits_for(cells);
  }

  // Whether a row's cell and number fit into one word.
  bool packable() const { return cell_bits() + row_bits() <= 64; }
  int row_bits() const { return bits_for(static_cast<std::uint64_t>(rows_)); }

  void make(std::int64_t number, std::uint64_t *packed) const {
    *packed = cell_of(input_[number]) << row_bits() | static_cast<std::uint64_t>(number);
  }
  void make(std::int64_t number, SparseRecord *record) const {
    *record = SparseRecord{cell_of(input_[number]), static_cast<std::uint32_t>(number), 0};
  }
  std::int64_t number_of(std::uint64_t packed) const {
    return static_cast<std::int64_t>(packed & ((std::uint64_t{1} << row_bits()) - 1));
  }
  std::int64_t number_of(const SparseRecord &record) const { return record.a; }
  std::uint64_t cell_in(std::uint64_t packed) const { return packed >> row_bits(); }
  std::uint64_t cell_in(const SparseRecord &record) const { return record.key; }
  int first_key_bit(std::uint64_t *) const { return row_bits(); }
  int first_key_bit(SparseRecord *) const { return 0; }

  template <typename Record>
  void sort_as() {
    Record *records = reinterpret_cast<Record *>(memory_[0]);
    Record *other = reinterpret_cast<Record *>(memory_[1]);
    auto read = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end; ++l) make(l, records + l);
    };
    parallel_for(rows_, kRowsPerPiece, read);
    if (interrupted()) return;
    in_.ordered = true;
    for_slices(1, rows_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t l = begin; l < end && in_.ordered; ++l) {
        in_.ordered = cell_in(records[l - 1]) <= cell_in(records[l]);
      }
    });
    Record *sorted = in_.ordered ? records : radix_sort(records, other, rows_, first_key_bit(records), cell_bits());
    in_.column = reinterpret_cast<std::int32_t *>(sorted == records ? other : records);
    in_.number = in_.column + rows_;
    if (!interrupted()) find_runs(sorted);
  }

  template <typename Record>
  void find_runs(const Record *sorted) {
    const Divisor width(geometry_.input_space[kWidth]), height(geometry_.input_space[kHeight]),
        depth(geometry_.input_space[kDepth]);
    std::uint64_t line_end = 0;  // first cell after the line of the current run
    std::uint32_t distinct = 0;
    in_.count = 0;
    InterruptPoll poll;
    for (std::int64_t j = 0; j < rows_ && !poll.interrupted(16); ++j) {
      const std::uint64_t cell = cell_in(sorted[j]);
      const std::int64_t number = number_of(sorted[j]);
      if (cell >= line_end) {
        const Divisor::Result line = width.divide(cell), plane = height.divide(line.quotient);
        const Divisor::Result batch = depth.divide(plane.quotient);
        line_end = cell - line.rest + width.value;
        in_.line[in_.count] = line.quotient;
        in_.run[in_.count++] =
            SparseRun{static_cast<std::int32_t>(batch.quotient), static_cast<std::int32_t>(batch.rest),
                      static_cast<std::int32_t>(plane.rest), static_cast<std::uint32_t>(j), distinct};
      }
      in_.column[j] = static_cast<std::int32_t>(cell - (line_end - width.value));
      in_.number[j] = static_cast<std::int32_t>(number);
      if (sub_manifold() && (j == 0 || cell != cell_in(sorted[j - 1]))) {
        in_.distinct_column[distinct] = in_.column[j];
        in_.distinct_number[distinct++] = in_.number[j];
      }
    }
    in_.run[in_.count].begin = static_cast<std::uint32_t>(rows_);
    in_.run[in_.count].begin_distinct = distinct;
  }

  const InputRows input_;
  const SparseGeometry &geometry_;
  const std::int64_t rows_;
  char *memory_[2];
  InputRuns in_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_
