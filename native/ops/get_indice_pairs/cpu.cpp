// GetIndicePairs on the CPU, without a grid of the space and without random probing.
//
// Rows are sorted by place. Rows of the same (batch, depth, height) form a run; their output counterparts form a line. For each
// plane of the filter, that is each pair (depth cell, height cell), a run meets at most one line, and as runs ascend so do their
// lines: that gives the links. In sub-manifold mode the lines are the runs themselves; otherwise the columns of a line are the
// union of what its links reach along the width. Last, the width cells of every link are matched by walking run and line
// together, and each filter cell's pairs are written in the order of the input rows.
#include "cpu/kernel.h"
#include "ops/get_indice_pairs/cpu_workspace.h"
#include "ops/get_indice_pairs/get_indice_pairs.h"
#include "ops/get_indice_pairs/radix_sort.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kDepth = 0, kHeight = 1, kWidth = 2;

// One axis of the convolution.
struct Axis {
  explicit Axis(const SparseGeometry &g, int axis)
      : pad(g.pad[axis]),
        stride(g.stride[axis]),
        dilation(g.dilation[axis]),
        outputs(g.output_space[axis]),
        inverse_stride(1.0 / static_cast<double>(g.stride[axis])) {}

  // Output that `cell` sends `input` to, or -1. The quotient of a multiple is within half of the true one even in floating
  // point, so that rounding finds it; the product then tells exactly whether it was a multiple.
  std::int64_t output(std::int64_t input, std::int64_t cell) const {
    const std::int64_t scaled = input + pad - cell * dilation;
    if (scaled < 0) return -1;
    const std::int64_t quotient =
        stride == 1 ? scaled : static_cast<std::int64_t>(static_cast<double>(scaled) * inverse_stride + 0.5);
    return quotient * stride == scaled && quotient < outputs ? quotient : -1;
  }

  std::int64_t pad, stride, dilation, outputs;
  double inverse_stride;
};

struct Row {
  std::int32_t batch, depth, height, width;
};

template <typename T>
inline T *part(void *workspace, std::size_t offset) {
  return reinterpret_cast<T *>(static_cast<char *>(workspace) + offset);
}

inline void *align(void *workspace) {
  const auto address = reinterpret_cast<std::uintptr_t>(workspace);
  return reinterpret_cast<void *>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment);
}

class Pairs {
 public:
  explicit Pairs(const GetIndicePairsProblem &problem)
      : problem_(problem),
        geometry_(problem.geometry),
        depth_(geometry_, kDepth),
        height_(geometry_, kHeight),
        width_(geometry_, kWidth),
        cells_wide_(geometry_.filter_space[kWidth]),
        planes_(std::int64_t{geometry_.filter_space[kDepth]} * geometry_.filter_space[kHeight]),
        rows_(problem.rows),
        parts_(divide_workspace(geometry_, rows_)) {
    void *base = align(problem.workspace);
    records_ = part<SparseRecord>(base, parts_.rows);
    records_other_ = part<SparseRecord>(base, parts_.rows_other);
    run_begin_ = part<std::uint32_t>(base, parts_.run_begin);
    run_line_ = part<std::uint64_t>(base, parts_.run_line);
    links_ = part<SparseLink>(base, parts_.links);
    lines_ = part<SparseRecord>(base, parts_.lines);
    lines_other_ = part<SparseRecord>(base, parts_.lines_other);
    columns_ = part<std::int32_t>(base, parts_.columns);
    matches_ = part<char>(base, parts_.matches);
  }

