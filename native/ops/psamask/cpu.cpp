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

// Those positions on one axis whose mask reaches `target`: the same with the mask turned around.
inline Range reaching(std::int64_t target, std::int64_t extent, std::int64_t mask, std::int64_t center) {
  return reached(target, extent, mask, mask - 1 - center);
}

// Geometry with what every kernel needs of it.
struct Map : PsamaskGeometry {
  explicit Map(const PsamaskGeometry &geometry)
      : PsamaskGeometry(geometry),
        area(height * width),
        cells(mask_h * mask_w),
        up(center_h()),
        left(center_w()) {}

  Range rows_reached(std::int64_t h) const { return reached(h, height, mask_h, up); }
  Range columns_reached(std::int64_t w) const { return reached(w, width, mask_w, left); }

  std::int64_t area, cells, up, left;
};

// Lines of the map of `collect`, each from the mask of one position.
template <typename Sink>
void collect_forward(const Map &g, const PsamaskForwardProblem &problem, std::int64_t begin, std::int64_t end) {
  Sink sink(problem.map + begin * g.area);
  for (std::int64_t position = begin; position < end; ++position) {
    const std::int64_t h = position / g.width % g.height, w = position % g.width;
    const float *mask = problem.mask + position * g.cells;
    const Range rows = g.rows_reached(h), columns = g.columns_reached(w);
    sink.zeros(rows.begin * g.width);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      sink.zeros(columns.begin);
      sink.values(mask + (row - h + g.up) * g.mask_w + columns.begin - w + g.left, columns.count());
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

// The next pieces of lines of the result, side by side, until they are long enough to be written.
class Sheet {
 public:
  static constexpr std::int64_t kWidth = 256;
  // Whole vectors are stored, so a line has room for more than it is wide.
  static constexpr std::int64_t kStride = kWidth + 2 * kLanes;

  Sheet(float *lines, bool stream) : lines_(lines), stream_(stream) {}
  float *line(std::int64_t i) const { return lines_ + i * kStride; }

  // Writes the first `width` floats of `count` lines, which are `stride` apart in memory.
  void write(float *to, std::int64_t stride, std::int64_t count, std::int64_t width) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (stream_) {
        stream_bytes(to + i * stride, line(i), static_cast<std::size_t>(width) * sizeof(float));
      } else {
        copy_floats(to + i * stride, line(i), width);
      }
    }
  }

  void finish() const {
    if (stream_) finish_stream();
  }

 private:
  float *const lines_;
  const bool stream_;
};

// Lines of the map of `distribute`: those of all targets in one row of the map.
struct DistributeForward {
  const Map &g;
  const PsamaskForwardProblem &problem;

  std::int64_t tasks() const { return g.batches * g.height; }
  std::int64_t sheet_lines() const { return (g.width + kLanes - 1) / kLanes * kLanes; }

  // Sheets of rows of positions that fit side by side, or of parts of a row that does not.
  void run(const Sheet &sheet, std::int64_t task) const {
    const std::int64_t batch = task / g.height, row = task % g.height;
    float *map = problem.map + (batch * g.area + row * g.width) * g.area;
    const std::int64_t rows_at_once = larger<std::int64_t>(Sheet::kWidth / g.width, 1);
    for (std::int64_t h = 0; h < g.height; h += rows_at_once) {
      const Range rows{h, smaller(h + rows_at_once, g.height)};
      for (std::int64_t w = 0; w < g.width; w += Sheet::kWidth) {
        const Range columns{w, smaller(w + Sheet::kWidth, g.width)};
        fill(sheet, batch, row, rows, columns);
        sheet.write(map + h * g.width + w, g.area, g.width, rows.count() * columns.count());
      }
    }
    sheet.finish();
  }

