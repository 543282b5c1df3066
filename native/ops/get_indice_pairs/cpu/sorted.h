// GetIndicePairs on the CPU for rows that are sparse in their space: by sorting.
//
// Rows are sorted by place. Rows of the same (batch, depth, height) form a run; outputs of the same
// (batch, depth, height) form a line. Each plane of the filter, a pair (depth cell, height cell),
// sends a run to at most one line, and ascending runs to ascending lines: these are the links. In
// sub-manifold mode the lines are the runs themselves; otherwise the columns of a line are the
// union of the columns that its links reach. Finally the width cells of every link are matched by
// merging run and line, and the pairs of each filter cell are written in the order of the input
// rows.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_H_

#include "cpu/nontemporal.h"
#include "ops/get_indice_pairs/cpu/heap_sort.h"
#include "ops/get_indice_pairs/cpu/radix_sort.h"
#include "ops/get_indice_pairs/cpu/sorted_rows.h"

namespace mluops {
namespace MLUOPS_LEVEL {

class SortedPairs {
 public:
  explicit SortedPairs(const GetIndicePairsProblem &problem)
      : problem_(problem),
        geometry_(problem.geometry),
        depth_(geometry_, kDepth),
        height_(geometry_, kHeight),
        width_(geometry_, kWidth),
        cells_wide_(geometry_.filter_space[kWidth]),
        planes_(std::int64_t{geometry_.filter_space[kDepth]} * geometry_.filter_space[kHeight]),
        rows_(problem.rows),
        parts_(divide_for_sorting(geometry_, rows_)) {
    void *base = align(problem.workspace);
    run_sketch_ = part<SparseSketch>(base, parts_.run_sketch);
    links_ = part<SparseLink>(base, parts_.links);
    lines_ = part<SparseRecord>(base, parts_.lines);
    lines_other_ = part<SparseRecord>(base, parts_.lines_other);
    columns_ = part<std::int32_t>(base, parts_.columns);
    matches_ = part<char>(base, parts_.matches);
  }

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    RowSorter sorter(problem_, parts_, align(problem_.workspace));
    const Scratch<std::int64_t> link_count(planes_);
    if (link_count.data() == nullptr) return out_of_memory("mluOpGetIndicePairs");
    link_count_ = link_count.data();
    in_ = sorter.sort();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    if (sub_manifold()) sketch_runs();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    link_runs();
    if (interrupted() || (!sub_manifold() && !find_lines())) return MLUOP_STATUS_SUCCESS;
    outcome.rows_out = sub_manifold() ? rows_ : outputs_;
    outcome.fits = outcome.rows_out <= problem_.out_rows;
    if (!outcome.fits) return MLUOP_STATUS_SUCCESS;
    parallel_slots(planes_, smaller(parts_.slots, useful_slots(planes_, 2 * cells_wide_ * rows_)),
                   [this](std::int64_t slot, std::int64_t plane) { match_plane(slot, plane); });
    if (!interrupted()) write_outputs();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  bool sub_manifold() const { return geometry_.sub_m != 0; }
  // Links of every plane, in ascending order of runs and therefore of lines.
  void link_runs() {
    const std::int64_t depth_cells = geometry_.filter_space[kDepth];
    // For a symmetric filter, a link from A to B is one from B to A in the mirrored plane.
    const bool mirrored = sub_manifold() && symmetric(geometry_);
    const std::int64_t tasks = mirrored ? (depth_cells + 1) / 2 : depth_cells;
    auto link = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) {
        if (sub_manifold()) {
          link_to_runs(cell, mirrored && cell * 2 + 1 != depth_cells);
        } else {
          link_to_lines(cell);
        }
      }
    };
    parallel_for(tasks, kRowsPerPiece / (in_.count * geometry_.filter_space[kHeight] + 1) + 1, link);
  }

