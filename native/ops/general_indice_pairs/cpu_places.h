// Places of a space as numbers: sorts them and finds one.
#ifndef MLUOPS_OPS_GENERAL_INDICE_PAIRS_CPU_PLACES_H_
#define MLUOPS_OPS_GENERAL_INDICE_PAIRS_CPU_PLACES_H_

#include "cpu/kernel.h"
#include "ops/general_indice_pairs/general_indice_pairs.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// A place of the output space, numbered by batch and then by axes, and a row there.
struct Site {
  std::int64_t place;
  std::int32_t row;
};

// Sorts by place; sites of the same place keep their order. The result is in `sites`, and `spare`
// is overwritten. A digit that is the same for all sites takes one pass. False if the call is
// interrupted.
inline bool sort_sites(Site *sites, Site *spare, std::int64_t count) {
  constexpr int kBits = 8, kDigits = 64 / kBits, kValues = 1 << kBits;
  Site *from = sites, *to = spare;
  for (int digit = 0; digit < kDigits; ++digit) {
    if (interrupted()) return false;
    const int shift = digit * kBits;
    std::int64_t starts[kValues + 1] = {};
    for (std::int64_t i = 0; i < count; ++i) ++starts[(from[i].place >> shift & (kValues - 1)) + 1];
    bool same = false;
    for (int value = 0; value < kValues; ++value) {
      same = same || starts[value + 1] == count;
      starts[value + 1] += starts[value];
    }
    if (same) continue;
    for (std::int64_t i = 0; i < count; ++i) to[starts[from[i].place >> shift & (kValues - 1)]++] = from[i];
    Site *const other = from;
    from = to;
    to = other;
  }
  if (from != sites) std::memcpy(sites, from, static_cast<std::size_t>(count) * sizeof *sites);
  return true;
}

// Keeps the first site of each place; returns the number of places.
inline std::int64_t keep_first(Site *sites, std::int64_t count) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (kept == 0 || sites[kept - 1].place != sites[i].place) sites[kept++] = sites[i];
  }
  return kept;
}

// Number of the site of a place among sites with different places, ascending; -1 if there is none.
inline std::int64_t find_site(const Site *sites, std::int64_t count, std::int64_t place) {
  std::int64_t first = 0;
  while (count > 1) {
    const std::int64_t half = count / 2;
    first += sites[first + half].place <= place ? half : 0;
    count -= half;
  }
  return count == 1 && sites[first].place == place ? first : -1;
}

// Computes the output places of rows under filter cells.
class Sender {
 public:
  explicit Sender(const GeneralGeometry &geometry) : g_(geometry) {}

  // Returns the place to which `cell` sends `row`, -1 if none.
  std::int64_t target(const std::int32_t *row, std::int64_t cell) const {
    std::int64_t place = 0, weight = 1;
    for (int axis = g_.axes - 1; axis >= 0; --axis) {
      const std::int64_t k = cell % g_.filter[axis];
      cell /= g_.filter[axis];
      const std::int64_t o = along(axis, row[axis + 1], k);
      if (o < 0 || o >= g_.output[axis]) return -1;
      place += weight * o;
      weight *= g_.output[axis];
    }
    return place + weight * row[0];
  }

  // Number of the place of a row in the output space.
  std::int64_t own(const std::int32_t *row) const {
    std::int64_t place = row[0];
    for (int axis = 0; axis < g_.axes; ++axis) place = place * g_.output[axis] + row[axis + 1];
    return place;
  }

  // Batch and coordinates of a place.
  void decode(std::int64_t place, std::int32_t *row) const {
    for (int axis = g_.axes - 1; axis >= 0; --axis) {
      row[axis + 1] = static_cast<std::int32_t>(place % g_.output[axis]);
      place /= g_.output[axis];
    }
    row[0] = static_cast<std::int32_t>(place);
  }

  bool inside(const std::int32_t *row) const {
    bool good = row[0] >= 0 && row[0] < g_.batch;
    for (int axis = 0; axis < g_.axes; ++axis) good = good && row[axis + 1] >= 0 && row[axis + 1] < g_.input[axis];
    return good;
  }

 private:
  // All factors are below 2^31, so nothing overflows.
  std::int64_t along(int axis, std::int64_t i, std::int64_t k) const {
    if (g_.transpose) return i * g_.stride[axis] - g_.pad[axis] + k * g_.dilation[axis];
    const std::int64_t reached = i + g_.pad[axis] - k * g_.dilation[axis];
    return reached < 0 || reached % g_.stride[axis] != 0 ? -1 : reached / g_.stride[axis];
  }

  const GeneralGeometry &g_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GENERAL_INDICE_PAIRS_CPU_PLACES_H_
