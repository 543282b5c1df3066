// Psamask on the CPU. Every line of the result is written once, zeros and data together, in the order of memory; results too
// large for the caches are written past them.
//
// Collect moves runs that stay contiguous. Distribute is its transpose between positions and targets: squares of it are turned in
// registers, and put together in a small sheet so that lines of the result are written in long pieces.
#include "cpu/stream.h"
#include "cpu/vector.h"
#include "ops/psamask/psamask.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kFloatsPerLine = kCacheLine / sizeof(float);

// Half-open range of indices.
struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t count() const { return end - begin; }
};

// Those targets on one axis that the mask of `position` reaches. The centre is a cell of the mask, so the position itself is
// always among them.
inline Range reached(std::int64_t position, std::int64_t extent, std::int64_t mask, std::int64_t center) {
  return Range{larger<std::int64_t>(position - center, 0), smaller(position - center + mask, extent)};
}

// Whether so many floats take at least that many bytes.
inline bool takes(std::int64_t floats, std::int64_t bytes) {
  return floats * static_cast<std::int64_t>(sizeof(float)) >= bytes;
}

// Geometry with what every kernel needs of it.
struct Map : PsamaskGeometry {
  explicit Map(const PsamaskGeometry &geometry)
      : PsamaskGeometry(geometry), area(height * width), cells(mask_h * mask_w), up(center_h()), left(center_w()) {}

  Range rows_reached(std::int64_t h) const { return reached(h, height, mask_h, up); }
  Range columns_reached(std::int64_t w) const { return reached(w, width, mask_w, left); }

  // Whether the masks are too many to be read from a cache. Only then it pays to ask for them ahead.
  bool masks_in_memory() const { return takes(batches * area * cells, last_cache_bytes() / 2); }

  std::int64_t area, cells, up, left;
};

// Lines of the map of `collect`, each from the mask of one position.
template <typename Sink>
void collect_forward(const Map &g, const PsamaskForwardProblem &problem, std::int64_t begin, std::int64_t end) {
  Sink sink(problem.map + begin * g.area);
  const bool asks = g.masks_in_memory();
  for (std::int64_t position = begin; position < end; ++position) {
    const std::int64_t h = position / g.width % g.height, w = position % g.width;
    const float *mask = problem.mask + position * g.cells;
    const Range rows = g.rows_reached(h), columns = g.columns_reached(w);
    sink.zeros(rows.begin * g.width);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float *run = mask + (row - h + g.up) * g.mask_w + columns.begin - w + g.left;
      // About what a later position has there.
      if (asks) ask_for<0, 2>(run, 3 * (g.cells - 1), columns.count() + kLanes - 1);
      sink.zeros(columns.begin);
      sink.values(run, columns.count());
      sink.zeros(g.width - columns.end);
    }
    sink.zeros((g.height - rows.end) * g.width);
  }
  sink.finish();
}

// Masks of positions, each from its line of the map of `collect`.
template <typename Sink>
void collect_backward(const Map &g, const PsamaskBackwardProblem &problem, std::int64_t begin, std::int64_t end) {
  Sink sink(problem.mask + begin * g.cells);
  for (std::int64_t position = begin; position < end; ++position) {
    const std::int64_t h = position / g.width % g.height, w = position % g.width;
    const float *map = problem.map + position * g.area;
    const Range rows = g.rows_reached(h), columns = g.columns_reached(w);
    const std::int64_t before = columns.begin - w + g.left;
    sink.zeros((rows.begin - h + g.up) * g.mask_w);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      sink.zeros(before);
      sink.values(map + row * g.width + columns.begin, columns.count());
      sink.zeros(g.mask_w - before - columns.count());
    }
    sink.zeros((g.mask_h - (rows.end - h + g.up)) * g.mask_w);
  }
  sink.finish();
}