  mluOpStatus_t run() {
    GetIndicePairsOutcome &outcome = *problem_.outcome;
    outcome.bad_row = read_rows();
    if (outcome.bad_row >= 0) return MLUOP_STATUS_SUCCESS;
    const Scratch<std::int64_t> link_count(planes_);
    if (link_count.data() == nullptr) return fail(MLUOP_STATUS_ALLOC_FAILED, "mluOpGetIndicePairs", "out of memory");
    link_count_ = link_count.data();
    sort_rows();
    find_runs();
    link_runs();
    if (!sub_manifold()) find_lines();
    outcome.rows_out = sub_manifold() ? rows_ : outputs_;
    outcome.room = outcome.rows_out <= problem_.out_rows;
    if (!outcome.room) return MLUOP_STATUS_SUCCESS;
    parallel_slots(planes_, smaller(parts_.slots, useful_slots(planes_)),
                   [this](std::int64_t slot, std::int64_t plane) { match_plane(slot, plane); });
    write_outputs();
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  bool sub_manifold() const { return geometry_.sub_m != 0; }
  const Row &row(std::int64_t number) const { return reinterpret_cast<const Row *>(problem_.indices)[number]; }

  static bool within(std::int32_t coordinate, int extent) { return coordinate >= 0 && coordinate < extent; }

  // Makes a record of every row; returns the first row that lies outside batch or space, or -1.
  std::int64_t read_rows() {
    std::int64_t bad = rows_;
    auto read = [&](std::int64_t begin, std::int64_t end) {
      const int(&space)[kSpaceDims] = geometry_.input_space;
      for (std::int64_t l = begin; l < end; ++l) {
        const Row &r = row(l);
        if (!within(r.batch, geometry_.batch) || !within(r.depth, space[kDepth]) || !within(r.height, space[kHeight]) ||
            !within(r.width, space[kWidth])) {
          std::int64_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
          while (l < known && !__atomic_compare_exchange_n(&bad, &known, l, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
          }
          return;
        }
        const std::uint64_t line = line_of(r.batch, r.depth, space[kDepth], r.height, space[kHeight]);
        records_[l].key = line * static_cast<std::uint64_t>(space[kWidth]) + static_cast<std::uint64_t>(r.width);
        records_[l].a = static_cast<std::uint32_t>(l);
      }
    };
    parallel_for(rows_, 16384, read);
    return bad < rows_ ? bad : -1;
  }

  static std::uint64_t line_of(std::int64_t batch, std::int64_t depth, std::int64_t depths, std::int64_t height,
                               std::int64_t heights) {
    return static_cast<std::uint64_t>((batch * depths + depth) * heights + height);
  }

  // Rows that arrive in ascending order, as those of an earlier convolution do, stay as they are.
  void sort_rows() {
    ordered_ = true;
    for (std::int64_t l = 1; l < rows_ && ordered_; ++l) ordered_ = records_[l - 1].key <= records_[l].key;
    if (!ordered_) {
      SparseRecord *sorted = radix_sort(records_, records_other_, rows_);
      if (sorted != records_) {
        records_other_ = records_;
        records_ = sorted;
      }
    }
    // The other half now holds the columns of the sorted rows, then their numbers.
    row_column_ = reinterpret_cast<std::int32_t *>(records_other_);
    row_number_ = row_column_ + rows_;
  }

  void find_runs() {
    const std::uint64_t width = static_cast<std::uint64_t>(geometry_.input_space[kWidth]);
    std::uint64_t line_end = 0;  // first cell behind the line of the current run
    runs_ = 0;
    for (std::int64_t j = 0; j < rows_; ++j) {
      const std::uint64_t key = records_[j].key;
      if (key >= line_end) {
        const std::uint64_t line = key / width;
        line_end = (line + 1) * width;
        run_line_[runs_] = line;
        run_begin_[runs_++] = static_cast<std::uint32_t>(j);
      }
      row_column_[j] = static_cast<std::int32_t>(key - (line_end - width));
      row_number_[j] = static_cast<std::int32_t>(records_[j].a);
    }
    run_begin_[runs_] = static_cast<std::uint32_t>(rows_);
  }

  // Links of every plane, in ascending order of runs and so of lines.
  void link_runs() {
    auto link = [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) link_plane(plane);
    };
    parallel_for(planes_, 1, link);
  }

  void link_plane(std::int64_t plane) {
    const std::int64_t depth_cell = plane / geometry_.filter_space[kHeight];
    const std::int64_t height_cell = plane % geometry_.filter_space[kHeight];
    SparseLink *links = links_ + plane * rows_;
    SparseRecord *records = lines_ + plane * rows_;
    std::int64_t count = 0, candidate = 0;
    for (std::int64_t run = 0; run < runs_; ++run) {
      const Row &place = row(row_number_[run_begin_[run]]);
      const std::int64_t depth = depth_.output(place.depth, depth_cell);
      const std::int64_t height = height_.output(place.height, height_cell);
      if (depth < 0 || height < 0) continue;
      const std::uint64_t line = line_of(place.batch, depth, depth_.outputs, height, height_.outputs);
      if (sub_manifold()) {
        while (candidate < runs_ && run_line_[candidate] < line) ++candidate;
        if (candidate == runs_ || run_line_[candidate] != line) continue;
        links[count].line = static_cast<std::uint32_t>(candidate);
      } else {
        records[count].key = line;
        records[count].a = static_cast<std::uint32_t>(plane * rows_ + count);
      }
      links[count++].run = static_cast<std::uint32_t>(run);
    }
    link_count_[plane] = count;
  }

  // Default mode: the lines that links lead to, their columns, and the number of outputs.
  void find_lines() {
    std::int64_t count = 0;
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      std::memmove(lines_ + count, lines_ + plane * rows_, static_cast<std::size_t>(link_count_[plane]) * sizeof *lines_);
      count += link_count_[plane];
    }
    SparseRecord *sorted = radix_sort(lines_, lines_other_, count);
    SparseRecord *merged = sorted == lines_ ? lines_other_ : lines_;
    merge_links(sorted, count, merged);
    collect_columns(sorted, merged);
    lines_ = merged;
    outputs_ = 0;
    for (std::int64_t line = 0; line < line_count_; ++line) {
      const std::uint32_t here = merged[line].b;
      merged[line].b = static_cast<std::uint32_t>(outputs_);
      outputs_ += here;
    }
  }