  // What the positions rows x columns give to the targets of `row`.
  void fill(const Sheet &sheet, std::int64_t batch, std::int64_t row, const Range &rows, const Range &columns) const {
    const Range giving = reaching(row, g.height, g.mask_h, g.up);
    std::int64_t at = 0;
    for (std::int64_t h = rows.begin; h < rows.end; ++h, at += columns.count()) {
      if (h < giving.begin || h >= giving.end) {
        for (std::int64_t i = 0; i < g.width; ++i) clear_floats(sheet.line(i) + at, columns.count());
        continue;
      }
      const float *mask = problem.mask + (batch * g.height + h) * g.width * g.cells + (row - h + g.up) * g.mask_w;
      for (std::int64_t w = columns.begin; w < columns.end; w += kLanes) {
        ask_for(mask, w + kLanes);
        for (std::int64_t target = 0; target < g.width; target += kLanes) {
          turn(sheet, mask, w, target, at + w - columns.begin);
        }
      }
    }
  }

  // Asks for what the positions from w on will give: each lies too far from the next for the hardware to foresee it. Behind the
  // last position come those of the next row, whose masks are shifted by one row of cells.
  void ask_for(const float *mask, std::int64_t w) const {
#if defined(__GNUC__)
    for (std::int64_t position = w; position < w + kLanes; ++position) {
      const float *from = mask + position * g.cells - (position >= g.width ? g.mask_w : 0);
      const Range columns = g.columns_reached(position % g.width);
      const float *begin = from + columns.begin - position % g.width + g.left;
      for (std::int64_t i = 0; i < columns.count(); i += 16) __builtin_prefetch(begin + i);
    }
#endif
  }

  // kLanes positions from w on times kLanes targets.
  void turn(const Sheet &sheet, const float *mask, std::int64_t w, std::int64_t target, std::int64_t at) const {
    Vector square[kLanes];
    for (std::int64_t j = 0; j < kLanes; ++j) {
      const std::int64_t position = smaller(w + j, g.width - 1);  // what is behind the last column is not written out
      const Range columns = g.columns_reached(position);
      square[j] = load_window(mask + position * g.cells + target - position + g.left, columns.begin - target,
                              columns.end - target);
    }
    transpose(square);
    for (std::int64_t i = 0; i < kLanes; ++i) store(sheet.line(target + i) + at, square[i]);
  }
};

// Masks of all positions in one row of the map, from the map of `distribute`.
struct DistributeBackward {
  const Map &g;
  const PsamaskBackwardProblem &problem;

  std::int64_t tasks() const { return g.batches * g.height; }
  std::int64_t sheet_lines() const { return kLanes; }

  void run(const Sheet &sheet, std::int64_t task) const {
    for (std::int64_t w = 0; w < g.width; w += kLanes) masks(sheet, task / g.height, task % g.height, w);
    sheet.finish();
  }

  // Masks of kLanes positions from w on: sheets of mask rows that fit side by side, or straight into rows that are wider.
  void masks(const Sheet &sheet, std::int64_t batch, std::int64_t h, std::int64_t w) const {
    const std::int64_t count = smaller<std::int64_t>(kLanes, g.width - w);
    float *mask = problem.mask + ((batch * g.height + h) * g.width + w) * g.cells;
    const float *map = problem.map + batch * g.area * g.area + h * g.width + w;
    if (g.mask_w > Sheet::kWidth) {
      for (std::int64_t i = 0; i < g.mask_h; ++i) wide_row(mask + i * g.mask_w, lines_of(map, h, i), w, count);
      return;
    }
    const std::int64_t rows_at_once = Sheet::kWidth / g.mask_w;
    for (std::int64_t i = 0; i < g.mask_h; i += rows_at_once) {
      const std::int64_t rows = smaller(rows_at_once, g.mask_h - i);
      for (std::int64_t row = 0; row < rows; ++row) {
        sheet_row(sheet, row * g.mask_w, lines_of(map, h, i + row), w, count);
      }
      sheet.write(mask + i * g.mask_w, g.cells, count, rows * g.mask_w);
    }
  }

  // Lines of the row of targets that row i of the masks at height h stands for, NULL if it lies outside the map.
  const float *lines_of(const float *map, std::int64_t h, std::int64_t i) const {
    const std::int64_t row = h + i - g.up;
    return row >= 0 && row < g.height ? map + row * g.width * g.area : nullptr;
  }