// Goes through a range in tiles of kSize. The last tile overlaps the one before it if the range has room for a whole one.
template <std::int64_t kSize = kLanes>
class Tiles {
 public:
  explicit Tiles(const Range &range)
      : at_(range.begin), last_(larger(range.end - kSize, range.begin)), end_(range.end) {}
  bool more() const { return at_ < end_; }
  std::int64_t at() const { return at_; }
  void next() { at_ = at_ == last_ ? end_ : smaller(at_ + kSize, last_); }

 private:
  std::int64_t at_, last_, end_;
};

// The next pieces of lines of the result, side by side, until they are long enough to be written. Of those that go past the caches,
// whole cache lines are written: what is left stays where it is in its cache line, and the next piece follows it. Of a result that
// stays in the caches a sheet may also be a view.
class Sheet {
 public:
  static constexpr std::int64_t kWidth = 256;
  // A line has room for what was left before it, and whole vectors are stored.
  static constexpr std::int64_t kStride = kWidth + kFloatsPerLine + 2 * kLanes;

  // Floats of memory that so many lines take.
  static std::int64_t size(std::int64_t lines) { return lines * (kStride + 1); }

  Sheet(float *memory, std::int64_t lines, bool stream)
      : left_(reinterpret_cast<std::int32_t *>(memory + lines * kStride)),
        lines_(memory),
        stride_(kStride),
        stream_(stream) {
    for (std::int64_t i = 0; i < lines; ++i) left_[i] = 0;
  }

  // A view of lines that start at `lines`, `stride` apart.
  static Sheet view(float *lines, std::int64_t stride) { return Sheet(lines, stride); }

  // `count` lines from `first` on start at `to`, `stride` apart in memory.
  void start(std::int64_t first, const float *to, std::int64_t stride, std::int64_t count) const {
    for (std::int64_t i = first; i < first + count; ++i, to += stride) {
      const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % kFloatsPerLine;
      if (stream_) left_[i] = static_cast<std::int32_t>(before);
    }
  }

  // Where the next piece of a line goes.
  float *line(std::int64_t i) const { return lines_ + i * stride_ + (left_ == nullptr ? 0 : left_[i]); }

  // Writes the next `width` floats of each of these lines to memory; `is_first` and `is_last` are about these pieces.
  void write(std::int64_t first, float *to, std::int64_t stride, std::int64_t count, std::int64_t width, bool is_first,
             bool is_last) const {
    for (std::int64_t i = first; left_ != nullptr && i < first + count; ++i, to += stride) {
      if (stream_) {
        write_past_caches(i, to, width, is_first, is_last);
      } else {
        copy_row(to, line(i), width);
      }
    }
  }

  void finish() const {
    if (stream_) finish_stream();
  }

 private:
  Sheet(float *lines, std::int64_t stride) : left_(nullptr), lines_(lines), stride_(stride), stream_(false) {}

  void write_past_caches(std::int64_t i, float *to, std::int64_t width, bool is_first, bool is_last) const {
    float *from = lines_ + i * kStride;
    const std::int64_t before = left_[i], end = before + width;
    const std::int64_t whole = is_last ? end : end / kFloatsPerLine * kFloatsPerLine;
    const std::int64_t begin = is_first ? before : 0;  // nothing before a line's first piece is ours
    if (whole > begin) {
      stream_bytes(to - before + begin, from + begin, static_cast<std::size_t>(whole - begin) * sizeof(float));
      copy_row(from, from + whole, kFloatsPerLine);
    }
    left_[i] = static_cast<std::int32_t>(whole > begin ? end - whole : end);
  }

  std::int32_t *const left_;
  float *const lines_;
  const std::int64_t stride_;
  const bool stream_;
};

// Lines of the map of `distribute`. A task has all targets in some rows of the map: with several, what it reads of one position's
// mask is long enough to make up for the distance to the next one's. Where the result stays in the caches, so that pieces of its lines
// cost little, a task has a row of positions instead, and reads their masks as they lie.
struct DistributeForward {
  DistributeForward(const Map &map, const PsamaskForwardProblem &of, bool past_caches)
      : g(map),
        problem(of),
        direct(!past_caches && g.width >= kLanes),
        row_lines(direct ? g.width : (g.width + kLanes - 1) / kLanes * kLanes),
        rows_per_task(direct ? 1
                             : larger<std::int64_t>(smaller(most_lines() / row_lines,
                                                            g.batches * g.height / (2 * std::int64_t{thread_count()})),
                                                    1)),
        row_tasks((g.height + rows_per_task - 1) / rows_per_task) {}

