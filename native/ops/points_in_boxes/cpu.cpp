// PointsInBoxes on the CPU. Points are read a tile at a time, and each box is tried on all of it.
#include "cpu/upright_boxes.h"
#include "ops/points_in_boxes/points_in_boxes.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename T>
class PointsInBoxes {
 public:
  typedef typename RealOf<T>::Type Real;
  typedef UprightTile<Real> Tile;

  explicit PointsInBoxes(const PointsInBoxesProblem &problem) : p_(problem) {}

  mluOpStatus_t run() {
    const Scratch<UprightBox<Real>> boxes(p_.batches * p_.boxes);
    if (boxes.data() == nullptr) return out_of_memory(p_.function);
    boxes_ = boxes.data();
    auto read = [&](std::int64_t begin, std::int64_t end) { read_boxes(begin, end); };
    parallel_for(p_.batches * p_.boxes, kBoxesPerPiece, read);
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    tiles_ = (p_.points + Tile::kPoints - 1) / Tile::kPoints;
    auto tiles = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t i = begin; i < end; ++i) {
        if (!find(i / tiles_, i % tiles_ * Tile::kPoints, poll)) return;
      }
    };
    parallel_for(p_.batches * tiles_, kPairsPerPiece / (Tile::kPoints * p_.boxes) + 1, tiles);
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static constexpr std::int64_t kBoxesPerPiece = 256;
  static constexpr std::int64_t kPairsPerPiece = 1 << 15;

  void read_boxes(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const T *const rows = static_cast<const T *>(p_.rows);
    for (std::int64_t i = begin; i < end && !poll.interrupted(64); ++i)
      boxes_[i] = UprightBox<Real>(rows + i * kBoxNumbers, p_.centred, static_cast<Real>(p_.margin));
  }

  // False if the call was interrupted.
  bool find(std::int64_t batch, std::int64_t first, InterruptPoll &poll) const {
    const std::int64_t count = smaller(Tile::kPoints, p_.points - first), place = batch * p_.points + first;
    Tile tile;
    tile.read(static_cast<const T *>(p_.xyz) + 3 * place, count);
    std::int32_t inside[Tile::kPoints], found[Tile::kPoints];
    std::memset(found, 0xff, sizeof found);
    for (std::int64_t m = 0; m < p_.boxes; ++m) {
      if (poll.interrupted(8 * Tile::kPoints)) return false;
      boxes_[batch * p_.boxes + m].find(tile, inside);
      if (p_.all != nullptr) {
        for (std::int64_t i = 0; i < count; ++i) p_.all[(place + i) * p_.boxes + m] = inside[i];
      } else {
        keep_first(static_cast<std::int32_t>(m), inside, found);
      }
    }
    if (p_.first != nullptr) std::memcpy(p_.first + place, found, static_cast<std::size_t>(count) * sizeof *found);
    return true;
  }

  static void keep_first(std::int32_t box, const std::int32_t *__restrict inside, std::int32_t *__restrict found) {
    for (std::int64_t i = 0; i < Tile::kPoints; ++i) {
      const std::int32_t taken = -((found[i] < 0) & inside[i]);  // all bits, or none
      found[i] = (found[i] & ~taken) | (box & taken);
    }
  }

  const PointsInBoxesProblem &p_;
  UprightBox<Real> *boxes_ = nullptr;
  std::int64_t tiles_ = 0;
};

}  // namespace

mluOpStatus_t points_in_boxes(const PointsInBoxesProblem &problem) {
  if (problem.is_double) return PointsInBoxes<double>(problem).run();
  return problem.half ? PointsInBoxes<Half>(problem).run() : PointsInBoxes<float>(problem).run();
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_points_in_boxes, points_in_boxes, PointsInBoxesProblem, problem.function);
