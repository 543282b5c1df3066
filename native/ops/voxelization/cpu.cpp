// Voxelization on the CPU. Threads find the cells of the points; one of them numbers the voxels, in
// the order of the points, with a table of the voxels that are open; threads copy the points to
// their places.
#include "cpu/nontemporal.h"
#include "ops/voxelization/cpu_grid.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kPointsPerPiece = 2048;
constexpr std::int64_t kValuesPerPiece = 1 << 16;
constexpr std::int64_t kAhead = 8;  // points whose slots are prefetched

inline void copy_values(float *to, const float *from, std::int64_t count) { copy_row(to, from, count); }

inline void copy_values(double *to, const double *from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

// Fills `count` values with zeros.
template <typename T>
void clear(T *values, std::int64_t count) {
  const bool streamed = count * static_cast<std::int64_t>(sizeof(T)) >= streaming_bytes();
  auto body = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && !interrupted(); i += kValuesPerPiece) {
      const std::size_t bytes = static_cast<std::size_t>(smaller(kValuesPerPiece, end - i)) * sizeof(T);
      if (streamed) {
        fill_nontemporal(reinterpret_cast<char *>(values + i), 0, bytes);
      } else {
        std::memset(values + i, 0, bytes);
      }
    }
    if (streamed) nontemporal_fence();
  };
  parallel_for(count, kValuesPerPiece, body);
}

// Writes the cell of each point.
template <typename Grid, typename T>
void find_all(const Grid &grid, const T *rows, const VoxelGrid &sizes, Cell *cells) {
  auto body = [&](std::int64_t first, std::int64_t last) {
    const Grid own = grid;  // stays in registers, while stores may change what others see
    const std::int64_t features = sizes.features;
    for_slices(first, last, [=](std::int64_t begin, std::int64_t end) {
      const T *row = rows + begin * features;
      for (std::int64_t i = begin; i < end; ++i, row += features) cells[i] = own.of(row);
    });
  };
  parallel_for(sizes.points, kPointsPerPiece, body);
}

// The table of voxels by their cells, which are read from the coordinates that were written.
class Table {
 public:
  Table(std::int32_t *slots, std::int64_t count, const std::int32_t *coors) : slots_(slots), coors_(coors) {
    mask_ = static_cast<std::uint64_t>(count) - 1;
    std::memset(slots_, 0xff, static_cast<std::size_t>(count) * sizeof *slots_);
  }

  void prefetch(const Cell &cell) const { __builtin_prefetch(slots_ + (mixed(cell) & mask_)); }

  // The slot of a cell, which holds its voxel, or -1 if it has none. `steps` counts the slots seen.
  std::int32_t *find(const Cell &cell, std::int64_t *steps) const {
    for (std::uint64_t slot = mixed(cell) & mask_;; slot = (slot + 1) & mask_, ++*steps) {
      const std::int32_t voxel = slots_[slot];
      if (voxel < 0) return slots_ + slot;
      const std::int32_t *const at = coors_ + kAxes * static_cast<std::int64_t>(voxel);
      if (at[0] == cell.z && at[1] == cell.y && at[2] == cell.x) return slots_ + slot;
    }
  }

 private:
  static std::uint64_t mixed(const Cell &cell) {
    std::uint64_t hash = static_cast<std::uint32_t>(cell.x);
    hash = hash * 0x9e3779b97f4a7c15u + static_cast<std::uint32_t>(cell.y);
    hash = hash * 0x9e3779b97f4a7c15u + static_cast<std::uint32_t>(cell.z);
    hash *= 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
  }

  std::int32_t *slots_;
  const std::int32_t *coors_;
  std::uint64_t mask_;
};

template <typename Real>
class Voxelization {
 public:
  explicit Voxelization(const VoxelizationProblem &problem) : p_(problem), g_(problem.grid) {
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(problem.workspace);
    Arena arena(static_cast<char *>(problem.workspace) + (kCacheLine - start % kCacheLine) % kCacheLine);
    cells_ = arena.allocate<Cell>(g_.points);
    slots_ = arena.allocate<std::int32_t>(voxel_slots(g_.points, p_.max_voxels));
  }

  void run() {
    clear(static_cast<Real *>(p_.voxels), p_.max_voxels * p_.max_points * g_.features);
    clear(p_.coors, p_.max_voxels * kAxes);
    clear(p_.counts, p_.max_voxels);
    if (interrupted()) return;
    find_cells();
    if (interrupted()) return;
    number_voxels();
    if (interrupted()) return;
    copy_points();
  }

 private:
  void find_cells() {
    const Cells<Real, Real> grid(g_);
    find_all(grid, static_cast<const Real *>(g_.rows), g_, cells_);
  }

  // Puts in place of the cell of each point the number of its voxel, or -1, and its rank there.
  void number_voxels() {
    const Table table(slots_, voxel_slots(g_.points, p_.max_voxels), p_.coors);
    InterruptPoll poll;
    std::int64_t voxels = 0;
    for (std::int64_t i = 0; i < g_.points; ++i) {
      if (i + kAhead < g_.points) table.prefetch(cells_[i + kAhead]);
      Cell &cell = cells_[i];
      if (cell.x < 0) continue;
      std::int64_t steps = 8;
      std::int32_t *const slot = table.find(cell, &steps);
      if (poll.interrupted(steps)) return;
      if (*slot < 0 && voxels < p_.max_voxels) {
        std::int32_t *const at = p_.coors + kAxes * voxels;
        at[0] = cell.z;
        at[1] = cell.y;
        at[2] = cell.x;
        *slot = static_cast<std::int32_t>(voxels++);
      }
      const std::int32_t voxel = *slot;
      const bool kept = voxel >= 0 && p_.counts[voxel] < p_.max_points;
      cell = Cell{kept ? voxel : -1, kept ? p_.counts[voxel]++ : 0, 0};
    }
    *p_.voxel_num = static_cast<std::int32_t>(voxels);
  }

  void copy_points() {
    auto body = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t i = begin; i < end && !poll.interrupted(g_.features); ++i) {
        const std::int64_t voxel = cells_[i].z, rank = cells_[i].y;
        if (voxel < 0) continue;
        const Real *const from = static_cast<const Real *>(g_.rows) + i * g_.features;
        Real *const to = static_cast<Real *>(p_.voxels) + (voxel * p_.max_points + rank) * g_.features;
        for_slices(0, g_.features,
                   [&](std::int64_t first, std::int64_t last) { copy_values(to + first, from + first, last - first); });
      }
    };
    parallel_for(g_.points, kPointsPerPiece, body);
  }

  const VoxelizationProblem &p_;
  const VoxelGrid &g_;
  Cell *cells_;
  std::int32_t *slots_;
};

template <typename T, typename Real>
void list_cells(const DynamicVoxelizeProblem &problem) {
  const Cells<T, Real> grid(problem.grid);
  find_all(grid, static_cast<const T *>(problem.grid.rows), problem.grid, reinterpret_cast<Cell *>(problem.coors));
}

}  // namespace

mluOpStatus_t voxelization(const VoxelizationProblem &problem) {
  if (problem.grid.is_double) {
    Voxelization<double>(problem).run();
  } else {
    Voxelization<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t dynamic_voxelize(const DynamicVoxelizeProblem &problem) {
  if (problem.grid.is_double) {
    list_cells<double, double>(problem);
  } else if (problem.grid.half) {
    list_cells<Half, float>(problem);
  } else {
    list_cells<float, float>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_voxelization, voxelization, VoxelizationProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_dynamic_voxelize, dynamic_voxelize, DynamicVoxelizeProblem, problem.function);