  std::int64_t tasks() const { return g.batches * row_tasks; }
  std::int64_t sheet_lines() const { return direct ? 0 : rows_per_task * row_lines; }
  std::int64_t values() const { return rows_per_task * g.width * g.area; }

  // Sheets of rows of positions that fit side by side, or of parts of a row that does not.
  void run(const Sheet &sheet, std::int64_t task) const {
    const std::int64_t batch = task / row_tasks, first = task % row_tasks * rows_per_task;
    if (direct) {
      const Sheet view = Sheet::view(problem.map + batch * g.area * g.area, g.area);
      fill(view, batch, Range{0, g.height}, first, Range{0, g.width}, first * g.width);
      return;
    }
    const Range targets{first, smaller(first + rows_per_task, g.height)};
    const std::int64_t rows_at_once = larger<std::int64_t>(Sheet::kWidth / g.width, 1);
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      sheet.start((row - targets.begin) * row_lines, problem.map + (batch * g.area + row * g.width) * g.area, g.area,
                  g.width);
    }
    for (std::int64_t h = 0; h < g.height; h += rows_at_once) {
      const Range rows{h, smaller(h + rows_at_once, g.height)};
      for (std::int64_t w = 0; w < g.width; w += Sheet::kWidth) {
        const Range columns{w, smaller(w + Sheet::kWidth, g.width)};
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
          fill(sheet, batch, targets, row, columns, (row - rows.begin) * columns.count());
        }
        for (std::int64_t row = targets.begin; row < targets.end; ++row) {
          float *map = problem.map + (batch * g.area + row * g.width) * g.area + h * g.width + w;
          sheet.write((row - targets.begin) * row_lines, map, g.area, g.width, rows.count() * columns.count(),
                      h == 0 && w == 0, rows.end == g.height && columns.end == g.width);
        }
      }
    }
    sheet.finish();
  }

  // What the positions (h, columns) give to the rows `targets`, at `at` of the lines of the sheet.
  void fill(const Sheet &sheet, std::int64_t batch, const Range &targets, std::int64_t h, const Range &columns,
            std::int64_t at) const {
    const Range reached_rows = g.rows_reached(h);
    const float *mask = problem.mask + (batch * g.height + h) * g.width * g.cells + (g.up - h) * g.mask_w;
    const Range given{larger(targets.begin, reached_rows.begin), smaller(targets.end, reached_rows.end)};
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      if (row >= given.begin && row < given.end) continue;
      const std::int64_t line = (row - targets.begin) * row_lines;
      for (std::int64_t i = 0; i < g.width; ++i) clear_floats(sheet.line(line + i) + at, columns.count());
    }
    // What is asked for at once is no more than what a square takes: more of it would have to wait.
    const std::int64_t squares = (g.width + kLanes - 1) / kLanes;
    const std::int64_t share = g.masks_in_memory() ? (kLanes + squares - 1) / squares : 0;
    for (Tiles<> w(columns); w.more(); w.next()) {
      for (std::int64_t row = given.begin; row < given.end; ++row) {
        const float *cells = mask + row * g.mask_w;
        const std::int64_t line = (row - targets.begin) * row_lines;
        std::int64_t asked = w.at() + kLanes;
        for (Tiles<> target(Range{0, g.width}); target.more(); target.next(), asked += share) {
          ask_for(cells, asked, share);
          turn(sheet, cells, w.at(), target.at(), line + target.at(), at + w.at() - columns.begin);
        }
      }
    }
  }

  // Asks for what `count` positions from w on will give: each lies too far from the next for the hardware to foresee it. Behind the
  // last column come the positions of the next row, whose masks are a row of cells further up.
  [[gnu::always_inline]] void ask_for(const float *mask, std::int64_t w, std::int64_t count) const {
    constexpr std::int64_t kLine = kCacheLine / sizeof(float);
    const std::uintptr_t next_row = static_cast<std::uintptr_t>(g.width * g.cells - g.mask_w) * sizeof(float);
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(mask) + (w < g.width ? 0 : next_row);
    const std::int64_t first = w < g.width ? w : w - larger<std::int64_t>(g.width, kLanes);
    for (std::int64_t position = first; position < smaller(first + count, g.width); ++position) {
      const Range columns = g.columns_reached(position);
      const std::int64_t from = position * g.cells + columns.begin - position + g.left;
      for (std::int64_t i = 0; i < columns.count() + kLine - 1; i += kLine) {
        __builtin_prefetch(
            reinterpret_cast<const void *>(start + static_cast<std::uintptr_t>(from + i) * sizeof(float)), 0, 2);
      }
    }
  }

  // kLanes positions from w on times kLanes targets; `mask` points at the row of cells for their row in the first position.
  void turn(const Sheet &sheet, const float *mask, std::int64_t w, std::int64_t target, std::int64_t line,
            std::int64_t at) const {
    Vector square[kLanes];
    const float *from = mask + w * g.cells + target - w + g.left;
    if (g.columns_reached(smaller(w + kLanes, g.width) - 1).begin <= target && w + kLanes <= g.width &&
        g.columns_reached(w).end >= target + kLanes) {
      for (std::int64_t j = 0; j < kLanes; ++j) square[j] = load(from + j * (g.cells - 1));
    } else {
      for (std::int64_t j = 0; j < kLanes; ++j) {
        const std::int64_t position = smaller(w + j, g.width - 1);  // what is behind the last column is not written out
        const Range columns = g.columns_reached(position);
        square[j] = load_window(from + (position - w) * (g.cells - 1), columns.begin - target, columns.end - target);
      }
    }
    transpose(square);
    for (std::int64_t i = 0; i < kLanes; ++i) store(sheet.line(line + i) + at, square[i]);
  }

  // Of a sheet that leaves the rest of the second cache to the masks.
  static std::int64_t most_lines() {
    return second_cache_bytes() * 2 / 5 / (Sheet::kStride * static_cast<std::int64_t>(sizeof(float)));
  }

  const Map &g;
  const PsamaskForwardProblem &problem;
  const bool direct;             // squares are whole, and are written straight into the result
  const std::int64_t row_lines;  // of the sheet, for the targets of one row
  const std::int64_t rows_per_task, row_tasks;
};

