// The map of psamask: the targets that each position's mask reaches.
//
// Everything here is in an unnamed namespace: only one file per level includes it, and GCC inlines
// such functions more readily.
#ifndef MLUOPS_OPS_PSAMASK_CPU_MAP_H_
#define MLUOPS_OPS_PSAMASK_CPU_MAP_H_

#include "cpu/cache.h"
#include "cpu/vector.h"
#include "ops/psamask/psamask.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr std::int64_t kFloatsPerLine = kCacheLine / sizeof(float);

// Half-open range of indices.
struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t count() const { return end - begin; }
  Range moved(std::int64_t by) const { return Range{begin + by, end + by}; }
};

// Targets on one axis that the mask of `position` reaches. The centre is a cell of the mask, so the
// position itself is always among them.
inline Range reached(std::int64_t position, std::int64_t extent, std::int64_t mask, std::int64_t center) {
  return Range{larger<std::int64_t>(position - center, 0), smaller(position - center + mask, extent)};
}

// Number of squares that cover `count` values.
inline std::int64_t squares(std::int64_t count) { return (count + kLanes - 1) / kLanes; }

// Whether `floats` take at least `bytes`.
inline bool takes(std::int64_t floats, std::int64_t bytes) {
  return floats * static_cast<std::int64_t>(sizeof(float)) >= bytes;
}

// Geometry with derived values.
struct Map : PsamaskGeometry {
  explicit Map(const PsamaskGeometry &geometry)
      : PsamaskGeometry(geometry), area(height * width), cells(mask_h * mask_w), up(center_h()), left(center_w()) {}

  Range rows_reached(std::int64_t h) const { return reached(h, height, mask_h, up); }
  Range columns_reached(std::int64_t w) const { return reached(w, width, mask_w, left); }

  // Whether the masks are too large for the caches; only then prefetching pays.
  bool masks_in_memory() const { return takes(batches * area * cells, llc_bytes() / 2); }

  bool map_in_memory() const { return takes(batches * area * area, llc_bytes() / 2); }

  std::int64_t area, cells, up, left;
};

// Iterates over a range in tiles of kSize. If the range has at least kSize values, the last tile
// overlaps the one before it instead of passing the end.
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

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_MAP_H_
