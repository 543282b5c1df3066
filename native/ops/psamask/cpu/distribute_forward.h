// Distribute, forward: the map from the masks.
#ifndef MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_FORWARD_H_
#define MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_FORWARD_H_

#include "ops/psamask/cpu/map.h"
#include "ops/psamask/cpu/prefetcher.h"
#include "ops/psamask/cpu/write_combining_buffer.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Half-open ranges of rows and of columns of the map.
struct Block {
  Range rows;
  Range columns;
};

// Prefetches the source runs of a block for some rows of targets: one run per position.
class SourceRuns {
 public:
  SourceRuns(const Map &g, const float *masks, std::int64_t batch, const Range &targets, const Block &block)
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

  [[gnu::always_inline]] void prefetch_next() {
    const std::int64_t first = larger<std::int64_t>(first_, 0);
    prefetch<0, 2>(masks_, at_ + first, rest_ + smaller(first_ + mask_w_, width_) - first);
    --left_;
    at_ += step_;
    if (++first_ < last_) return;
    ++h_;
    begin_row();
  }

 private:
  // Not inline: the caller is a hot loop.
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
  // The first column that a mask reaches, for the next position and after the last one; columns may
  // lie outside the map.
  std::int64_t first_, last_;
  std::int64_t width_, mask_w_, step_;
  std::int64_t at_;    // place of the map's first column in the next position's mask
  std::int64_t rest_;  // from the first reached row to the last
};

// Lines of the map of distribute. A task has one row of targets, or several short ones, and
// processes positions in blocks whose buffers stay in L1 and L2. If the result stays in the caches,
// short pieces are cheap: a task has one row of targets, and squares are written directly.
struct DistributeForward {
  DistributeForward(const Map &map, const PsamaskForwardProblem &of, bool nontemporal)
      : g(map),
        problem(of),
        direct(!nontemporal && g.width >= kLanes),
        prefetches(g.masks_in_memory()),
        row_lines(direct ? g.width : squares(g.width) * kLanes),
        target_rows(direct ? 1 : rows_of(kTargets)),
        position_rows(rows_of(kBufferWidth + g.width / 2)),
        position_columns(part_of(g.width, kBufferWidth)),
        row_tasks((g.height + target_rows - 1) / target_rows) {}

  std::int64_t tasks() const { return g.batches * row_tasks; }
  std::int64_t buffer_lines() const { return direct ? 0 : target_rows * row_lines; }
  std::int64_t buffer_width() const { return position_rows * position_columns; }
  std::int64_t values() const { return target_rows * g.width * g.area; }

  void run(const WriteCombiningBuffer &buffer, std::int64_t task) const {
    if (direct) return run_direct(task);
    const std::int64_t batch = task / row_tasks;
    const Range targets = targets_of(task);
    const Range reaching = reaching_rows(targets);
    if (!start(buffer, batch, targets, reaching.begin * g.width)) return;
    InterruptPoll poll;
    for (Block block = first_block(reaching), next; block.rows.begin < reaching.end; block = next) {
      if (poll.interrupted(targets.count() * g.width * buffer_width())) return;
      next = block_after(block, reaching);
      Prefetcher<SourceRuns> prefetcher(runs_of(task, targets, next.rows.begin < reaching.end ? &next : nullptr));
      if (prefetches) prefetcher.schedule(prefetcher.left() / 2, steps(targets, block));
      for (std::int64_t h = block.rows.begin; h < block.rows.end; ++h) {
        fill(buffer, batch, targets, h, block.columns, (h - block.rows.begin) * g.width, prefetcher);
      }
      if (prefetches) prefetcher.schedule(prefetcher.left(), targets.count() * g.width);
      write(buffer, batch, targets, block, prefetcher);
    }
    finish(buffer, batch, targets, (g.height - reaching.end) * g.width);
  }

 private:
  // Approximate number of positions of a block.
  static constexpr std::int64_t kBufferWidth = 192;

  // Targets of a task: enough that the values read from one mask outweigh the jump to the next.
  static constexpr std::int64_t kTargets = 64;

  // Prefetch distance in rows of positions when squares are written directly.
  static constexpr std::int64_t kRowsAhead = 2;