// Masks of all positions in one row of the map, from the map of `distribute`.
struct DistributeBackward {
  const Map &g;
  const PsamaskBackwardProblem &problem;
  const bool direct;  // rows are written straight into the result

  std::int64_t tasks() const { return g.batches * g.height; }
  std::int64_t sheet_lines() const { return direct || g.mask_w > Sheet::kWidth ? 0 : smaller(kPositions, g.width); }
  std::int64_t values() const { return g.width * g.cells; }

  // What so many positions read of a line of the map is long enough to make up for the distance to the next line.
  static constexpr std::int64_t kPositions = 64;

  // Some neighbouring positions of row h, and where the cells of each that exist begin and end in a row of its mask.
  struct Positions {
    std::int64_t h, w, count;
    Range columns[kPositions];
    std::int64_t before[kPositions];
    std::int64_t past[kPositions];
  };

  void run(const Sheet &sheet, std::int64_t task) const {
    const std::int64_t batch = task / g.height, h = task % g.height;
    for (Tiles<kPositions> w(Range{0, g.width}); w.more(); w.next()) {
      Positions positions;
      positions.h = h;
      positions.w = w.at();
      positions.count = smaller(kPositions, g.width - w.at());
      for (std::int64_t j = 0; j < positions.count; ++j) {
        positions.columns[j] = g.columns_reached(w.at() + j);
        positions.before[j] = positions.columns[j].begin - (w.at() + j) + g.left;
        positions.past[j] = positions.columns[j].end - (w.at() + j) + g.left;
      }
      masks(sheet, positions, problem.mask + ((batch * g.height + h) * g.width + w.at()) * g.cells,
            problem.map + batch * g.area * g.area + h * g.width + w.at());
    }
    sheet.finish();
  }

