// Psamask on the CPU. Every line of the result is written once, zeros and data together, in the order of memory; results too
// large for the caches are written past them.
//
// Collect moves runs that stay contiguous. Distribute is its transpose between positions and targets: squares of it are turned in
// registers, and put together in a small sheet so that lines of the result are written in long pieces.
#include <iterator>

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
  Range moved(std::int64_t by) const { return Range{begin + by, end + by}; }
};

// Those targets on one axis that the mask of `position` reaches. The centre is a cell of the mask, so the position itself is
// always among them.
inline Range reached(std::int64_t position, std::int64_t extent, std::int64_t mask, std::int64_t center) {
  return Range{larger<std::int64_t>(position - center, 0), smaller(position - center + mask, extent)};
}

// How many squares side by side have room for so many values.
inline std::int64_t squares(std::int64_t count) { return (count + kLanes - 1) / kLanes; }

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

  bool map_in_memory() const { return takes(batches * area * area, last_cache_bytes() / 2); }

  std::int64_t area, cells, up, left;
};

// Goes through positions one by one, over all batches.
struct Position {
  Position(const Map &g, std::int64_t index) : index(index), h(index / g.width % g.height), w(index % g.width) {}

  void next(const Map &g) {
    ++index;
    if (++w < g.width) return;
    w = 0;
    if (++h == g.height) h = 0;
  }

  std::int64_t index, h, w;
};

// A line of the result of `collect` in rows: a window of values and zeros around it.
struct Line {
  std::int64_t height, width;
  Range rows, columns;  // of the window
  const float *values;  // of its first row
  std::int64_t stride;  // from row to row of them
};

// Lines of the map, each from the mask of one position.
struct CollectForward {
  const Map &g;
  const PsamaskForwardProblem &problem;

  std::int64_t line_size() const { return g.area; }
  std::int64_t line_width() const { return g.width; }
  float *result() const { return problem.map; }
  const float *values() const { return problem.mask; }
  std::int64_t values_count() const { return g.batches * g.area * g.cells; }

  // How far what a later position has there lies from what a position has.
  std::int64_t ahead() const { return 3 * (g.cells - 1); }

  Line line(const Position &at) const {
    const Range rows = g.rows_reached(at.h), columns = g.columns_reached(at.w);
    const float *mask = problem.mask + at.index * g.cells;
    const float *values = mask + (rows.begin - at.h + g.up) * g.mask_w + columns.begin - at.w + g.left;
    return Line{g.height, g.width, rows, columns, values, g.mask_w};
  }
};

// Masks, each from the line of the map of one position.
struct CollectBackward {
  const Map &g;
  const PsamaskBackwardProblem &problem;

  std::int64_t line_size() const { return g.cells; }
  std::int64_t line_width() const { return g.mask_w; }
  float *result() const { return problem.mask; }
  const float *values() const { return problem.map; }
  std::int64_t values_count() const { return g.batches * g.area * g.area; }
  std::int64_t ahead() const { return 3 * g.area; }

  Line line(const Position &at) const {
    const Range rows = g.rows_reached(at.h), columns = g.columns_reached(at.w);
    const float *values = problem.map + at.index * g.area + rows.begin * g.width + columns.begin;
    return Line{g.mask_h, g.mask_w, rows.moved(g.up - at.h), columns.moved(g.left - at.w), values, g.width};
  }
};

// Rows that are few vectors long, values and zeros together: in straight code, so that many of them are on their way at once. What is
// read beside the window exists, and becomes zeros. The last vector of a row may overlap the one before it.
template <int kVectors, bool kAsks>
void write_short_rows(const Line line, std::int64_t ahead, float *to) {
  const std::int64_t last = line.width - kLanes;
  UnsignedVector inside[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t at = v < kVectors - 1 ? v * kLanes : last;
    inside[v] = window_bits(line.columns.begin - at, line.columns.end - at);
  }
  const float *from = line.values - line.columns.begin;
  for (std::int64_t row = line.rows.begin; row < line.rows.end; ++row, from += line.stride, to += line.width) {
    if (kAsks) ask_for<0, 2>(from + line.columns.begin, ahead, line.columns.count());
#pragma GCC unroll 8
    for (int v = 0; v < kVectors - 1; ++v) store(to + v * kLanes, masked(load(from + v * kLanes), inside[v]));
    store(to + last, masked(load(from + last), inside[kVectors - 1]));
  }
}