  std::int64_t rows_of(std::int64_t values) const {
    return smaller(larger<std::int64_t>(values / g.width, 1), g.height);
  }

  // Length of the parts if `whole` is divided into the fewest even parts of at most `most`.
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

  // Rows of positions that reach any of the targets.
  Range reaching_rows(const Range &targets) const {
    return Range{larger<std::int64_t>(targets.begin + g.up - g.mask_h + 1, 0), smaller(targets.end + g.up, g.height)};
  }

  // Rows of positions that fit into a buffer together, or a part of one row.
  Block first_block(const Range &rows) const {
    return Block{{rows.begin, smaller(rows.begin + position_rows, rows.end)}, {0, position_columns}};
  }

  // The one after that, whose rows begin where `rows` end if there is none.
  Block block_after(const Block &block, const Range &rows) const {
    if (block.columns.end == g.width) return first_block(Range{block.rows.end, rows.end});
    return Block{block.rows, {block.columns.end, smaller(block.columns.end + position_columns, g.width)}};
  }

  // The next reads: for the next block, or for the first one of the next task, which the same
  // thread is likely to get.
  SourceRuns runs_of(std::int64_t task, const Range &targets, const Block *next) const {
    if (next != nullptr) return SourceRuns(g, problem.mask, task / row_tasks, targets, *next);
    const std::int64_t then = smaller(task + 1, tasks() - 1);
    const Range then_targets = targets_of(then);
    return SourceRuns(g, problem.mask, then / row_tasks, then_targets, first_block(reaching_rows(then_targets)));
  }

  // Upper bound of the squares of a block for some rows of targets.
  std::int64_t steps(const Range &targets, const Block &block) const {
    return targets.count() * squares(g.width) * block.rows.count() * squares(block.columns.count());
  }

  // The same with direct stores.
  void run_direct(std::int64_t task) const {
    const std::int64_t batch = task / row_tasks;
    const Range targets = targets_of(task), reaching = reaching_rows(targets);
    const WriteCombiningBuffer view = WriteCombiningBuffer::view(line_of(batch, targets.begin), g.area);
    // Step from row to row of positions, and jump from the end of the last row to the first row of
    // the next task.
    const std::int64_t step = g.width * g.cells - g.mask_w;
    const std::int64_t jump = first_place(smaller(task + 1, tasks() - 1)) - place(batch, reaching.end, targets.begin);
    start(view, batch, targets, reaching.begin * g.width);
    InterruptPoll poll;
    for (std::int64_t h = reaching.begin; h < reaching.end && !poll.interrupted(g.width * g.width); ++h) {
      SquarePrefetcher prefetcher(kRowsAhead * step + (h + kRowsAhead < reaching.end ? 0 : jump));
      fill(view, batch, targets, h, Range{0, g.width}, h * g.width, prefetcher);
    }
    finish(view, batch, targets, (g.height - reaching.end) * g.width);
  }

  // Offset in the masks of the row of cells of the first position of row h for the targets in row
  // `row`.
  std::int64_t place(std::int64_t batch, std::int64_t h, std::int64_t row) const {
    return (batch * g.height + h) * g.width * g.cells + (row - h + g.up) * g.mask_w;
  }

  // The same for the first row of positions that reach the targets of a task.
  std::int64_t first_place(std::int64_t task) const {
    const Range targets = targets_of(task);
    return place(task / row_tasks, reaching_rows(targets).begin, targets.begin);
  }