  // Sheets of rows of cells that fit side by side, or straight into rows that are wider.
  void masks(const Sheet &sheet, const Positions &positions, float *mask, const float *map) const {
    if (g.mask_w > Sheet::kWidth) {
      for (std::int64_t i = 0; i < g.mask_h; ++i)
        wide_row(mask + i * g.mask_w, lines_of(map, positions.h, i), positions);
      return;
    }
    if (direct) {
      for (std::int64_t i = 0; i < g.mask_h; ++i) {
        // What is written too far in a row, the next row puts right.
        const bool loosely = (g.mask_h - i - 1) * g.mask_w >= kLanes;
        sheet_row(Sheet::view(mask + i * g.mask_w, g.cells), 0, map, i, positions, loosely);
      }
      return;
    }
    const std::int64_t rows_at_once = Sheet::kWidth / g.mask_w;
    sheet.start(0, mask, g.cells, positions.count);
    for (std::int64_t i = 0; i < g.mask_h; i += rows_at_once) {
      const std::int64_t rows = smaller(rows_at_once, g.mask_h - i);
      for (std::int64_t row = 0; row < rows; ++row) {
        sheet_row(sheet, row * g.mask_w, map, i + row, positions, true);
      }
      sheet.write(0, mask + i * g.mask_w, g.cells, positions.count, rows * g.mask_w, i == 0, i + rows == g.mask_h);
    }
  }

  // Lines of the row of targets that row i of the masks at height h stands for, NULL if it lies outside the map.
  const float *lines_of(const float *map, std::int64_t h, std::int64_t i) const {
    const std::int64_t row = h + i - g.up;
    return row >= 0 && row < g.height ? map + row * g.width * g.area : nullptr;
  }

