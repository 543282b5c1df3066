#include "machine/lanes.h"

#include "machine/array.h"
#include "machine/model.h"

namespace mlusim {

std::int64_t lane_size() {
  const mlusimDeviceModel &used = device();
  std::int64_t kib = used.wram_kib;
  // A device that the user describes may have another size than the architecture that kernels are
  // compiled for.
  for (const mlusimDeviceModel *model = known_models(); model->name[0] != '\0'; ++model) {
    if (model->arch == used.arch) kib = model->wram_kib;
  }
  return kib * kKiB / kLanes;
}

LanePlace lane_place(const void *address) {
  LanePlace place;
  const Location location = locate(address);
  const Array *array = location.space == Space::kWram ? array_at(address, location, true) : nullptr;
  if (array == nullptr) return place;
  place.first = range_of(*array, location.piece).begin;
  const std::int64_t distance = static_cast<const char *>(address) - place.first;
  place.lane = distance / lane_size();
  place.offset = distance % lane_size();
  return place;
}

Region in_lanes(char *base, std::size_t bytes, std::int64_t lanes) {
  Region region = Region::plain(base, bytes);
  region.count0 = lanes;
  region.stride0 = lane_size();
  return region;
}

}  // namespace mlusim