constexpr int kShortRow = 8;  // vectors

// Zeros for `count` rows that are kVectors long and begin `stride` apart, in straight code as well.
template <int kVectors>
void clear_rows(float *to, std::int64_t stride, std::int64_t count, std::int64_t width) {
  for (std::int64_t i = 0; i < count; ++i, to += stride) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors - 1; ++v) store(to + v * kLanes, Vector{});
    store(to + width - kLanes, Vector{});
  }
}

typedef void ClearRows(float *, std::int64_t, std::int64_t, std::int64_t);

// For rows of 1, 2 and more vectors.
constexpr ClearRows *kClearRows[] = {clear_rows<1>,  clear_rows<2>,  clear_rows<3>,  clear_rows<4>,  clear_rows<5>,
                                     clear_rows<6>,  clear_rows<7>,  clear_rows<8>,  clear_rows<9>,  clear_rows<10>,
                                     clear_rows<11>, clear_rows<12>, clear_rows<13>, clear_rows<14>, clear_rows<15>,
                                     clear_rows<16>, clear_rows<17>, clear_rows<18>, clear_rows<19>, clear_rows<20>};

template <typename Sink, bool kAsks>
[[gnu::always_inline]] inline void write_line(const Line &line, std::int64_t ahead, Sink *sink) {
  sink->zeros(line.rows.begin * line.width);
  const float *run = line.values;
  for (std::int64_t row = line.rows.begin; row < line.rows.end; ++row, run += line.stride) {
    if (kAsks) ask_for<0, 2>(run, ahead, line.columns.count());
    sink->zeros(line.columns.begin);
    sink->values(run, line.columns.count());
    sink->zeros(line.width - line.columns.end);
  }
  sink->zeros((line.height - line.rows.end) * line.width);
}

// Lines past the caches.
template <bool kAsks, typename Collect>
[[gnu::flatten]] void collect_past_caches(const Collect &collect, std::int64_t begin, std::int64_t end) {
  StreamSink sink(collect.result() + begin * collect.line_size());
  for (Position at(collect.g, begin); at.index < end; at.next(collect.g)) {
    write_line<StreamSink, kAsks>(collect.line(at), collect.ahead(), &sink);
  }
  sink.finish();
}

// Lines that stay in the caches. Their rows are kVectors long; of any length if that is 0.
template <int kVectors, bool kAsks, typename Collect>
[[gnu::flatten]] void write_lines(const Collect &collect, std::int64_t begin, std::int64_t end) {
  const float *const values = collect.values(), *const values_end = values + collect.values_count();
  for (Position at(collect.g, begin); at.index < end; at.next(collect.g)) {
    const Line line = collect.line(at);
    float *const to = collect.result() + at.index * collect.line_size();
    const float *const first = line.values - line.columns.begin;
    const float *const behind = first + (line.rows.count() - 1) * line.stride + line.width;
    if constexpr (kVectors > 0) {
      if (first >= values && behind <= values_end) {
        clear_floats(to, line.rows.begin * line.width);
        write_short_rows<kVectors, kAsks>(line, collect.ahead(), to + line.rows.begin * line.width);
        clear_floats(to + line.rows.end * line.width, (line.height - line.rows.end) * line.width);
        continue;
      }
    }
    DirectSink sink(to);
    write_line<DirectSink, kAsks>(line, collect.ahead(), &sink);
  }
}

