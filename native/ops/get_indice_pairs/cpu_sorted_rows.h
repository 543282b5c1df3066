// The input rows of GetIndicePairs on the CPU, sorted by place and cut into runs.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_

#include "ops/get_indice_pairs/cpu_rows.h"
#include "ops/get_indice_pairs/radix_sort.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Sorted rows and their runs. A run has the rows of one line.
struct InputRuns {
  bool ordered = false;                     // the rows arrived in ascending order
  std::int32_t *column = nullptr;           // of the sorted rows
  std::int32_t *number = nullptr;           // likewise
  std::int32_t *distinct_column = nullptr;  // sub-manifold mode only: of those that are the first of their place
  std::int32_t *distinct_number = nullptr;  // likewise
  SparseRun *run = nullptr;                 // [count + 1]
  std::uint64_t *line = nullptr;            // of each run, ascending
  std::int64_t count = 0;
};

class RowSorter {
 public:
  // `base` is the aligned start of the workspace.
  RowSorter(const GetIndicePairsProblem &problem, const SortedWorkspace &parts, void *base)
      : problem_(problem), geometry_(problem.geometry), rows_(problem.rows) {
    memory_[0] = part<char>(base, parts.rows);
    memory_[1] = part<char>(base, parts.rows_other);
    in_.run = part<SparseRun>(base, parts.runs);
    in_.line = part<std::uint64_t>(base, parts.run_line);
    in_.distinct_column = part<std::int32_t>(base, parts.distinct);
    in_.distinct_number = in_.distinct_column + rows_;
  }

  // Sorts the rows by place, those with the same place by number, and finds their runs. Rows that arrive in ascending order,
  // as those of an earlier convolution do, stay as they are.
  InputRuns sort() {
    if (packable()) {
      sort_as<std::uint64_t>();
    } else {
      sort_as<SparseRecord>();
    }
    return in_;
  }

 private:
  static constexpr std::int64_t kRowsAhead = 16;

  bool sub_manifold() const { return geometry_.sub_m != 0; }
  const Row &row(std::int64_t number) const { return row_of(problem_, number); }

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
    *packed = cell_of(row(number)) << row_bits() | static_cast<std::uint64_t>(number);
  }
  void make(std::int64_t number, SparseRecord *record) const {
    *record = SparseRecord{cell_of(row(number)), static_cast<std::uint32_t>(number), 0};
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
    in_.ordered = true;
    for (std::int64_t l = 1; l < rows_ && in_.ordered; ++l)
      in_.ordered = cell_in(records[l - 1]) <= cell_in(records[l]);
    Record *sorted = in_.ordered ? records : radix_sort(records, other, rows_, first_key_bit(records), cell_bits());
    in_.column = reinterpret_cast<std::int32_t *>(sorted == records ? other : records);
    in_.number = in_.column + rows_;
    find_runs(sorted);
  }

  template <typename Record>
  void find_runs(const Record *sorted) {
    const std::uint64_t width = static_cast<std::uint64_t>(geometry_.input_space[kWidth]);
    std::uint64_t line_end = 0;  // first cell behind the line of the current run
    std::uint32_t distinct = 0;
    in_.count = 0;
    for (std::int64_t j = 0; j < rows_; ++j) {
      const std::uint64_t cell = cell_in(sorted[j]);
      const std::int64_t number = number_of(sorted[j]);
      // Rows are read in the order of their places, not of memory.
      if (j + kRowsAhead < rows_) __builtin_prefetch(&row(number_of(sorted[j + kRowsAhead])));
      if (cell >= line_end) {
        const Row &place = row(number);
        line_end = cell - static_cast<std::uint64_t>(place.width) + width;
        in_.line[in_.count] = line_of(place.batch, place.depth, geometry_.input_space[kDepth], place.height,
                                      geometry_.input_space[kHeight]);
        in_.run[in_.count++] =
            SparseRun{place.batch, place.depth, place.height, static_cast<std::uint32_t>(j), distinct};
      }
      in_.column[j] = static_cast<std::int32_t>(cell - (line_end - width));
      in_.number[j] = static_cast<std::int32_t>(number);
      if (sub_manifold() && (j == 0 || cell != cell_in(sorted[j - 1]))) {
        in_.distinct_column[distinct] = in_.column[j];
        in_.distinct_number[distinct++] = in_.number[j];
      }
    }
    in_.run[in_.count].begin = static_cast<std::uint32_t>(rows_);
    in_.run[in_.count].begin_distinct = distinct;
  }

  const GetIndicePairsProblem &problem_;
  const SparseGeometry &geometry_;
  const std::int64_t rows_;
  char *memory_[2];
  InputRuns in_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_ROWS_H_