  // Rows of `count` masks at `at` of the sheet. Whole vectors are written from left to right: what one writes too far, the next
  // one puts right.
  void sheet_row(const Sheet &sheet, std::int64_t at, const float *map, std::int64_t w, std::int64_t count) const {
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t before = map != nullptr ? g.columns_reached(w + j).begin - (w + j) + g.left : g.mask_w;
      clear_floats_loosely(sheet.line(j) + at, before);
    }
    if (map == nullptr) return;
    for (std::int64_t target = 0; target < g.width; target += kLanes) {
      Vector square[kLanes];
      load_targets(square, map, target, count);
      for (std::int64_t j = 0; j < count; ++j) {
        const Range columns = g.columns_reached(w + j);
        if (target >= columns.end) continue;
        float *to = sheet.line(j) + at + target - (w + j) + g.left;
        if (target >= columns.begin) {
          store(to, square[j]);
        } else {
          store_window(to, square[j], columns.begin - target, columns.end - target);
        }
      }
    }
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t past = g.columns_reached(w + j).end - (w + j) + g.left;
      clear_floats_loosely(sheet.line(j) + at + past, g.mask_w - past);
    }
  }

  // The same into masks that lie in memory.
  void wide_row(float *mask, const float *map, std::int64_t w, std::int64_t count) const {
    for (std::int64_t j = 0; j < count; ++j) {
      const Range columns = map != nullptr ? g.columns_reached(w + j) : Range{w + j - g.left, w + j - g.left};
      const std::int64_t before = columns.begin - (w + j) + g.left;
      clear_floats(mask + j * g.cells, before);
      clear_floats(mask + j * g.cells + before + columns.count(), g.mask_w - before - columns.count());
    }
    for (std::int64_t target = 0; map != nullptr && target < g.width; target += kLanes) {
      Vector square[kLanes];
      load_targets(square, map, target, count);
      for (std::int64_t j = 0; j < count; ++j) {
        const Range columns = g.columns_reached(w + j);
        store_window(mask + j * g.cells + target - (w + j) + g.left, square[j], columns.begin - target,
                     columns.end - target);
      }
    }
  }

  // kLanes targets from `target` on, each a vector over the targets for one of `count` positions.
  void load_targets(Vector (&square)[kLanes], const float *map, std::int64_t target, std::int64_t count) const {
    const std::int64_t targets = smaller<std::int64_t>(kLanes, g.width - target);
    for (std::int64_t i = 0; i < kLanes; ++i) {
      square[i] = i < targets ? load_window(map + (target + i) * g.area, 0, count) : Vector{};
    }
    transpose(square);
  }
};

// Pieces of about this many floats of output.
inline std::int64_t grain(std::int64_t floats_per_task) { return 16384 / (floats_per_task + 1) + 1; }

template <typename Distribute>
mluOpStatus_t run_distribute(const char *function, const Distribute &distribute, bool stream) {
  const std::int64_t slots = useful_slots(distribute.tasks());
  const std::int64_t slot_size = distribute.sheet_lines() * Sheet::kStride;
  const Scratch<float> sheets(slots * slot_size);
  if (sheets.data() == nullptr) return fail(MLUOP_STATUS_ALLOC_FAILED, function, "out of memory");
  parallel_slots(distribute.tasks(), slots, [&](std::int64_t slot, std::int64_t task) {
    distribute.run(Sheet(sheets.data() + slot * slot_size, stream), task);
  });
  return MLUOP_STATUS_SUCCESS;
}

inline bool streams(std::int64_t floats) {
  return floats * static_cast<std::int64_t>(sizeof(float)) >= streaming_bytes();
}

}  // namespace

mluOpStatus_t psamask_forward(const PsamaskForwardProblem &problem) {
  const Map g(problem.geometry);
  const bool stream = streams(g.batches * g.area * g.area);
  if (g.type == PsaType::kDistribute) {
    return run_distribute("mluOpPsamaskForward", DistributeForward{g, problem}, stream);
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
  const bool stream = streams(g.batches * g.area * g.cells);
  if (g.type == PsaType::kDistribute) {
    return run_distribute("mluOpPsamaskBackward", DistributeBackward{g, problem}, stream);
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