template <bool kAsks, int kVectors = kShortRow, typename Collect>
void collect_into_caches(const Collect &collect, std::int64_t begin, std::int64_t end) {
  const std::int64_t vectors = collect.line_width() < kLanes ? 0 : squares(collect.line_width());
  if constexpr (kVectors > 0) {
    if (vectors < kVectors) return collect_into_caches<kAsks, kVectors - 1>(collect, begin, end);
    if (vectors == kVectors) return write_lines<kVectors, kAsks>(collect, begin, end);
  }
  write_lines<0, kAsks>(collect, begin, end);
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
// whole cache lines are written: what is left of a piece stays in front of the next one. Of a result that stays in the caches a sheet
// may also be a view.
class Sheet {
 public:
  // Floats of memory that `lines` with pieces of `width` take.
  static std::int64_t size(std::int64_t lines, std::int64_t width) { return lines * (stride_of(width) + 2); }

  Sheet(float *memory, std::int64_t lines, std::int64_t width, bool stream)
      : left_(reinterpret_cast<std::int32_t *>(memory + lines * stride_of(width))),
        skipped_(left_ + lines),
        lines_(memory + kFloatsPerLine),
        stride_(stride_of(width)),
        stream_(stream) {}

  // A view of lines that start at `lines`, `stride` apart.
  static Sheet view(float *lines, std::int64_t stride) { return Sheet(lines, stride); }

  // `count` lines from `first` on start at `to`, `stride` apart in memory.
  void start(std::int64_t first, const float *to, std::int64_t stride, std::int64_t count) const {
    for (std::int64_t i = first; stream_ && i < first + count; ++i, to += stride) {
      left_[i] = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % kFloatsPerLine);
      skipped_[i] = left_[i];
    }
  }

  // Where the next piece of a line goes.
  float *line(std::int64_t i) const { return lines_ + i * stride_; }
  std::int64_t stride() const { return stride_; }

  // Writes the next `width` floats of a line to memory. Not of a view.
  void write(std::int64_t i, float *to, std::int64_t width, bool is_last) const {
    if (stream_) {
      write_past_caches(i, to, width, is_last);
    } else {
      copy_row(to, line(i), width);
    }
  }

  // Writes zeros, however many they are.
  void write_zeros(std::int64_t i, float *to, std::int64_t count, bool is_last) const {
    constexpr std::int64_t kMost = kFloatsPerLine;
    if (!stream_) {
      clear_floats(to, count);
      return;
    }
    // Up to the end of a cache line, with what is left in front of them; if they go on behind it, nothing is left or skipped.
    const std::int64_t head = smaller((kMost - left_[i]) % kMost, count);
    clear_floats(line(i), kMost);
    if (head > 0) write_past_caches(i, to, head, is_last && head == count);
    if (head == count) return;
    const std::int64_t all = count - head, whole = is_last ? all : all / kMost * kMost;
    stream_byte(to + head, 0, static_cast<std::size_t>(whole) * sizeof(float));
    clear_floats(line(i) - kMost, kMost);
    left_[i] = static_cast<std::int32_t>(all - whole);
  }

  void finish() const {
    if (stream_) finish_stream();
  }

 private:
  Sheet(float *lines, std::int64_t stride)
      : left_(nullptr), skipped_(nullptr), lines_(lines), stride_(stride), stream_(false) {}

  // A line has room for what is left in front of it, and whole vectors are stored.
  static std::int64_t stride_of(std::int64_t width) { return kFloatsPerLine + width + 2 * kLanes; }

  [[gnu::always_inline]] void write_past_caches(std::int64_t i, float *to, std::int64_t width, bool is_last) const {
    float *const piece = line(i);
    const std::int64_t left = left_[i], skipped = skipped_[i], all = left + width;
    const std::int64_t whole = is_last ? all : all / kFloatsPerLine * kFloatsPerLine;
    const float *from = piece - left;
    to -= left;
    if (skipped == 0 && !is_last) {
      for (const float *const end = from + whole; from != end; from += kFloatsPerLine, to += kFloatsPerLine) {
        stream_line(reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from));
      }
    } else if (whole > 0) {
      stream_bytes(to + skipped, from + skipped, static_cast<std::size_t>(whole - skipped) * sizeof(float));
      skipped_[i] = 0;
    }
    copy_row(piece - kFloatsPerLine, piece + width - kFloatsPerLine, kFloatsPerLine);
    left_[i] = static_cast<std::int32_t>(all - whole);
  }

  std::int32_t *left_;     // floats of each line that wait in front of its piece
  std::int32_t *skipped_;  // the first of them that are not ours, but before the line in memory
  float *lines_;
  std::int64_t stride_;
  bool stream_;
};

