#include "profile/usage.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "machine/lines.h"

namespace mlusim {
namespace {

const Range &piece_of(const Core &core, Space space) {
  return space == Space::kNram ? core.nram : space == Space::kWram ? core.wram : core.sram;
}

bool is_on_chip(Space space) { return space == Space::kNram || space == Space::kWram || space == Space::kSram; }

const char *space_name(ArraySpace space) {
  return space == ArraySpace::nram ? "NRAM" : space == ArraySpace::wram ? "WRAM" : "SRAM";
}

}  // namespace

mlusimArray describe(const Array &array) {
  mlusimArray described = {};
  std::snprintf(described.name, sizeof described.name, "%s", array.name);
  std::snprintf(described.file, sizeof described.file, "%s", array.unit == nullptr ? "" : array.unit->file);
  std::snprintf(described.space, sizeof described.space, "%s", space_name(array.space));
  std::string library;
  if (in_loaded_library(&array, &library)) {
    std::snprintf(described.library, sizeof described.library, "%s", library.c_str());
  }
  described.of_function = is_of_file(array) ? 0 : 1;
  described.bytes = array.bytes;
  return described;
}

void ArrayUsage::begin(const Unit *unit) {
  unit_ = unit;
  used_.clear();
}

void ArrayUsage::touch(const AccessEvent &event) {
  if (!is_on_chip(event.space)) return;
  const Range hull = event.region.hull();
  Range piece = piece_of(event.core, event.space);
  if (!piece.holds(hull.begin)) piece = locate(hull.begin).piece;  // the SRAM of another cluster
  const std::size_t begin = static_cast<std::size_t>(hull.begin - piece.begin);
  const std::size_t end = static_cast<std::size_t>(hull.end - piece.begin);
  auto found = std::find_if(used_.begin(), used_.end(), [&](const Used &used) {
    return used.space == event.space && begin >= used.begin && begin < used.end;
  });
  if (found == used_.end()) {
    const Array *array = array_at(hull.begin, {event.space, -1, piece});
    if (array == nullptr) return;
    found = used_.insert(found, {event.space, array->offset, array->offset + array->bytes, 0, array});
  }
  found->most = std::max(found->most, std::min(end, found->end) - found->begin);
  if (found != used_.begin()) std::swap(*found, used_.front());
}

std::vector<mlusimArray> ArrayUsage::end() const {
  std::vector<mlusimArray> arrays;
  for_each_array(nullptr, [&](const Array &array) {
    bool concerned = array.unit == unit_ && unit_ != nullptr;
    std::size_t most = 0;
    for (const Used &used : used_) {
      concerned = concerned || used.array->unit == array.unit;
      if (used.array == &array) most = used.most;
    }
    if (!concerned) return;
    arrays.push_back(describe(array));
    arrays.back().used = most;
  });
  return arrays;
}

}  // namespace mlusim
