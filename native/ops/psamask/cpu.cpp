// Psamask on the CPU. Every line of the result is written once, zeros and data together, in the order of memory.
//
// Collect moves runs of mask cells that stay contiguous. Distribute is its transpose between positions and targets: there a tile
// of positions times targets is turned in a small buffer, so that reads and writes both stay contiguous.
#include "cpu/kernel.h"
#include "ops/psamask/psamask.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTile = 16;

// Half-open range of indices.
struct Range {
  std::int64_t begin;
  std::int64_t end;
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

inline void copy(float *to, const float *from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

inline void clear(float *to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = 0.0f;
}

// One line of the map of `collect` from the mask of one position.
struct CollectForward {
  const PsamaskForwardProblem &problem;

  void operator()(std::int64_t begin, std::int64_t end) const {
    const PsamaskGeometry &g = problem.geometry;
    for (std::int64_t position = begin; position < end; ++position) {
      line(position / g.width % g.height, position % g.width, problem.mask + position * g.mask_h * g.mask_w,
           problem.map + position * g.height * g.width);
    }
  }

  void line(std::int64_t h, std::int64_t w, const float *mask, float *map) const {
    const PsamaskGeometry &g = problem.geometry;
    const Range rows = reached(h, g.height, g.mask_h, g.center_h());
    const Range columns = reached(w, g.width, g.mask_w, g.center_w());
    clear(map, rows.begin * g.width);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      float *to = map + row * g.width;
      const float *from = mask + (row - h + g.center_h()) * g.mask_w + g.center_w() - w;
      clear(to, columns.begin);
      copy(to + columns.begin, from + columns.begin, columns.end - columns.begin);
      clear(to + columns.end, g.width - columns.end);
    }
    clear(map + rows.end * g.width, (g.height - rows.end) * g.width);
  }
};

// The mask of one position from its line of the map of `collect`.
struct CollectBackward {
  const PsamaskBackwardProblem &problem;

  void operator()(std::int64_t begin, std::int64_t end) const {
    const PsamaskGeometry &g = problem.geometry;
    for (std::int64_t position = begin; position < end; ++position) {
      line(position / g.width % g.height, position % g.width, problem.map + position * g.height * g.width,
           problem.mask + position * g.mask_h * g.mask_w);
    }
  }

  void line(std::int64_t h, std::int64_t w, const float *map, float *mask) const {
    const PsamaskGeometry &g = problem.geometry;
    const Range rows = reached(h, g.height, g.mask_h, g.center_h());
    const Range columns = reached(w, g.width, g.mask_w, g.center_w());
    const std::int64_t first_row = rows.begin - h + g.center_h();
    const std::int64_t first_column = columns.begin - w + g.center_w();
    const std::int64_t count = columns.end - columns.begin;
    clear(mask, first_row * g.mask_w);
    float *to = mask + first_row * g.mask_w;
    for (std::int64_t row = rows.begin; row < rows.end; ++row, to += g.mask_w) {
      clear(to, first_column);
      copy(to + first_column, map + row * g.width + columns.begin, count);
      clear(to + first_column + count, g.mask_w - first_column - count);
    }
    clear(to, (g.mask_h - first_row - (rows.end - rows.begin)) * g.mask_w);
  }
};

// kTile targets of one row against all positions: the lines of `distribute`.
struct DistributeForward {
  const PsamaskForwardProblem &problem;
  std::int64_t tiles;  // along one row of targets

  void operator()(std::int64_t begin, std::int64_t end) const {
    const PsamaskGeometry &g = problem.geometry;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % tiles * kTile;
      lines(task / tiles / g.height, task / tiles % g.height, first, smaller(kTile, g.width - first));
    }
  }

  // Lines of the targets (row, first .. first + count) of one batch.
  void lines(std::int64_t batch, std::int64_t row, std::int64_t first, std::int64_t count) const {
    const PsamaskGeometry &g = problem.geometry;
    const std::int64_t area = g.height * g.width;
    float *map = problem.map + (batch * area + row * g.width + first) * area;
    const Range rows = reaching(row, g.height, g.mask_h, g.center_h());
    for (std::int64_t i = 0; i < count; ++i) {
      clear(map + i * area, rows.begin * g.width);
      clear(map + i * area + rows.end * g.width, (g.height - rows.end) * g.width);
    }
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      const float *mask = problem.mask + ((batch * g.height + h) * g.width) * g.mask_h * g.mask_w +
                          (row - h + g.center_h()) * g.mask_w;
      for (std::int64_t w = 0; w < g.width; w += kTile) {
        turn(mask, w, smaller(kTile, g.width - w), first, count, map + h * g.width + w);
      }
    }
  }

  // A tile of positions w.. (columns of the result) times targets first.. (its lines).
  void turn(const float *mask, std::int64_t w, std::int64_t positions, std::int64_t first, std::int64_t count,
            float *map) const {
    const PsamaskGeometry &g = problem.geometry;
    const std::int64_t cells = g.mask_h * g.mask_w;
    const std::int64_t area = g.height * g.width;
    float tile[kTile][kTile];
    for (std::int64_t j = 0; j < positions; ++j) {
      const Range columns = reached(w + j, g.width, g.mask_w, g.center_w());
      const float *from = mask + (w + j) * cells + g.center_w() - (w + j);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t target = first + i;
        tile[i][j] = target >= columns.begin && target < columns.end ? from[target] : 0.0f;
      }
    }
    for (std::int64_t i = 0; i < count; ++i) copy(map + i * area, tile[i], positions);
  }
};