// Half-open ranges of rows and of columns of the map.
struct Block {
  Range rows;
  Range columns;
};

// Asks for what will be read soon, run by run: each lies too far from the next for the hardware to foresee it. Requests are dealt out to
// the steps of the work that goes on meanwhile, since many at once have to wait.
template <typename Runs>
class Ahead {
 public:
  explicit Ahead(const Runs &runs) : runs_(runs) {}

  std::int64_t left() const { return runs_.left(); }

  // `requests` of those that are left belong to the next `steps`.
  void deal(std::int64_t requests, std::int64_t steps) {
    requests_ = requests;
    steps_ = steps;
    due_ = 0;
  }

  [[gnu::always_inline]] void step() {
    for (due_ += requests_; due_ >= steps_; due_ -= steps_) runs_.ask();
  }

 private:
  Runs runs_;
  std::int64_t requests_ = 0, steps_ = 1, due_ = 0;
};

// Where all comes from the caches.
struct NothingAhead {
  void step() const {}
};

// What the positions of a block, which all reach some rows of targets, give to them; of one position, all of it is a run.
class GivenRuns {
 public:
  GivenRuns(const Map &g, const float *masks, std::int64_t batch, const Range &targets, const Block &block)
      : g_(&g),
        masks_(masks),
        targets_(targets),
        columns_(block.columns),
        batch_(batch),
        h_(block.rows.begin),
        left_(block.rows.count() * block.columns.count()) {
    begin_row();
  }

  std::int64_t left() const { return left_; }

  [[gnu::always_inline]] void ask() {
    const std::int64_t first = larger<std::int64_t>(first_, 0);
    ask_for<0, 2>(masks_, at_ + first, rest_ + smaller(first_ + mask_w_, width_) - first);
    --left_;
    at_ += step_;
    if (++first_ < last_) return;
    ++h_;
    begin_row();
  }

 private:
  // Not inline, because what asks is in the middle of other work.
  [[gnu::noinline]] void begin_row() {
    const Range rows = g_->rows_reached(h_);
    const Range given{larger(targets_.begin, rows.begin), smaller(targets_.end, rows.end)};
    first_ = columns_.begin - g_->left;
    last_ = columns_.end - g_->left;
    width_ = g_->width;
    mask_w_ = g_->mask_w;
    step_ = g_->cells - 1;
    at_ = ((batch_ * g_->height + h_) * width_ + columns_.begin) * g_->cells + (given.begin - h_ + g_->up) * mask_w_ -
          first_;
    rest_ = (given.count() - 1) * mask_w_;
  }

  const Map *g_;
  const float *masks_;
  Range targets_, columns_;
  std::int64_t batch_, h_, left_;
  // The first column that a mask reaches if the map goes on to the left, for the next position and behind the last one.
  std::int64_t first_, last_;
  std::int64_t width_, mask_w_, step_;
  std::int64_t at_;    // where the next position's mask has the map's first column
  std::int64_t rest_;  // from its first reached row to its last
};

// Lines of the map of `distribute`. A task has the targets in a row of the map, or in several that are short, and goes through the
// positions in blocks that are small enough for their sheet to stay in the near caches. Where the result stays in the caches, so that
// pieces of its lines cost little, a task has one row of targets, and squares are written where they belong.
struct DistributeForward {
  DistributeForward(const Map &map, const PsamaskForwardProblem &of, bool past_caches)
      : g(map),
        problem(of),
        direct(!past_caches && g.width >= kLanes),
        asks(g.masks_in_memory()),
        row_lines(direct ? g.width : squares(g.width) * kLanes),
        target_rows(direct ? 1 : rows_of(kTargets)),
        position_rows(rows_of(kSheetWidth + g.width / 2)),
        position_columns(part_of(g.width, kSheetWidth)),
        row_tasks((g.height + target_rows - 1) / target_rows) {}