  // One record per line: `a` the room its columns start at, `b` its first link in `sorted`.
  void merge_links(const SparseRecord *sorted, std::int64_t count, SparseRecord *merged) {
    std::uint32_t room = 0;
    line_count_ = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == 0 || sorted[i].key != sorted[i - 1].key) {
        merged[line_count_++] = SparseRecord{sorted[i].key, room, static_cast<std::uint32_t>(i)};
      }
      SparseLink &link = links_[sorted[i].a];
      link.line = static_cast<std::uint32_t>(line_count_ - 1);
      room += (run_begin_[link.run + 1] - run_begin_[link.run]) * static_cast<std::uint32_t>(cells_wide_);
    }
    link_total_ = count;
  }

  // Fills in the columns of every line; `b` of its record becomes their number.
  void collect_columns(const SparseRecord *sorted, SparseRecord *merged) {
    auto collect = [&](std::int64_t begin, std::int64_t end) {
      std::uint64_t bits[kBitmapWords];
      std::memset(bits, 0, sizeof bits);
      for (std::int64_t line = begin; line < end; ++line) {
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

  // Calls visit(column) for everything that the links of a line, from `link` on, reach.
  template <typename Visit>
  void visit_columns(const SparseRecord *sorted, std::int64_t link, std::int64_t line, const Visit &visit) const {
    for (; link < link_total_ && links_[sorted[link].a].line == static_cast<std::uint32_t>(line); ++link) {
      const std::uint32_t run = links_[sorted[link].a].run;
      for (std::uint32_t j = run_begin_[run]; j < run_begin_[run + 1]; ++j) {
        for (std::int64_t cell = 0; cell < cells_wide_; ++cell) {
          const std::int64_t column = width_.output(row_column_[j], cell);
          if (column >= 0) visit(column);
        }
      }
    }
  }

  // Sorted columns without repetition, through a bit per column; `bits` is clear before and after.
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

  // The same for lines too wide for the bits.
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

  static void heap_sort(std::int32_t *values, std::int64_t count) {
    for (std::int64_t start = count / 2 - 1; start >= 0; --start) sift_down(values, start, count);
    for (std::int64_t end = count - 1; end > 0; --end) {
      swap(values[0], values[end]);
      sift_down(values, 0, end);
    }
  }

  static void sift_down(std::int32_t *values, std::int64_t root, std::int64_t count) {
    for (std::int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
      if (child + 1 < count && values[child] < values[child + 1]) ++child;
      if (values[root] >= values[child]) return;
      swap(values[root], values[child]);
      root = child;
    }
  }

  static void swap(std::int32_t &a, std::int32_t &b) {
    const std::int32_t kept = a;
    a = b;
    b = kept;
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
      const std::uint32_t begin = run_begin_[number];
      return Line{row_column_ + begin, row_number_ + begin, 0, run_begin_[number + 1] - begin};
    }
    const std::uint32_t before = lines_[number].b;
    const std::int64_t past = number + 1 < line_count_ ? lines_[number + 1].b : outputs_;
    return Line{columns_ + lines_[number].a, nullptr, static_cast<std::int32_t>(before), past - before};
  }

  // What one filter cell has matched so far.
  struct Cell {
    std::int32_t *inputs;   // row 0 of its pairs
    std::int32_t *outputs;  // row 1
    std::int64_t count;
  };

  // All width cells of a plane.
  void match_plane(std::int64_t slot, std::int64_t plane) {
    char *memory = matches_ + static_cast<std::size_t>(slot) * parts_.matches_size;
    std::int32_t *values = reinterpret_cast<std::int32_t *>(memory);
    const std::int64_t words = (rows_ + 63) / 64;
    std::uint64_t *marks = reinterpret_cast<std::uint64_t *>(memory + parts_.matches_size) - words * cells_wide_;
    const SparseLink *links = links_ + plane * rows_;
    for (std::int64_t cell = 0; cell < cells_wide_; ++cell) {
      std::int32_t *pairs = problem_.pairs + (plane * cells_wide_ + cell) * 2 * rows_;
      Cell target{pairs, pairs + rows_, 0};
      if (ordered_) {
        match_cell(links, link_count_[plane], cell, [&](std::int32_t input, std::int32_t output) {
          target.inputs[target.count] = input;
          target.outputs[target.count++] = output;
        });
      } else {
        std::int32_t *value = values + cell * rows_;
        std::uint64_t *mark = marks + cell * words;
        std::memset(mark, 0, static_cast<std::size_t>(words) * sizeof *mark);
        match_cell(links, link_count_[plane], cell, [&](std::int32_t input, std::int32_t output) {
          mark[input / 64] |= std::uint64_t{1} << (input % 64);
          value[input] = output;
        });
        list_marked(mark, words, value, &target);
      }
      finish(target, plane * cells_wide_ + cell);
    }
  }

  // Calls match(input row, output row) for all matches of a width cell, in the order of the sorted rows.
  template <typename Match>
  void match_cell(const SparseLink *links, std::int64_t count, std::int64_t cell, const Match &match) const {
    const std::int64_t offset = width_.pad - cell * width_.dilation;
    for (std::int64_t i = 0; i < count; ++i) {
      const Line line = line_at(links[i].line);
      std::int64_t candidate = 0;
      for (std::uint32_t j = run_begin_[links[i].run]; j < run_begin_[links[i].run + 1]; ++j) {
        const std::int64_t wanted = row_column_[j] + offset;
        while (candidate < line.count && line.columns[candidate] * width_.stride < wanted) ++candidate;
        if (candidate == line.count) break;
        if (line.columns[candidate] * width_.stride == wanted) match(row_number_[j], line.label(candidate));
      }
    }
  }

  static void list_marked(const std::uint64_t *marks, std::int64_t words, const std::int32_t *values, Cell *target) {
    for (std::int64_t word = 0; word < words; ++word) {
      for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
        const std::int64_t input = word * 64 + __builtin_ctzll(left);
        target->inputs[target->count] = static_cast<std::int32_t>(input);
        target->outputs[target->count++] = values[input];
      }
    }
  }

  void finish(const Cell &target, std::int64_t cell) {
    const std::size_t left = static_cast<std::size_t>(rows_ - target.count) * sizeof(std::int32_t);
    std::memset(target.inputs + target.count, 0xff, left);
    std::memset(target.outputs + target.count, 0xff, left);
    problem_.counts[cell] = static_cast<std::int32_t>(target.count);
  }

  void write_outputs() {
    if (sub_manifold()) {
      std::memcpy(problem_.out_indices, problem_.indices, static_cast<std::size_t>(rows_) * sizeof(Row));
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
  const SparseWorkspace parts_;

  SparseRecord *records_, *records_other_;
  bool ordered_ = false;
  std::int32_t *row_column_ = nullptr, *row_number_ = nullptr;  // of the sorted rows
  std::uint32_t *run_begin_;
  std::uint64_t *run_line_;
  std::int64_t runs_ = 0;
  SparseLink *links_;
  std::int64_t *link_count_ = nullptr;
  std::int64_t link_total_ = 0;
  SparseRecord *lines_, *lines_other_;
  std::int64_t line_count_ = 0;
  std::int32_t *columns_;
  std::int64_t outputs_ = 0;
  char *matches_;
};

}  // namespace

mluOpStatus_t get_indice_pairs(const GetIndicePairsProblem &problem) { return Pairs(problem).run(); }

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_get_indice_pairs, get_indice_pairs, GetIndicePairsProblem);
