// Knn on the CPU. Among few points, places go through all of them, a tile at a time for a block of
// places; among many, a tree tells which points can be near. Each place keeps a sorted list, whose
// last distance rules out most points.
#include "cpu/stacked.h"
#include "ops/knn/cpu_double.h"
#include "ops/knn/cpu_list.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlock = 32;  // places, at most

// Distances from here on are infinite in the type of the result.
inline float least_missing(const float *) { return __builtin_inff(); }
inline float least_missing(const Half *) { return 65520.0f; }

// Memory for the lists of a block of places of each slot, where they are long.
class ListMemory {
 public:
  ListMemory(std::int64_t nearest, bool needed)
      : nearest_(nearest),
        block_(larger<std::int64_t>(smaller(kBlock, kKeysOfBlock / nearest), 1)),
        memory_(needed ? thread_count() * block_ * LongList::room(nearest) : 0) {}
  bool exists() const { return memory_.data() != nullptr; }
  // Places of a block: long lists are few, so that they stay in the caches.
  std::int64_t block() const { return block_; }
  std::int64_t *list(int slot, std::int64_t i) const {
    return memory_.data() + (slot * block_ + i) * LongList::room(nearest_);
  }

 private:
  static constexpr std::int64_t kKeysOfBlock = 4096;
  const std::int64_t nearest_, block_;
  const Scratch<std::int64_t> memory_;
};

template <typename T, typename List>
class Knn {
 public:
  Knn(const KnnProblem &problem, const ListMemory &memory) : problem_(problem), memory_(memory) {}

  // Places are counted through all batches.
  void look_at_all(int slot, std::int64_t begin, std::int64_t end) const {
    for_blocks({problem_.batches, problem_.places, nullptr}, begin, end, memory_.block(),
               [&](std::int64_t batch, std::int64_t first, std::int64_t last) { block(slot, batch, first, last); });
  }

  // Places of a batch, in an order.
  void look_in_tree(int slot, std::int64_t batch, const PointTree &tree, const SearchOrder &order, std::int64_t begin,
                    std::int64_t end) const {
    InterruptPoll poll;
    List list = make_list(slot, 0);
    for (std::int64_t i = begin; i < end; ++i) {
      if (poll.interrupted(problem_.nearest)) return;
      const std::int64_t number = batch * problem_.places + order[i];
      const Place place(row(number));
      list.clear(missing());
      if (place.finite() && !NearestSearch<List>(tree, place, list).run(poll)) return;
      write(list, number);
    }
  }

 private:
  // A list of a slot: short ones have no memory but their own.
  List make_list(int slot, std::int64_t i) const { return List(memory_.list(slot, i), problem_.nearest); }
  const T *row(std::int64_t number) const { return static_cast<const T *>(problem_.new_xyz) + number * kCoordinates; }
  static NearKey missing() { return near_key(least_missing(static_cast<const T *>(nullptr)), 0); }

  void block(int slot, std::int64_t batch, std::int64_t begin, std::int64_t end) const {
    const T *points = static_cast<const T *>(problem_.xyz) + batch * problem_.points * kCoordinates;
    alignas(List) char room[kBlock * sizeof(List)];
    List *const lists = reinterpret_cast<List *>(room);
    for (std::int64_t i = 0; i < end - begin; ++i) {
      lists[i] = make_list(slot, i);
      lists[i].clear(missing());
    }
    PointTile tile;
    InterruptPoll poll;
    for (std::int64_t n = 0; n < problem_.points; n += kTilePoints) {
      tile.read(points + n * kCoordinates, smaller(kTilePoints, problem_.points - n));
      for (std::int64_t i = 0; i < end - begin; ++i) {
        if (poll.interrupted(kTilePoints)) return;
        lists[i] = scan(tile, static_cast<std::int32_t>(n), Place(row(begin + i)), lists[i]);
      }
    }
    for (std::int64_t i = 0; i < end - begin; ++i) write(lists[i], begin + i);
  }

  static List scan(const PointTile &tile, std::int32_t number, const Place &place, List list) {
    for (std::int64_t i = 0; i < tile.count; i += kLanes) {
      const Vector d2 = point_distances<FloatSteps>(tile.x + i, tile.y + i, tile.z + i, place);
      unsigned bits = lane_bits(d2 < distance_of(list.worst()));
      if (bits == 0) continue;
      float distance[kLanes];
      store(distance, d2);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        list.insert(near_key(distance[lane], number + static_cast<std::int32_t>(i) + lane));
      }
    }
    return list;
  }

  void write(const List &list, std::int64_t number) const {
    T *const dist2 = static_cast<T *>(problem_.dist2) + number * problem_.nearest;
    std::int32_t *const indices = problem_.indices + number * problem_.nearest;
    for (std::int64_t i = 0; i < problem_.nearest; ++i) {
      store(dist2 + i, distance_of(list[i]));
      indices[i] = index_of(list[i]);
    }
  }

  const KnnProblem &problem_;
  const ListMemory &memory_;
};

// Without memory for a tree, false: then all points are looked at.
template <typename T, typename List>
bool find_by_trees(const KnnProblem &p, const Knn<T, List> &knn) {
  CloudTree cloud(p.points);
  SearchOrder order(p.places);
  if (!cloud.has_memory()) return false;
  for (std::int64_t batch = 0; batch < p.batches && !interrupted(); ++batch) {
    cloud.build(static_cast<const T *>(p.xyz) + batch * p.points * kCoordinates, p.points);
    order.sort(static_cast<const T *>(p.new_xyz) + batch * p.places * kCoordinates);
    if (interrupted()) break;
    constexpr std::int64_t kGrain = 64;
    auto body = [&](int slot, std::int64_t begin, std::int64_t end) {
      knn.look_in_tree(slot, batch, cloud.tree(), order, begin, end);
    };
    parallel_ranges(p.places, kGrain, body);
  }
  return true;
}

template <typename T, typename List>
mluOpStatus_t find(const KnnProblem &problem, bool needs_memory) {
  constexpr std::int64_t kDistances = 1 << 16;
  const ListMemory memory(problem.nearest, needs_memory);
  if (!memory.exists()) return out_of_memory(problem.function);
  const Knn<T, List> knn(problem, memory);
  if (tree_pays(problem.places, problem.points) && find_by_trees(problem, knn)) return MLUOP_STATUS_SUCCESS;
  auto body = [&](int slot, std::int64_t begin, std::int64_t end) { knn.look_at_all(slot, begin, end); };
  const std::int64_t grain = larger(memory.block() / 4 + 1, kDistances / larger<std::int64_t>(problem.points, 1));
  parallel_ranges(problem.batches * problem.places, grain, body);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t run(const KnnProblem &problem) {
  if (problem.nearest <= ShortList<1>::kMost) return find<T, ShortList<1>>(problem, false);
  if (problem.nearest <= ShortList<4>::kMost) return find<T, ShortList<4>>(problem, false);
  return find<T, LongList>(problem, true);
}

}  // namespace

mluOpStatus_t knn(const KnnProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) return knn_in_double(problem);
  return problem.type == MLUOP_DTYPE_HALF ? run<Half>(problem) : run<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_knn, knn, KnnProblem, problem.function);