  std::int64_t tasks() const { return g.batches * row_tasks; }
  std::int64_t sheet_lines() const { return direct ? 0 : target_rows * row_lines; }
  std::int64_t sheet_width() const { return position_rows * position_columns; }
  std::int64_t values() const { return target_rows * g.width * g.area; }

  void run(const Sheet &sheet, std::int64_t task) const {
    const std::int64_t batch = task / row_tasks;
    const Range targets = targets_of(task);
    if (direct) {
      straight(batch, targets);
      return;
    }
    const Range reaching = reaching_rows(targets);
    start(sheet, batch, targets, reaching.begin * g.width);
    for (Block block = first_block(reaching), next; block.rows.begin < reaching.end; block = next) {
      next = block_after(block, reaching);
      Ahead<GivenRuns> ahead(runs_of(task, targets, next.rows.begin < reaching.end ? &next : nullptr));
      if (asks) ahead.deal(ahead.left() / 2, steps(targets, block));
      for (std::int64_t h = block.rows.begin; h < block.rows.end; ++h) {
        fill(sheet, batch, targets, h, block.columns, (h - block.rows.begin) * g.width, ahead);
      }
      if (asks) ahead.deal(ahead.left(), targets.count() * g.width);
      write(sheet, batch, targets, block, ahead);
    }
    finish(sheet, batch, targets, (g.height - reaching.end) * g.width);
  }

 private:
  // About how many positions a block has.
  static constexpr std::int64_t kSheetWidth = 192;

  // What several short rows of targets read of one mask is long enough to make up for the distance to the next one.
  static constexpr std::int64_t kTargets = 64;

  std::int64_t rows_of(std::int64_t values) const {
    return smaller(larger<std::int64_t>(values / g.width, 1), g.height);
  }

  // How long parts of a whole are that is to be cut into as few as can be, all about as long.
  static std::int64_t part_of(std::int64_t whole, std::int64_t most) {
    const std::int64_t parts = (whole + most - 1) / most;
    return (whole + parts - 1) / parts;
  }

  Range targets_of(std::int64_t task) const {
    const std::int64_t first = task % row_tasks * target_rows;
    return Range{first, smaller(first + target_rows, g.height)};
  }

  // The line of the first target in a row.
  float *line_of(std::int64_t batch, std::int64_t row) const {
    return problem.map + (batch * g.area + row * g.width) * g.area;
  }

  // Those rows of positions that reach one of the targets.
  Range reaching_rows(const Range &targets) const {
    return Range{larger<std::int64_t>(targets.begin + g.up - g.mask_h + 1, 0), smaller(targets.end + g.up, g.height)};
  }

  // Rows of positions that fit into a sheet side by side, or a part of one that does not.
  Block first_block(const Range &rows) const {
    return Block{{rows.begin, smaller(rows.begin + position_rows, rows.end)}, {0, position_columns}};
  }

  // The one after that, whose rows begin where `rows` end if there is none.
  Block block_after(const Block &block, const Range &rows) const {
    if (block.columns.end == g.width) return first_block(Range{block.rows.end, rows.end});
    return Block{block.rows, {block.columns.end, smaller(block.columns.end + position_columns, g.width)}};
  }

  // What will be read next: for the next block, or for the first one of the next task, which the same thread is likely to get.
  GivenRuns runs_of(std::int64_t task, const Range &targets, const Block *next) const {
    if (next != nullptr) return GivenRuns(g, problem.mask, task / row_tasks, targets, *next);
    const std::int64_t then = smaller(task + 1, tasks() - 1);
    const Range then_targets = targets_of(then);
    return GivenRuns(g, problem.mask, then / row_tasks, then_targets, first_block(reaching_rows(then_targets)));
  }

  // At most so many squares have what a block gives to some rows of targets.
  std::int64_t steps(const Range &targets, const Block &block) const {
    return targets.count() * squares(g.width) * block.rows.count() * squares(block.columns.count());
  }

