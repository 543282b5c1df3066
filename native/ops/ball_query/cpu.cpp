// BallQuery on the CPU. Points are read a tile at a time, and each centre of a block goes through
// the tile with as many points as a vector has lanes, until it has all its samples. So a tile is
// turned into arrays of coordinates once for a block of centres, and no memory is needed but the
// stack.
//
// Among many points, a centre goes on like this only if its ball holds so many that the first ones
// will fill its slots. If there are enough others, they search a tree.
#include "ops/ball_query/cpu_double.h"
#include "ops/ball_query/cpu_tree.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlockCentres = 64;
// After so many points a centre is asked whether to go on.
constexpr std::int64_t kFirstPoints = 2 * kTilePoints;
// Looking at so many points takes as long as a search in a tree.
constexpr std::int64_t kWorth = 8192;

// A centre that still looks for points.
struct Centre {
  Place place;
  std::int64_t number;
  std::int64_t found;
  std::int32_t *slots;
};

// The points of a batch: the tree over them, and the order of the centres that search it.
struct Searched {
  const bool *waiting;
  const PointTree &tree;
  const SearchOrder &order;
  const Scratch<std::int32_t> &indices;  // LeastIndices of each slot
};

template <typename T, typename Steps>
class BallQuery {
 public:
  explicit BallQuery(const Balls<float> &balls) : balls_(balls) {}

  // Centres begin .. end, counted through all batches. Those that had better search a tree are left
  // waiting, unless NULL stands for that.
  void look(std::int64_t begin, std::int64_t end, bool *waiting) const {
    for_blocks(balls_.centres, begin, end, kBlockCentres,
               [&](std::int64_t batch, std::int64_t first, std::int64_t last) {
                 const std::int64_t count = balls_.points.count(batch);
                 Block block(*this, batch);
                 for (std::int64_t number = first; number < last; ++number) block.add(number);
                 if (waiting == nullptr || !balls_.may_need_tree(batch)) {
                   block.look(0, count);
                 } else {
                   block.look(0, kFirstPoints);
                   block.leave(waiting, kWorth);
                   block.look(kFirstPoints, smaller(2 * kWorth, count));
                   if (2 * kWorth < count) block.leave(waiting, 0);
                 }
                 block.fill();
               });
  }

  // Of these centres, those that wait look at all points.
  void look_again(std::int64_t begin, std::int64_t end, const bool *waiting) const {
    for_blocks(balls_.centres, begin, end, kBlockCentres,
               [&](std::int64_t batch, std::int64_t first, std::int64_t last) {
                 Block block(*this, batch);
                 for (std::int64_t number = first; number < last; ++number) {
                   if (waiting[number]) block.add(number);
                 }
                 block.look(0, balls_.points.count(batch));
                 block.fill();
               });
  }

  // The centres of a batch that wait search its tree, in an order.
  void search(std::int64_t batch, const Searched &searched, int slot, std::int64_t begin, std::int64_t end) const {
    LeastIndices indices(searched.indices.data() + slot * LeastIndices::room(balls_.samples), balls_.samples);
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t number = balls_.centres.begin(batch) + searched.order[i];
      if (poll.interrupted(balls_.samples)) return;
      if (!searched.waiting[number]) continue;
      const Place place(static_cast<const T *>(balls_.problem.new_xyz) + number * kCoordinates);
      indices.clear();
      if (place.finite() && !BallSearch<Steps>(balls_, searched.tree, place, indices).run(poll)) return;
      const std::int64_t found = indices.finish();
      std::int32_t *const slots = balls_.problem.indices + number * balls_.samples;
      for (std::int64_t k = 0; k < found; ++k) slots[k] = indices.begin()[k];
      balls_.fill(number, found);
    }
  }

 private:
  // Some centres of a batch. Those that are done change places with the last one that is not.
  class Block {
   public:
    Block(const BallQuery &query, std::int64_t batch)
        : balls_(query.balls_),
          points_(static_cast<const T *>(balls_.problem.xyz) + balls_.points.begin(batch) * kCoordinates) {}

    void add(std::int64_t number) {
      const T *row = static_cast<const T *>(balls_.problem.new_xyz) + number * kCoordinates;
      centres_[looking_++] = Centre{Place(row), number, 0, balls_.problem.indices + number * balls_.samples};
    }

    // Goes through points begin .. end; begin is the first of a tile.
    void look(std::int64_t begin, std::int64_t end) {
      PointTile tile;
      for (std::int64_t n = begin; n < end && looking_ > 0; n += kTilePoints) {
        tile.read(points_ + n * kCoordinates, smaller(kTilePoints, end - n));
        for (std::int64_t i = looking_ - 1; i >= 0; --i) {
          if (poll_.interrupted(kTilePoints)) return;
          if (scan(tile, static_cast<std::int32_t>(n), centres_[i])) finish(i);
        }
      }
    }

    // Leaves centres waiting that would have to look at more than `most` points, as far as their
    // finds among the first ones tell; all with 0.
    void leave(bool *waiting, std::int64_t most) {
      for (std::int64_t i = looking_ - 1; i >= 0; --i) {
        if (balls_.samples * kFirstPoints <= centres_[i].found * most) continue;
        waiting[centres_[i].number] = true;
        finish(i);
      }
    }

    void fill() const {
      for (std::int64_t i = 0; i < looking_; ++i) balls_.fill(centres_[i].number, centres_[i].found);
    }

   private:
    void finish(std::int64_t i) {
      const Centre done = centres_[i];
      centres_[i] = centres_[--looking_];
      centres_[looking_] = done;
    }

    // Whether the centre has all its samples. A NaN is not found, since it compares false.
    bool scan(const PointTile &tile, std::int32_t number, Centre &centre) const {
      for (std::int64_t i = 0; i < tile.count; i += kLanes) {
        const Vector d2 = point_distances<Steps>(tile.x + i, tile.y + i, tile.z + i, centre.place);
        unsigned hits = lane_bits((d2 == balls_.always) | ((d2 >= balls_.from) & (d2 < balls_.to)));
        for (; hits != 0; hits &= hits - 1) {
          centre.slots[centre.found++] = number + static_cast<std::int32_t>(i) + __builtin_ctz(hits);
          if (centre.found == balls_.samples) return true;
        }
      }
      return false;
    }

    const Balls<float> &balls_;
    const T *const points_;
    InterruptPoll poll_;
    std::int64_t looking_ = 0;
    Centre centres_[kBlockCentres];  // only the first are set
  };

  const Balls<float> &balls_;
};