  // Segments are at least as long as the filter's reach, so a run reaches only its own and the
  // neighbouring segments.
  int segment_bits() const {
    const std::int64_t reach = larger<std::int64_t>(width_.pad, larger(cells_wide_ - 1 - width_.pad, std::int64_t{1}));
    return larger(bits_for(static_cast<std::uint64_t>(reach)),
                  bits_for(static_cast<std::uint64_t>(width_.outputs)) - 6);
  }

  void sketch_runs() {
    const int shift = segment_bits();
    auto sketch = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t run = begin; run < end; ++run) {
        SparseSketch made = {0, 0};
        for (std::uint32_t j = in_.run[run].begin; j < in_.run[run + 1].begin; ++j) {
          made.segments |= std::uint64_t{1} << (in_.column[j] >> shift);
          made.residues |= std::uint64_t{1} << (in_.column[j] % 64);
        }
        run_sketch_[run] = made;
      }
    };
    parallel_for(in_.count, kRowsPerPiece, sketch);
  }

  // The sketch of all columns that a run can reach.
  SparseSketch reach_of(const SparseSketch &run) const {
    SparseSketch reach;
    reach.segments = run.segments | run.segments << 1 | run.segments >> 1;
    reach.residues = cells_wide_ < 64 ? 0 : ~std::uint64_t{0};
    for (std::int64_t cell = 0; cells_wide_ < 64 && cell < cells_wide_; ++cell) {
      const std::int64_t turn = (width_.pad - cell) & 63;
      reach.residues |= run.residues << turn | run.residues >> (-turn & 63);
    }
    return reach;
  }

  // Sub-manifold mode: the planes of one depth cell. The lines that a run can reach are
  // consecutive, and ascend with the runs. Links whose sketches do not intersect are skipped.
  void link_to_runs(std::int64_t depth_cell, bool mirrored) {
    const std::int64_t heights = geometry_.input_space[kHeight], height_cells = geometry_.filter_space[kHeight];
    const std::int64_t first_plane = depth_cell * height_cells;
    for (std::int64_t plane = first_plane; plane < first_plane + height_cells; ++plane) {
      link_count_[plane] = 0;
      if (mirrored) link_count_[planes_ - 1 - plane] = 0;
    }
    std::int64_t candidate = 0;
    InterruptPoll poll;
    for (std::int64_t run = 0; run < in_.count && !poll.interrupted(16); ++run) {
      const std::int64_t depth = depth_.output(in_.run[run].depth, depth_cell);
      if (depth < 0) continue;
      const std::int64_t highest = in_.run[run].height + height_.pad;  // of height cell 0
      const std::int64_t lowest = highest - (height_cells - 1);
      const std::int64_t start =
          static_cast<std::int64_t>(line_of(in_.run[run].batch, depth, depth_.outputs, 0, heights));
      const auto from = static_cast<std::uint64_t>(start + larger<std::int64_t>(lowest, 0));
      const auto to = static_cast<std::uint64_t>(start + smaller(highest, heights - 1));
      const SparseSketch near = reach_of(run_sketch_[run]);
      while (candidate < in_.count && in_.line[candidate] < from) ++candidate;
      for (std::int64_t line = candidate; line < in_.count && in_.line[line] <= to && !poll.interrupted(4); ++line) {
        const SparseSketch &there = run_sketch_[line];
        if ((there.segments & near.segments) == 0 || (there.residues & near.residues) == 0) continue;
        const std::int64_t height_cell = highest - (static_cast<std::int64_t>(in_.line[line]) - start);
        add_link(first_plane + height_cell, run, line);
        if (mirrored) add_link(planes_ - 1 - (first_plane + height_cell), line, run);
      }
    }
  }

  void add_link(std::int64_t plane, std::int64_t run, std::int64_t line) {
    links_[plane * rows_ + link_count_[plane]++] =
        SparseLink{static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(line)};
  }

  // Default mode: the planes of one depth cell. Line numbers are assigned later.
  void link_to_lines(std::int64_t depth_cell) {
    const std::int64_t height_cells = geometry_.filter_space[kHeight];
    for (std::int64_t height_cell = 0; height_cell < height_cells; ++height_cell) {
      const std::int64_t plane = depth_cell * height_cells + height_cell;
      SparseRecord *records = lines_ + plane * rows_;
      link_count_[plane] = 0;
      InterruptPoll poll;
      for (std::int64_t run = 0; run < in_.count && !poll.interrupted(8); ++run) {
        const std::int64_t depth = depth_.output(in_.run[run].depth, depth_cell);
        const std::int64_t height = height_.output(in_.run[run].height, height_cell);
        if (depth < 0 || height < 0) continue;
        const std::int64_t place = plane * rows_ + link_count_[plane];
        records[link_count_[plane]] =
            SparseRecord{line_of(in_.run[run].batch, depth, depth_.outputs, height, height_.outputs),
                         static_cast<std::uint32_t>(place), 0};
        add_link(plane, run, 0);
      }
    }
  }

  // Default mode: the lines of the links, their columns, and the number of outputs. Returns false
  // if the call is interrupted.
  bool find_lines() {
    std::int64_t count = 0;
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      // Moves down, in slices whose source and target may overlap.
      for_slices(0, link_count_[plane], [&](std::int64_t begin, std::int64_t end) {
        std::memmove(lines_ + count + begin, lines_ + plane * rows_ + begin,
                     static_cast<std::size_t>(end - begin) * sizeof *lines_);
      });
      count += link_count_[plane];
    }
    if (interrupted()) return false;
    const std::uint64_t all_lines = line_of(geometry_.batch, 0, depth_.outputs, 0, height_.outputs);
    SparseRecord *sorted = radix_sort(lines_, lines_other_, count, 0, bits_for(all_lines));
    SparseRecord *merged = sorted == lines_ ? lines_other_ : lines_;
    if (interrupted()) return false;
    merge_links(sorted, count, merged);
    if (interrupted()) return false;
    collect_columns(sorted, merged);
    if (interrupted()) return false;
    lines_ = merged;
    outputs_ = 0;
    for (std::int64_t line = 0; line < line_count_; ++line) {
      const std::uint32_t here = merged[line].b;
      merged[line].b = static_cast<std::uint32_t>(outputs_);
      outputs_ += here;
    }
    index_columns(sorted);
    return !interrupted();
  }

  // 64 columns of a line: the bits of the existing ones, and the number of columns before them.
  struct Columns {
    std::uint64_t present;
    std::uint64_t before;
  };

  // In dense lines a lookup is faster than merging. The memory of `storage` is free by then.
  void index_columns(SparseRecord *storage) {
    static_assert(sizeof(Columns) == sizeof(SparseRecord), "the index reuses the memory of the sorted links");
    const std::int64_t words = (width_.outputs + 63) / 64;
    if (words > planes_ * rows_ / larger<std::int64_t>(line_count_, 1) || words * line_count_ > outputs_) return;
    column_index_ = reinterpret_cast<Columns *>(storage);
    index_words_ = words;
    auto index = [&](std::int64_t begin, std::int64_t end) {
      std::memset(column_index_ + begin * words, 0, static_cast<std::size_t>((end - begin) * words) * sizeof(Columns));
      for (std::int64_t number = begin; number < end; ++number) {
        Columns *of_line = column_index_ + number * words;
        const Line line = line_at(static_cast<std::uint32_t>(number));
        for (std::int64_t i = 0; i < line.count; ++i) {
          of_line[line.columns[i] / 64].present |= std::uint64_t{1} << (line.columns[i] % 64);
        }
        std::uint64_t before = 0;
        for (std::int64_t word = 0; word < words; ++word) {
          of_line[word].before = before;
          before += static_cast<std::uint64_t>(__builtin_popcountll(of_line[word].present));
        }
      }
    };
    parallel_for(line_count_, 256, index);
  }

  // One record per line: `a` is the start of its columns, `b` its first link in `sorted`.
  void merge_links(const SparseRecord *sorted, std::int64_t count, SparseRecord *merged) {
    std::uint32_t first_column = 0;
    line_count_ = 0;
    InterruptPoll poll;
    for (std::int64_t i = 0; i < count && !poll.interrupted(16); ++i) {
      if (i == 0 || sorted[i].key != sorted[i - 1].key) {
        merged[line_count_++] = SparseRecord{sorted[i].key, first_column, static_cast<std::uint32_t>(i)};
      }
      SparseLink &link = links_[sorted[i].a];
      link.line = static_cast<std::uint32_t>(line_count_ - 1);
      first_column += (in_.run[link.run + 1].begin - in_.run[link.run].begin) * static_cast<std::uint32_t>(cells_wide_);
    }
    link_total_ = count;
  }

  // Computes the columns of every line; `b` of its record becomes their number.
  void collect_columns(const SparseRecord *sorted, SparseRecord *merged) {
    auto collect = [&](std::int64_t begin, std::int64_t end) {
      std::uint64_t bits[kBitmapWords];
      std::memset(bits, 0, sizeof bits);
      InterruptPoll poll;
      for (std::int64_t line = begin; line < end && !poll.interrupted(1024); ++line) {
        std::int64_t link = merged[line].b;
        std::int32_t *columns = columns_ + merged[line].a;
        const bool small = width_.outputs <= kBitmapWords * 64;
        merged[line].b = static_cast<std::uint32_t>(small ? unite(sorted, link, line, columns, bits)
                                                          : unite_wide(sorted, link, line, columns));
      }
    };
    parallel_for(line_count_, 64, collect);
  }

  static constexpr std::int64_t kBitmapWords = 512;

  // Calls visit(column) for all columns that the links of a line, from `link` on, reach.
  template <typename Visit>
  void visit_columns(const SparseRecord *sorted, std::int64_t link, std::int64_t line, const Visit &visit) const {
    InterruptPoll poll;
    for (; link < link_total_ && links_[sorted[link].a].line == static_cast<std::uint32_t>(line); ++link) {
      const std::uint32_t run = links_[sorted[link].a].run;
      for (std::uint32_t j = in_.run[run].begin; j < in_.run[run + 1].begin; ++j) {
        if (poll.interrupted(2 * cells_wide_)) return;
        for (std::int64_t cell = 0; cell < cells_wide_; ++cell) {
          const std::int64_t column = width_.output(in_.column[j], cell);
          if (column >= 0) visit(column);
        }
      }
    }
  }

  // Sorted distinct columns through a bitmap; `bits` is zero before and after.
  std::int64_t unite(const SparseRecord *sorted, std::int64_t link, std::int64_t line, std::int32_t *columns,
                     std::uint64_t *bits) const {
    std::int64_t first = kBitmapWords, last = -1;
    visit_columns(sorted, link, line, [&](std::int64_t column) {
      const std::int64_t word = column / 64;
      bits[word] |= std::uint64_t{1} << (column % 64);
      first = smaller(first, word);
      last = larger(last, word);
    });
    std::int64_t count = 0;
    for (std::int64_t word = first; word <= last; ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        columns[count++] = static_cast<std::int32_t>(word * 64 + __builtin_ctzll(left));
      }
      bits[word] = 0;
    }
    return count;
  }

  // The same for lines wider than the bitmap.
  std::int64_t unite_wide(const SparseRecord *sorted, std::int64_t link, std::int64_t line,
                          std::int32_t *columns) const {
    std::int64_t count = 0;
    visit_columns(sorted, link, line,
                  [&](std::int64_t column) { columns[count++] = static_cast<std::int32_t>(column); });
    heap_sort(columns, count);
    std::int64_t distinct = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == 0 || columns[i] != columns[i - 1]) columns[distinct++] = columns[i];
    }
    return distinct;
  }

  // Columns of a line, ascending; label(i) is the output row of the i-th.
  struct Line {
    const std::int32_t *columns;
    const std::int32_t *labels;  // NULL: first_label, first_label + 1, ...
    std::int32_t first_label;
    std::int64_t count;
    std::int32_t label(std::int64_t i) const {
      return labels != nullptr ? labels[i] : first_label + static_cast<std::int32_t>(i);
    }
  };

  Line line_at(std::uint32_t number) const {
    if (sub_manifold()) {
      const std::uint32_t begin = in_.run[number].begin_distinct;
      return Line{in_.distinct_column + begin, in_.distinct_number + begin, 0,
                  in_.run[number + 1].begin_distinct - begin};
    }
    const std::uint32_t before = lines_[number].b;
    const std::int64_t past = number + 1 < line_count_ ? lines_[number + 1].b : outputs_;
    return Line{columns_ + lines_[number].a, nullptr, static_cast<std::int32_t>(before), past - before};
  }

  // All filter cells of a plane. Matches are first stored by input row, so that the pairs are in
  // row order; if the rows were sorted already, pairs are written directly.
  void match_plane(std::int64_t slot, std::int64_t plane) {
    char *memory = matches_ + static_cast<std::size_t>(slot) * parts_.matches_size;
    std::int32_t *values = reinterpret_cast<std::int32_t *>(memory);
    const std::int64_t words = (rows_ + 63) / 64;
    std::uint64_t *marks = reinterpret_cast<std::uint64_t *>(memory + parts_.matches_size) - words * cells_wide_;
    std::int32_t *pairs = problem_.pairs + plane * cells_wide_ * 2 * rows_;
    std::int32_t *counts = problem_.counts + plane * cells_wide_;
    std::memset(counts, 0, static_cast<std::size_t>(cells_wide_) * sizeof *counts);
    if (in_.ordered) {
      match_links(plane, [&](std::int64_t cell, std::int32_t input, std::int32_t output) {
        std::int32_t *inputs = pairs + cell * 2 * rows_;
        inputs[counts[cell]] = input;
        inputs[rows_ + counts[cell]++] = output;
      });
    } else {
      std::memset(marks, 0, static_cast<std::size_t>(words * cells_wide_) * sizeof *marks);
      match_links(plane, [&](std::int64_t cell, std::int32_t input, std::int32_t output) {
        marks[cell * words + input / 64] |= std::uint64_t{1} << (input % 64);
        values[cell * rows_ + input] = output;
      });
    }
    InterruptPoll poll;
    for (std::int64_t cell = 0; cell < cells_wide_ && !poll.interrupted(rows_); ++cell) {
      std::int32_t *inputs = pairs + cell * 2 * rows_;
      if (!in_.ordered) counts[cell] = list_marked(marks + cell * words, words, values + cell * rows_, inputs);
      const std::size_t left = static_cast<std::size_t>(rows_ - counts[cell]) * sizeof(std::int32_t);
      std::memset(inputs + counts[cell], 0xff, left);
      std::memset(inputs + rows_ + counts[cell], 0xff, left);
    }
  }

  // Calls match(width cell, input row, output row) for all matches, in the order of sorted rows.
  template <typename Match>
  void match_links(std::int64_t plane, const Match &match) const {
    if (column_index_ != nullptr) {
      look_up_links(plane, match);
    } else {
      walk_links(plane, match);
    }
  }

  // Lookup in the index, which has every column that a row reaches.
  template <typename Match>
  void look_up_links(std::int64_t plane, const Match &match) const {
    const SparseLink *links = links_ + plane * rows_;
    InterruptPoll poll;
    for (std::int64_t i = 0; i < link_count_[plane]; ++i) {
      const Columns *of_line = column_index_ + links[i].line * index_words_;
      const std::uint64_t first_label = lines_[links[i].line].b;
      for (std::uint32_t j = in_.run[links[i].run].begin; j < in_.run[links[i].run + 1].begin; ++j) {
        if (poll.interrupted(4 * cells_wide_)) return;
        for (std::int64_t cell = 0; cell < cells_wide_; ++cell) {
          const std::int64_t column = width_.output(in_.column[j], cell);
          if (column < 0) continue;
          const Columns &columns = of_line[column / 64];
          const std::uint64_t below = columns.present & ((std::uint64_t{1} << (column % 64)) - 1);
          const std::uint64_t label =
              first_label + columns.before + static_cast<std::uint64_t>(__builtin_popcountll(below));
          match(cell, in_.number[j], static_cast<std::int32_t>(label));
        }
      }
    }
  }

  // Merges run and line. A row at column w reaches the columns between w + pad - (cells - 1) *
  // dilation and w + pad, divided by the stride.
  template <typename Match>
  void walk_links(std::int64_t plane, const Match &match) const {
    const SparseLink *links = links_ + plane * rows_;
    const std::int64_t reach = (cells_wide_ - 1) * width_.dilation;
    InterruptPoll poll;
    for (std::int64_t i = 0; i < link_count_[plane]; ++i) {
      const Line line = line_at(links[i].line);
      std::int64_t candidate = 0;
      for (std::uint32_t j = in_.run[links[i].run].begin; j < in_.run[links[i].run + 1].begin; ++j) {
        const std::int64_t highest = in_.column[j] + width_.pad;
        while (candidate < line.count && line.columns[candidate] * width_.stride < highest - reach) ++candidate;
        if (poll.interrupted(16)) return;
        for (std::int64_t c = candidate; c < line.count && !poll.interrupted(4); ++c) {
          const std::int64_t distance = highest - line.columns[c] * width_.stride;
          if (distance < 0) break;
          if (width_.dilation != 1 && distance % width_.dilation != 0) continue;
          match(width_.dilation == 1 ? distance : distance / width_.dilation, in_.number[j], line.label(c));
        }
      }
    }
  }

  // Lists the marked input rows and their values in the two rows of a filter cell's pairs; returns
  // their number.
  std::int32_t list_marked(const std::uint64_t *marks, std::int64_t words, const std::int32_t *values,
                           std::int32_t *inputs) const {
    std::int32_t count = 0;
    for (std::int64_t word = 0; word < words; ++word) {
      for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
        const std::int64_t input = word * 64 + __builtin_ctzll(left);
        inputs[count] = static_cast<std::int32_t>(input);
        inputs[rows_ + count++] = values[input];
      }
    }
    return count;
  }

  void write_outputs() {
    if (sub_manifold()) {
      for_slices(0, rows_, [this](std::int64_t begin, std::int64_t end) {
        copy_cached(problem_.out_indices + begin * 4, problem_.indices + begin * 4,
                    static_cast<std::size_t>(end - begin) * sizeof(Row));
      });
      return;
    }
    auto write = [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t number = begin; number < end; ++number) {
        const Line line = line_at(static_cast<std::uint32_t>(number));
        const std::int64_t place = static_cast<std::int64_t>(lines_[number].key);
        Row output;
        output.height = static_cast<std::int32_t>(place % height_.outputs);
        output.depth = static_cast<std::int32_t>(place / height_.outputs % depth_.outputs);
        output.batch = static_cast<std::int32_t>(place / height_.outputs / depth_.outputs);
        Row *rows = reinterpret_cast<Row *>(problem_.out_indices) + line.first_label;
        for (std::int64_t i = 0; i < line.count; ++i) {
          output.width = line.columns[i];
          rows[i] = output;
        }
      }
    };
    parallel_for(line_count_, 256, write);
  }

  const GetIndicePairsProblem &problem_;
  const SparseGeometry &geometry_;
  const Axis depth_, height_, width_;
  const std::int64_t cells_wide_, planes_, rows_;
  const SortedWorkspace parts_;

  InputRuns in_;
  SparseSketch *run_sketch_;
  SparseLink *links_;
  std::int64_t *link_count_ = nullptr;
  std::int64_t link_total_ = 0;
  SparseRecord *lines_, *lines_other_;
  std::int64_t line_count_ = 0;
  Columns *column_index_ = nullptr;  // [lines][index_words_], NULL if merging is faster
  std::int64_t index_words_ = 0;
  std::int32_t *columns_;
  std::int64_t outputs_ = 0;
  char *matches_;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_SORTED_H_