  // The same without a sheet.
  void straight(std::int64_t batch, const Range &targets) const {
    const Range reaching = reaching_rows(targets);
    const Sheet view = Sheet::view(line_of(batch, targets.begin), g.area);
    NothingAhead nothing;
    start(view, batch, targets, reaching.begin * g.width);
    for (std::int64_t h = reaching.begin; h < reaching.end; ++h) {
      fill(view, batch, targets, h, Range{0, g.width}, h * g.width, nothing);
    }
    finish(view, batch, targets, (g.height - reaching.end) * g.width);
  }

  // Begins the lines of some targets, with zeros from positions that do not reach them.
  void start(const Sheet &sheet, std::int64_t batch, const Range &targets, std::int64_t zeros) const {
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row);
      sheet.start(line, map, g.area, g.width);
      for (std::int64_t i = 0; zeros > 0 && i < g.width; ++i)
        sheet.write_zeros(line + i, map + i * g.area, zeros, false);
    }
  }

  // Writes what a block gives to some targets.
  void write(const Sheet &sheet, std::int64_t batch, const Range &targets, const Block &block,
             Ahead<GivenRuns> &ahead) const {
    const std::int64_t at = block.rows.begin * g.width + block.columns.begin;
    const std::int64_t width = block.rows.count() * block.columns.count();
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row) + at;
      for (std::int64_t i = 0; i < g.width; ++i) {
        ahead.step();
        sheet.write(line + i, map + i * g.area, width, at + width == g.area);
      }
    }
  }

  // Ends the lines of some targets, with zeros from positions that do not reach them.
  void finish(const Sheet &sheet, std::int64_t batch, const Range &targets, std::int64_t zeros) const {
    for (std::int64_t row = targets.begin; zeros > 0 && row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row) + g.area - zeros;
      for (std::int64_t i = 0; i < g.width; ++i) sheet.write_zeros(line + i, map + i * g.area, zeros, true);
    }
    sheet.finish();
  }

  // What the positions (h, columns) give to the rows `targets`, at `at` of the lines of the sheet.
  template <typename Requests>
  void fill(const Sheet &shared, std::int64_t batch, const Range &targets, std::int64_t h, const Range &columns,
            std::int64_t at, Requests &shared_ahead) const {
    // Copies, because stores of vectors might change anything that has an address.
    const Sheet sheet = shared;
    const Map g = this->g;
    Requests ahead = shared_ahead;
    const Range reached_rows = g.rows_reached(h);
    const float *mask = problem.mask + (batch * g.height + h) * g.width * g.cells + (g.up - h) * g.mask_w;
    const Range given{larger(targets.begin, reached_rows.begin), smaller(targets.end, reached_rows.end)};
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      if (row >= given.begin && row < given.end) continue;
      const std::int64_t line = (row - targets.begin) * row_lines;
      for (std::int64_t i = 0; i < g.width; ++i) clear_floats(sheet.line(line + i) + at, columns.count());
    }
    for (Tiles<> w(columns); w.more(); w.next()) {
      // Targets that all of these positions reach, none if there are not enough positions.
      const Range all{g.columns_reached(smaller(w.at() + kLanes, g.width) - 1).begin,
                      w.at() + kLanes <= g.width ? g.columns_reached(w.at()).end : 0};
      const std::int64_t across = at + w.at() - columns.begin;
      for (std::int64_t row = given.begin; row < given.end; ++row) {
        const float *cells = mask + row * g.mask_w + w.at() * (g.cells - 1) + g.left;
        const std::int64_t line = (row - targets.begin) * row_lines;
        for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) {
          ahead.step();
          Vector square[kLanes];
          if (target.at() >= all.begin && target.at() + kLanes <= all.end) {
            load_square(square, cells + target.at(), g.cells - 1);
          } else {
            load_edge(square, cells + target.at(), w.at(), target.at());
          }
          transpose(square);
          store_square(sheet.line(line + target.at()) + across, sheet.stride(), square);
        }
      }
    }
    shared_ahead = ahead;
  }

  // A square of which not all values are there: `cells` is what position w has for a target.
  [[gnu::always_inline]] void load_edge(Vector (&square)[kLanes], const float *cells, std::int64_t w,
                                        std::int64_t target) const {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      const std::int64_t position = smaller(w + j, g.width - 1);  // what is behind the last column is not written out
      const Range columns = g.columns_reached(position);
      square[j] = load_window(cells + (position - w) * (g.cells - 1), columns.begin - target, columns.end - target);
    }
  }

  const Map &g;
  const PsamaskForwardProblem &problem;
  const bool direct;  // squares are whole, and are written straight into the result
  const bool asks;
  const std::int64_t row_lines;                        // of the sheet, for the targets of one row
  const std::int64_t target_rows;                      // of a task
  const std::int64_t position_rows, position_columns;  // of a block
  const std::int64_t row_tasks;
};