// The masks of kTile positions of one row from the map of `distribute`.
struct DistributeBackward {
  const PsamaskBackwardProblem &problem;
  std::int64_t tiles;  // along one row of positions

  void operator()(std::int64_t begin, std::int64_t end) const {
    const PsamaskGeometry &g = problem.geometry;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % tiles * kTile;
      masks(task / tiles / g.height, task / tiles % g.height, first, smaller(kTile, g.width - first));
    }
  }

  void masks(std::int64_t batch, std::int64_t h, std::int64_t first, std::int64_t count) const {
    const PsamaskGeometry &g = problem.geometry;
    const std::int64_t area = g.height * g.width;
    const std::int64_t cells = g.mask_h * g.mask_w;
    float *mask = problem.mask + ((batch * g.height + h) * g.width + first) * cells;
    const Range rows = reached(h, g.height, g.mask_h, g.center_h());
    const std::int64_t first_row = rows.begin - h + g.center_h();
    const std::int64_t past_row = first_row + (rows.end - rows.begin);
    for (std::int64_t j = 0; j < count; ++j) {
      clear(mask + j * cells, first_row * g.mask_w);
      clear(mask + j * cells + past_row * g.mask_w, (g.mask_h - past_row) * g.mask_w);
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      // Lines of the targets (row, *), columns of the positions (h, first..).
      const float *map = problem.map + (batch * area + row * g.width) * area + h * g.width + first;
      turn(map, first, count, mask + (row - h + g.center_h()) * g.mask_w);
    }
  }

  void turn(const float *map, std::int64_t first, std::int64_t count, float *mask) const {
    const PsamaskGeometry &g = problem.geometry;
    const std::int64_t cells = g.mask_h * g.mask_w;
    const std::int64_t area = g.height * g.width;
    Range columns[kTile];
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t w = first + j;
      columns[j] = reached(w, g.width, g.mask_w, g.center_w());
      float *to = mask + j * cells;
      clear(to, columns[j].begin - w + g.center_w());
      clear(to + columns[j].end - w + g.center_w(), g.mask_w - (columns[j].end - w + g.center_w()));
    }
    for (std::int64_t target = 0; target < g.width; target += kTile) {
      const std::int64_t targets = smaller(kTile, g.width - target);
      float tile[kTile][kTile];
      for (std::int64_t i = 0; i < targets; ++i) {
        const float *from = map + (target + i) * area;
        for (std::int64_t j = 0; j < count; ++j) tile[j][i] = from[j];
      }
      for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t begin = larger(columns[j].begin, target);
        const std::int64_t end = smaller(columns[j].end, target + targets);
        float *to = mask + j * cells + g.center_w() - (first + j);
        for (std::int64_t t = begin; t < end; ++t) to[t] = tile[j][t - target];
      }
    }
  }
};

// Pieces of about this many floats of output.
inline std::int64_t grain(std::int64_t floats_per_task) { return 16384 / (floats_per_task + 1) + 1; }

}  // namespace

mluOpStatus_t psamask_forward(const PsamaskForwardProblem &problem) {
  const PsamaskGeometry &g = problem.geometry;
  const std::int64_t area = g.height * g.width;
  if (g.type == PsaType::kCollect) {
    CollectForward collect{problem};
    parallel_for(g.batches * area, grain(area), collect);
  } else {
    DistributeForward distribute{problem, (g.width + kTile - 1) / kTile};
    parallel_for(g.batches * g.height * distribute.tiles, grain(area * kTile), distribute);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t psamask_backward(const PsamaskBackwardProblem &problem) {
  const PsamaskGeometry &g = problem.geometry;
  const std::int64_t cells = g.mask_h * g.mask_w;
  if (g.type == PsaType::kCollect) {
    CollectBackward collect{problem};
    parallel_for(g.batches * g.height * g.width, grain(cells), collect);
  } else {
    DistributeBackward distribute{problem, (g.width + kTile - 1) / kTile};
    parallel_for(g.batches * g.height * distribute.tiles, grain(cells * kTile), distribute);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_psamask_forward, psamask_forward, PsamaskForwardProblem);
MLUOPS_DEFINE_LAUNCH(launch_psamask_backward, psamask_backward, PsamaskBackwardProblem);