  // Row i of the cells of each position, at `at` of its line. Whole vectors are written from left to right: what one writes too far,
  // the next one puts right. What the next row will give is asked for piece by piece: its lines lie too far apart for the hardware to
  // foresee them, and many requests at once have to wait.
  void sheet_row(const Sheet &sheet, std::int64_t at, const float *map, std::int64_t i, const Positions &positions,
                 bool loosely) const {
    const float *lines = lines_of(map, positions.h, i), *next = lines_of(map, positions.h, i + 1);
    for (std::int64_t j = 0; j < positions.count; ++j) {
      clear(sheet.line(j) + at, lines != nullptr ? positions.before[j] : g.mask_w, loosely);
    }
    if (lines == nullptr) {
      for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) ask_for(next, target.at(), positions.count);
      return;
    }
    for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) {
      ask_for(next, target.at(), positions.count);
      for_squares(lines, target.at(), positions.count, [&](std::int64_t j, Vector values) {
        const Range &columns = positions.columns[j];
        store_window(sheet.line(j) + at + target.at() - (positions.w + j) + g.left, values, columns.begin - target.at(),
                     columns.end - target.at());
      });
    }
    for (std::int64_t j = 0; j < positions.count; ++j) {
      clear(sheet.line(j) + at + positions.past[j], g.mask_w - positions.past[j], loosely);
    }
  }

  // Asks for what kLanes targets will give to so many positions; `lines` is NULL where there are none.
  [[gnu::always_inline]] void ask_for(const float *lines, std::int64_t target, std::int64_t count) const {
    if (lines == nullptr) return;
    for (std::int64_t i = target; i < smaller(target + kLanes, g.width); ++i) {
      mluops::MLUOPS_LEVEL::ask_for<0, 2>(lines, i * g.area, count + kFloatsPerLine - 1);
    }
  }

  static void clear(float *to, std::int64_t count, bool loosely) {
    if (loosely) {
      clear_floats_loosely(to, count);
    } else {
      clear_floats(to, count);
    }
  }

  // The same into masks that lie in memory.
  void wide_row(float *mask, const float *map, const Positions &positions) const {
    for (std::int64_t j = 0; j < positions.count; ++j) {
      clear_floats(mask + j * g.cells, map != nullptr ? positions.before[j] : g.mask_w);
      if (map != nullptr) clear_floats(mask + j * g.cells + positions.past[j], g.mask_w - positions.past[j]);
    }
    for (Tiles<> target(Range{0, g.width}); map != nullptr && target.more(); target.next()) {
      for_squares(map, target.at(), positions.count, [&](std::int64_t j, Vector values) {
        const Range &columns = positions.columns[j];
        store_window(mask + j * g.cells + target.at() - (positions.w + j) + g.left, values, columns.begin - target.at(),
                     columns.end - target.at());
      });
    }
  }

  // Calls use(j, values) for `count` positions, with what they give to kLanes targets from `target` on.
  template <typename Use>
  void for_squares(const float *map, std::int64_t target, std::int64_t count, const Use &use) const {
    for (std::int64_t first = 0; first < count; first += kLanes) {
      const std::int64_t here = smaller<std::int64_t>(kLanes, count - first);
      Vector square[kLanes];
      load_targets(square, map + first, target, here);
      for (std::int64_t j = 0; j < here; ++j) use(first + j, square[j]);
    }
  }

  // kLanes targets from `target` on, each a vector over the targets for one of `count` positions.
  void load_targets(Vector (&square)[kLanes], const float *map, std::int64_t target, std::int64_t count) const {
    if (target + kLanes <= g.width && count == kLanes) {
      for (std::int64_t i = 0; i < kLanes; ++i) square[i] = load(map + (target + i) * g.area);
    } else {
      for (std::int64_t i = 0; i < kLanes; ++i) {
        square[i] = target + i < g.width ? load_window(map + (target + i) * g.area, 0, count) : Vector{};
      }
    }
    transpose(square);
  }
};

// Pieces of about this many floats of output.
inline std::int64_t grain(std::int64_t floats_per_task) { return 16384 / (floats_per_task + 1) + 1; }

template <typename Distribute>
mluOpStatus_t run_distribute(const char *function, const Distribute &distribute, bool stream) {
  const std::int64_t slots = useful_slots(distribute.tasks(), distribute.values());
  const std::int64_t slot_size = Sheet::size(distribute.sheet_lines());
  const Scratch<float> sheets(slots * slot_size);
  if (sheets.data() == nullptr) return out_of_memory(function);
  parallel_slots(distribute.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    distribute.run(Sheet(sheets.data() + slot * slot_size, distribute.sheet_lines(), stream), task);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t psamask_forward(const PsamaskForwardProblem &problem) {
  const Map g(problem.geometry);
  const bool stream = takes(g.batches * g.area * g.area, streaming_bytes());
  if (g.type == PsaType::kDistribute) {
    return run_distribute("mluOpPsamaskForward", DistributeForward(g, problem, stream), stream);
  }
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (stream) {
      collect_forward<StreamSink>(g, problem, begin, end);
    } else {
      collect_forward<DirectSink>(g, problem, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.area), collect);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t psamask_backward(const PsamaskBackwardProblem &problem) {
  const Map g(problem.geometry);
  const bool stream = takes(g.batches * g.area * g.cells, streaming_bytes());
  if (g.type == PsaType::kDistribute) {
    return run_distribute("mluOpPsamaskBackward", DistributeBackward{g, problem, !stream}, stream);
  }
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (stream) {
      collect_backward<StreamSink>(g, problem, begin, end);
    } else {
      collect_backward<DirectSink>(g, problem, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.cells), collect);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_psamask_forward, psamask_forward, PsamaskForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_psamask_backward, psamask_backward, PsamaskBackwardProblem);