// The same part of lines of the map that lie one behind another.
struct LineRuns {
  const float *map;
  std::int64_t from, stride, count, lines;

  std::int64_t left() const { return lines; }

  [[gnu::always_inline]] void ask() {
    ask_for<0, 2>(map, from, count);
    from += stride;
    --lines;
  }
};

// Masks of all positions in one row of the map, from the map of `distribute`.
struct DistributeBackward {
  DistributeBackward(const Map &map, const PsamaskBackwardProblem &of, bool past_caches)
      : g(map), problem(of), direct(!past_caches), asks(g.map_in_memory()), clears(clears_of(g.mask_w)) {}

  const Map &g;
  const PsamaskBackwardProblem &problem;
  const bool direct;  // rows are written straight into the result
  const bool asks;
  ClearRows *const clears;  // for rows of cells, NULL if they are too short or too long

  static ClearRows *clears_of(std::int64_t width) {
    const bool fits = width >= kLanes && squares(width) <= static_cast<std::int64_t>(std::size(kClearRows));
    return fits ? kClearRows[squares(width) - 1] : nullptr;
  }

  static constexpr std::int64_t kSheetWidth = 256;

  std::int64_t tasks() const { return g.batches * g.height; }
  std::int64_t sheet_lines() const { return direct || g.mask_w > kSheetWidth ? 0 : smaller(kPositions, g.width); }

