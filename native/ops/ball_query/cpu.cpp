// BallQuery on the CPU. Points are read a tile at a time, and each centre of a block goes through the tile with as many points as
// a vector has lanes, until it has all its samples. So a tile is turned into arrays of coordinates once for a block of centres, and
// no memory is needed but the stack.
#include "ops/ball_query/cpu_double.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlockCentres = 64;

// A centre that still looks for points.
struct Centre {
  float x, y, z;
  std::int32_t first;  // point found
  std::int64_t found;
  std::int32_t *slots;
};

// What every step of a distance is rounded to.
struct FloatSteps {
  static Vector rounded(Vector value) { return value; }
};
struct HalfSteps {
  static Vector rounded(Vector value) { return round_to_half(value); }
};

template <typename Steps>
inline Vector squared_distances(const PointTile &tile, std::int64_t i, const Centre &centre) {
  const Vector dx = Steps::rounded(load(tile.x + i) - centre.x);
  const Vector dy = Steps::rounded(load(tile.y + i) - centre.y);
  const Vector dz = Steps::rounded(load(tile.z + i) - centre.z);
  const Vector xy = Steps::rounded(Steps::rounded(dx * dx) + Steps::rounded(dy * dy));
  return Steps::rounded(xy + Steps::rounded(dz * dz));
}

template <typename T, typename Steps>
class BallQuery {
 public:
  explicit BallQuery(const BallQueryProblem &problem)
      : problem_(problem), from_(square(problem.min_radius)), to_(square(problem.max_radius)) {}

  // Centres are counted through all batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    while (begin < end && !interrupted()) {
      const std::int64_t batch = begin / problem_.centres;
      const std::int64_t in_batch = (batch + 1) * problem_.centres - begin;
      const std::int64_t count = smaller(smaller(end - begin, in_batch), kBlockCentres);
      block(batch, begin, count);
      begin += count;
    }
  }

 private:
  // Radii of the ABI are floats, and so are their squares.
  static float square(double radius) { return static_cast<float>(radius) * static_cast<float>(radius); }

  void block(std::int64_t batch, std::int64_t begin, std::int64_t count) const {
    Centre centres[kBlockCentres];
    for (std::int64_t i = 0; i < count; ++i) centres[i] = centre(begin + i);
    // Centres that are done change places with the last one that is not.
    std::int64_t looking = count;
    const T *points = static_cast<const T *>(problem_.xyz) + batch * problem_.points * kCoordinates;
    PointTile tile;
    InterruptPoll poll;
    for (std::int64_t n = 0; n < problem_.points && looking > 0; n += kTilePoints) {
      tile.read(points + n * kCoordinates, smaller(kTilePoints, problem_.points - n));
      for (std::int64_t i = looking - 1; i >= 0; --i) {
        if (poll.interrupted(kTilePoints)) return;
        if (!scan(tile, static_cast<std::int32_t>(n), centres[i])) continue;
        const Centre done = centres[i];
        centres[i] = centres[--looking];
        centres[looking] = done;
      }
    }
    for (std::int64_t i = 0; i < looking; ++i) fill(centres[i]);
  }

  Centre centre(std::int64_t number) const {
    const T *from = static_cast<const T *>(problem_.new_xyz) + number * kCoordinates;
    return Centre{
        to_float(from[0]), to_float(from[1]), to_float(from[2]), 0, 0, problem_.indices + number * problem_.samples};
  }

  // Whether the centre has all its samples. A NaN is not found, since it compares false.
  bool scan(const PointTile &tile, std::int32_t number, Centre &centre) const {
    for (std::int64_t i = 0; i < tile.count; i += kLanes) {
      const Vector d2 = squared_distances<Steps>(tile, i, centre);
      unsigned hits = lane_bits((d2 == 0.0f) | ((d2 >= from_) & (d2 < to_)));
      for (; hits != 0; hits &= hits - 1) {
        const std::int32_t index = number + static_cast<std::int32_t>(i) + __builtin_ctz(hits);
        if (centre.found == 0) centre.first = index;
        centre.slots[centre.found++] = index;
        if (centre.found == problem_.samples) return true;
      }
    }
    return false;
  }

  void fill(const Centre &centre) const {
    if (centre.found == 0) return;
    for_slices(centre.found, problem_.samples, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) centre.slots[i] = centre.first;
    });
  }

  const BallQueryProblem &problem_;
  const float from_, to_;  // squares of the radii
};

template <typename Body>
void run(const BallQueryProblem &problem) {
  // Few enough for a share of all threads, but enough to be worth reading tiles.
  constexpr std::int64_t kLeast = 8, kDistances = 1 << 16;
  const std::int64_t grain = larger(kLeast, kDistances / problem.points);
  Body query{problem};
  parallel_for(problem.batches * problem.centres, grain, query);
}

}  // namespace

mluOpStatus_t ball_query(const BallQueryProblem &problem) {
  if (problem.is_double) {
    run<DoubleBallQuery>(problem);
  } else if (problem.half) {
    run<BallQuery<Half, HalfSteps>>(problem);
  } else {
    run<BallQuery<float, FloatSteps>>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_ball_query, ball_query, BallQueryProblem,
                     problem.is_double ? "mluopsExtBallQueryDouble" : "mluOpBallQuery");