// The centres of a batch that wait. Without memory for a tree, false.
template <typename T, typename Steps>
bool search_tree(const Balls<float> &balls, const BallQuery<T, Steps> &query, std::int64_t batch, const bool *waiting) {
  const std::int64_t centres = balls.centres.count(batch), points = balls.points.count(batch);
  const Scratch<std::int32_t> indices(thread_count() * LeastIndices::room(balls.samples));
  CloudTree cloud(points);
  if (!cloud.has_memory() || indices.data() == nullptr) return false;
  cloud.build(static_cast<const T *>(balls.problem.xyz) + balls.points.begin(batch) * kCoordinates, points);
  SearchOrder order(centres);
  order.sort(static_cast<const T *>(balls.problem.new_xyz) + balls.centres.begin(batch) * kCoordinates);
  if (interrupted()) return true;
  const Searched searched{waiting, cloud.tree(), order, indices};
  auto body = [&](int slot, std::int64_t begin, std::int64_t end) { query.search(batch, searched, slot, begin, end); };
  parallel_ranges(centres, kBlockCentres, body);
  return true;
}

// Lets centres that wait search trees where these pay, and returns the number of the others.
template <typename T, typename Steps>
std::int64_t search_trees(const Balls<float> &balls, const BallQuery<T, Steps> &query, bool *waiting) {
  std::int64_t left = 0;
  for (std::int64_t batch = 0; batch < balls.problem.batches && !interrupted(); ++batch) {
    if (!balls.may_need_tree(batch)) continue;
    std::int64_t number = 0;
    for_slices(balls.centres.begin(batch), balls.centres.end(batch), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) number += waiting[i];
    });
    if (tree_pays(number, balls.points.count(batch)) && search_tree(balls, query, batch, waiting)) {
      std::memset(waiting + balls.centres.begin(batch), 0, static_cast<std::size_t>(balls.centres.count(batch)));
    } else {
      left += number;
    }
  }
  return left;
}

template <typename T, typename Steps>
void run(const BallQueryProblem &problem) {
  // Few enough for a share of all threads, but enough to be worth reading tiles.
  constexpr std::int64_t kLeast = 8, kDistances = 1 << 16;
  const Balls<float> balls(problem);
  const BallQuery<T, Steps> query(balls);
  const std::int64_t centres = balls.centres.all(), points = balls.points.all() / problem.batches + 1;
  const std::int64_t grain = larger(kLeast, kDistances / points);
  bool trees = false;
  for (std::int64_t batch = 0; batch < problem.batches && !trees; ++batch) trees = balls.may_need_tree(batch);
  const Scratch<bool> room(trees ? centres : 0);
  bool *const waiting = trees ? room.data() : nullptr;
  if (waiting != nullptr) std::memset(waiting, 0, static_cast<std::size_t>(centres));
  auto look = [&](std::int64_t begin, std::int64_t end) { query.look(begin, end, waiting); };
  parallel_for(centres, grain, look);
  if (waiting == nullptr || interrupted() || search_trees(balls, query, waiting) == 0 || interrupted()) return;
  auto again = [&](std::int64_t begin, std::int64_t end) { query.look_again(begin, end, waiting); };
  parallel_for(centres, grain, again);
}

}  // namespace

mluOpStatus_t ball_query(const BallQueryProblem &problem) {
  if (problem.is_double) {
    run_in_double(problem);
  } else if (problem.half) {
    run<Half, HalfSteps>(problem);
  } else {
    run<float, FloatSteps>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_ball_query, ball_query, BallQueryProblem, problem.function);
