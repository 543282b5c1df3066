// VoxelQuery on the CPU, in float and in double. Centres are independent of each other.
#include "cpu/kernel.h"
#include "ops/voxel_query/voxel_query.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kCellsPerPiece = 8192;

// Places first .. last - 1 of the cells around one, none outside of the grid.
struct Span {
  Span(std::int64_t place, std::int64_t range, std::int64_t size)
      : first(larger<std::int64_t>(place - range, 0)), last(smaller(place + range + 1, size)) {}
  std::int64_t first, last;
};

template <typename Real>
class Query {
 public:
  explicit Query(const VoxelQueryProblem &problem) : p_(problem) {
    const Real radius = static_cast<Real>(problem.radius);
    limit_ = radius * radius;
  }

  // Returns false if the call was interrupted.
  bool find(std::int64_t centre, InterruptPoll &poll) const {
    std::int32_t *const idx = p_.idx + centre * p_.nsample;
    const std::int64_t found = collect(centre, idx, poll);
    if (found < 0) return false;
    const std::int32_t first = found == 0 ? 0 : idx[0];
    for (std::int64_t i = found; i < p_.nsample; ++i) idx[i] = first;
    if (found == 0) idx[0] = -1;
    return true;
  }

 private:
  // Returns the number of points that were written, -1 if the call was interrupted.
  std::int64_t collect(std::int64_t centre, std::int32_t *idx, InterruptPoll &poll) const {
    const std::int32_t *const at = p_.new_coords + 4 * centre;
    const std::int64_t batch = read_once(at);
    if (batch < 0 || batch >= p_.batches) return 0;
    const Span z(read_once(at + 1), p_.range[0], p_.size[0]), y(read_once(at + 2), p_.range[1], p_.size[1]);
    const Span x(read_once(at + 3), p_.range[2], p_.size[2]);
    const Real *const place = static_cast<const Real *>(p_.new_xyz) + 3 * centre;
    std::int64_t found = 0;
    for (std::int64_t k = z.first; k < z.last; ++k) {
      for (std::int64_t j = y.first; j < y.last; ++j) {
        const std::int32_t *const row = p_.cells + ((batch * p_.size[0] + k) * p_.size[1] + j) * p_.size[2];
        if (poll.interrupted(x.last - x.first + 1)) return -1;
        for (std::int64_t i = x.first; i < x.last; ++i) {
          const std::int32_t point = read_once(row + i);
          if (point < 0 || point >= p_.points || !near(place, point)) continue;
          idx[found++] = point;
          if (found == p_.nsample) return found;
        }
      }
    }
    return found;
  }

  bool near(const Real *place, std::int64_t point) const {
    const Real *const other = static_cast<const Real *>(p_.xyz) + 3 * point;
    const Real x = other[0] - place[0], y = other[1] - place[1], z = other[2] - place[2];
    return (x * x + y * y) + z * z <= limit_;
  }

  const VoxelQueryProblem &p_;
  Real limit_;
};

template <typename Real>
mluOpStatus_t query(const VoxelQueryProblem &problem) {
  const Query<Real> each(problem);
  std::int64_t cells = 1;
  for (int axis = 0; axis < 3; ++axis) cells *= smaller(2 * problem.range[axis] + 1, problem.size[axis]);
  auto find = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t centre = begin; centre < end; ++centre)
      if (poll.interrupted(problem.nsample) || !each.find(centre, poll)) return;
  };
  parallel_for(problem.centres, kCellsPerPiece / cells + 1, find);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t voxel_query(const VoxelQueryProblem &problem) {
  return problem.is_double ? query<double>(problem) : query<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_voxel_query, voxel_query, VoxelQueryProblem, problem.function);