  // Room for two rows of cells at least: of shorter pieces, more is what two cache lines share.
  std::int64_t sheet_width() const { return larger(kSheetWidth, 2 * g.mask_w); }

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
    if (g.mask_w > kSheetWidth) {
      for (std::int64_t i = 0; i < g.mask_h; ++i)
        wide_row(mask + i * g.mask_w, lines_of(map, positions.h, i), positions);
      return;
    }
    const std::int64_t rows_at_once = direct ? 1 : sheet_width() / g.mask_w;
    if (!direct) sheet.start(0, mask, g.cells, positions.count);
    for (Range rows{0, rows_at_once}; rows.begin < g.mask_h; rows = Range{rows.end, rows.end + rows_at_once}) {
      rows.end = smaller(rows.end, g.mask_h);
      Ahead<LineRuns> ahead(lines_of(map, positions, Range{rows.end, rows.end + rows_at_once}));
      const std::int64_t steps =
          lines_of(map, positions, rows).left() / g.width * squares(g.width) * squares(positions.count);
      if (asks && steps > 0) ahead.deal(direct ? ahead.left() : ahead.left() / 2, steps);
      if (direct) {
        // What is written too far in a row, the next row puts right.
        const bool loosely = (g.mask_h - rows.end) * g.mask_w >= kLanes;
        sheet_row(Sheet::view(mask + rows.begin * g.mask_w, g.cells), 0, map, rows.begin, positions, loosely, ahead);
        continue;
      }
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        sheet_row(sheet, (i - rows.begin) * g.mask_w, map, i, positions, true, ahead);
      }
      if (asks) ahead.deal(ahead.left(), positions.count);
      for (std::int64_t j = 0; j < positions.count; ++j) {
        ahead.step();
        sheet.write(j, mask + j * g.cells + rows.begin * g.mask_w, rows.count() * g.mask_w, rows.end == g.mask_h);
      }
    }
  }

  // Lines of the row of targets that row i of the masks at height h stands for, NULL if it lies outside the map.
  const float *lines_of(const float *map, std::int64_t h, std::int64_t i) const {
    const std::int64_t row = h + i - g.up;
    return row >= 0 && row < g.height ? map + row * g.width * g.area : nullptr;
  }

  // Those lines of the map that some rows of the masks at these positions are made of.
  LineRuns lines_of(const float *map, const Positions &positions, const Range &rows) const {
    const std::int64_t begin = larger<std::int64_t>(rows.begin + positions.h - g.up, 0);
    const std::int64_t end = smaller(rows.end + positions.h - g.up, g.height);
    return LineRuns{map, begin * g.width * g.area, g.area, positions.count,
                    larger<std::int64_t>(end - begin, 0) * g.width};
  }

  // Row i of the cells of each position, at `at` of its line: zeros first, and over them what is given.
  void sheet_row(const Sheet &shared, std::int64_t at, const float *map, std::int64_t i, const Positions &positions,
                 bool loosely, Ahead<LineRuns> &shared_ahead) const {
    const Sheet sheet = shared;  // stores of vectors might change anything that has an address
    const float *lines = lines_of(map, positions.h, i);
    if (clears != nullptr) {
      clears(sheet.line(0) + at, sheet.stride(), positions.count, g.mask_w);
    } else {
      for (std::int64_t j = 0; j < positions.count; ++j) clear(sheet.line(j) + at, g.mask_w, loosely);
    }
    if (lines == nullptr) return;
    Ahead<LineRuns> ahead = shared_ahead;
    for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) {
      for (std::int64_t first = 0; first < positions.count; first += kLanes) {
        ahead.step();
        const std::int64_t here = smaller<std::int64_t>(kLanes, positions.count - first);
        Vector square[kLanes];
        load_targets(square, lines + first, target.at(), here);
        float *to = sheet.line(first) + at + target.at() - (positions.w + first) + g.left;
        if (here == kLanes && positions.columns[first + kLanes - 1].begin <= target.at() &&
            positions.columns[first].end >= target.at() + kLanes) {
          store_square(to, sheet.stride() - 1, square);
          continue;
        }
        Vector edge
            [kLanes];  // a copy: what is taken by number lies in memory, and the others would have to go there as well
        for (std::int64_t j = 0; j < kLanes; ++j) edge[j] = square[j];
        for (std::int64_t j = 0; j < here; ++j) {
          const Range &columns = positions.columns[first + j];
          store_window(to + j * (sheet.stride() - 1), edge[j], columns.begin - target.at(), columns.end - target.at());
        }
      }
    }
    shared_ahead = ahead;
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
      load_square(square, map + target * g.area, g.area);
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
  const std::int64_t slot_size = Sheet::size(distribute.sheet_lines(), distribute.sheet_width());
  const Scratch<float> sheets(slots * slot_size);
  if (sheets.data() == nullptr) return out_of_memory(function);
  parallel_slots(distribute.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    const Sheet sheet(sheets.data() + slot * slot_size, distribute.sheet_lines(), distribute.sheet_width(), stream);
    distribute.run(sheet, task);
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
  const CollectForward lines{g, problem};
  const bool asks = g.masks_in_memory();
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (stream) {
      collect_past_caches<true>(lines, begin, end);
    } else if (asks) {
      collect_into_caches<true>(lines, begin, end);
    } else {
      collect_into_caches<false>(lines, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.area), collect);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t psamask_backward(const PsamaskBackwardProblem &problem) {
  const Map g(problem.geometry);
  const bool stream = takes(g.batches * g.area * g.cells, streaming_bytes());
  if (g.type == PsaType::kDistribute) {
    return run_distribute("mluOpPsamaskBackward", DistributeBackward(g, problem, stream), stream);
  }
  const CollectBackward lines{g, problem};
  auto collect = [&](std::int64_t begin, std::int64_t end) {
    if (stream) {
      collect_past_caches<false>(lines, begin, end);
    } else {
      collect_into_caches<false>(lines, begin, end);
    }
  };
  parallel_for(g.batches * g.area, grain(g.cells), collect);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_psamask_forward, psamask_forward, PsamaskForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_psamask_backward, psamask_backward, PsamaskBackwardProblem);