  // Starts the lines of some targets with zeros, for positions that do not reach them. False if
  // interrupted: then the buffer and the lines are out of step, and nothing more may be written.
  bool start(const WriteCombiningBuffer &buffer, std::int64_t batch, const Range &targets, std::int64_t zeros) const {
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row);
      buffer.start(line, map, g.area, g.width);
      InterruptPoll poll;
      for (std::int64_t i = 0; zeros > 0 && i < g.width; ++i) {
        if (poll.interrupted(zeros)) return false;
        buffer.write_zeros(line + i, map + i * g.area, zeros, false);
      }
    }
    return true;
  }

  // Writes the values of a block for some targets.
  void write(const WriteCombiningBuffer &buffer, std::int64_t batch, const Range &targets, const Block &block,
             Prefetcher<SourceRuns> &prefetcher) const {
    const std::int64_t at = block.rows.begin * g.width + block.columns.begin;
    const std::int64_t width = block.rows.count() * block.columns.count();
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row) + at;
      for (std::int64_t i = 0; i < g.width; ++i) {
        prefetcher.step();
        buffer.write(line + i, map + i * g.area, width, at + width == g.area);
      }
    }
  }

  // Ends the lines of some targets with zeros, for positions that do not reach them.
  void finish(const WriteCombiningBuffer &buffer, std::int64_t batch, const Range &targets, std::int64_t zeros) const {
    for (std::int64_t row = targets.begin; zeros > 0 && row < targets.end; ++row) {
      const std::int64_t line = (row - targets.begin) * row_lines;
      float *map = line_of(batch, row) + g.area - zeros;
      InterruptPoll poll;
      for (std::int64_t i = 0; i < g.width && !poll.interrupted(zeros); ++i) {
        buffer.write_zeros(line + i, map + i * g.area, zeros, true);
      }
    }
    buffer.finish();
  }

  // Writes the values of positions (h, columns) for the rows `targets` at `at` of the buffer's
  // lines.
  template <typename Requests>
  void fill(const WriteCombiningBuffer &shared, std::int64_t batch, const Range &targets, std::int64_t h,
            const Range &columns, std::int64_t at, Requests &shared_prefetcher) const {
    // Local copies, because vector stores may alias the originals.
    const WriteCombiningBuffer buffer = shared;
    const Map g = this->g;
    Requests prefetcher = shared_prefetcher;
    const Range reached_rows = g.rows_reached(h);
    const float *mask = problem.mask + place(batch, h, 0);
    const Range given{larger(targets.begin, reached_rows.begin), smaller(targets.end, reached_rows.end)};
    for (std::int64_t row = targets.begin; row < targets.end; ++row) {
      if (row >= given.begin && row < given.end) continue;
      const std::int64_t line = (row - targets.begin) * row_lines;
      for (std::int64_t i = 0; i < g.width; ++i) clear_floats(buffer.line(line + i) + at, columns.count());
    }
    InterruptPoll poll;
    for (Tiles<> w(columns); w.more() && !poll.interrupted(given.count() * g.width * kLanes); w.next()) {
      // Targets that all of these positions reach; none if there are too few positions.
      const Range all{g.columns_reached(smaller(w.at() + kLanes, g.width) - 1).begin,
                      w.at() + kLanes <= g.width ? g.columns_reached(w.at()).end : 0};
      const std::int64_t across = at + w.at() - columns.begin;
      for (std::int64_t row = given.begin; row < given.end; ++row) {
        const float *cells = mask + row * g.mask_w + w.at() * (g.cells - 1) + g.left;
        const std::int64_t line = (row - targets.begin) * row_lines;
        for (Tiles<> target(Range{0, g.width}); target.more(); target.next()) {
          Vector square[kLanes];
          if (target.at() >= all.begin && target.at() + kLanes <= all.end) {
            load_square(square, cells + target.at(), g.cells - 1);
          } else {
            load_edge(square, cells + target.at(), w.at(), target.at());
          }
          prefetcher.on_transpose(cells + target.at(), g.cells - 1);
          transpose(square);
          store_square(buffer.line(line + target.at()) + across, buffer.stride(), square);
        }
      }
    }
    shared_prefetcher = prefetcher;
  }

  // A partial square: `cells` are the values of position w for a target.
  [[gnu::always_inline]] void load_edge(Vector (&square)[kLanes], const float *cells, std::int64_t w,
                                        std::int64_t target) const {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      const std::int64_t position = smaller(w + j, g.width - 1);  // positions after the last column are not written
      const Range columns = g.columns_reached(position);
      square[j] = load_window(cells + (position - w) * (g.cells - 1), columns.begin - target, columns.end - target);
    }
  }

  const Map &g;
  const PsamaskForwardProblem &problem;
  const bool direct;                                   // whole squares are written directly into the result
  const bool prefetches;                               // whether to prefetch the masks
  const std::int64_t row_lines;                        // buffer lines for one row of targets
  const std::int64_t target_rows;                      // of a task
  const std::int64_t position_rows, position_columns;  // of a block
  const std::int64_t row_tasks;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_DISTRIBUTE_FORWARD_H_
