#include "machine/place.h"

#include <vector>

#include "machine/array.h"
#include "machine/lanes.h"
#include "machine/launch.h"
#include "machine/lines.h"
#include "machine/memory.h"
#include "machine/parameters.h"

namespace mlusim {
namespace {

// " at element 3", or at a byte where an element does not begin.
std::string at_element(std::int64_t offset, std::size_t element) {
  const std::int64_t size = static_cast<std::int64_t>(element);
  if (offset < 0) return ", " + std::to_string(-offset) + " bytes before its start";
  if (size <= 1) return " at byte " + std::to_string(offset);
  if (offset % size == 0) return " at element " + std::to_string(offset / size);
  return " at byte " + std::to_string(offset % size) + " of element " + std::to_string(offset / size);
}

// ---- Device memory ------------------------------------------------------------------------------

// The arguments of the launch that point into an allocation.
std::vector<PassedPointer> pointers_into(const Allocation &allocation) {
  std::vector<PassedPointer> found;
  const Launch *const launch = running_launch();
  if (launch == nullptr) return found;
  for (const PassedPointer &pointer : launch->pointers) {
    const char *at = static_cast<const char *>(pointer.value);
    if (at >= allocation.begin && at < allocation.end()) found.push_back(pointer);
  }
  return found;
}

std::string argument_name(const PassedPointer &pointer) {
  const std::string name = parameter_name(*running_launch(), pointer.number);
  return name.empty() ? std::to_string(pointer.number + 1) : name;
}

// "argument x", "arguments x and out".
std::string argument_names(const std::vector<PassedPointer> &pointers) {
  std::string text = pointers.size() == 1 ? "argument " : "arguments ";
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (i != 0) text += i + 1 == pointers.size() ? " and " : ", ";
    text += argument_name(pointers[i]);
  }
  return text;
}

// Keeps those that begin last before the address; before all of them, those that begin first.
std::vector<PassedPointer> nearest(const std::vector<PassedPointer> &pointers, const void *address) {
  std::vector<PassedPointer> found;
  for (const PassedPointer &pointer : pointers) {
    if (!found.empty()) {
      const bool is_before = pointer.value <= address, was_before = found[0].value <= address;
      if (pointer.value != found[0].value) {
        const bool closer =
            was_before ? is_before && pointer.value > found[0].value : is_before || pointer.value < found[0].value;
        if (!closer) continue;
        found.clear();
      }
    }
    found.push_back(pointer);
  }
  return found;
}

std::string name_in_heap(const void *address) {
  Allocation allocation;
  if (!heap_find(address, &allocation)) return "device memory that is not allocated";
  const char *const at = static_cast<const char *>(address);
  const std::vector<PassedPointer> pointers = nearest(pointers_into(allocation), address);
  const std::string freed = allocation.live ? "" : "freed ";
  if (pointers.empty()) {
    const std::int64_t offset = at - allocation.begin;
    const std::string where = offset < 0 ? at_element(offset, 1) : ", byte " + std::to_string(offset);
    return "the " + freed + allocation_name(allocation) + where;
  }
  return "the " + freed + argument_names(pointers) +
         at_element(at - static_cast<const char *>(pointers[0].value), pointers[0].target);
}

std::string describe_heap(const void *address) {
  Allocation allocation;
  if (!heap_find(address, &allocation)) return "no allocation near it";
  const char *const at = static_cast<const char *>(address);
  const std::string text = (allocation.live ? "" : "freed ") + allocation_name(allocation) + ", ";
  if (at < allocation.begin) return text + std::to_string(allocation.begin - at) + " bytes before its start";
  if (at >= allocation.end()) return text + std::to_string(at - allocation.end()) + " bytes behind its end";
  return text + "offset " + std::to_string(at - allocation.begin);
}

// ---- Arrays -------------------------------------------------------------------------------------

const char *kind_of(const Location &location) { return is_among_variables(location) ? "variable " : "array "; }

std::string name_of_array(const Array &array, const Location &location, const void *address) {
  const bool is_variable = is_among_variables(location);
  const std::string text = std::string("the ") + kind_of(location) + array.name + (is_variable ? "" : " of the kernel");
  if (location.space == Space::kWram && lane_place(address).lane != 0) {
    const LanePlace place = lane_place(address);
    return text + at_element(place.offset, array.element) + " of lane " + std::to_string(place.lane);
  }
  return text + at_element(static_cast<const char *>(address) - range_of(array, location.piece).begin, array.element);
}

std::string describe_array(const Array &array, const Location &location, const void *address) {
  const Range range = range_of(array, location.piece);
  const char *at = static_cast<const char *>(address);
  std::string text = std::string(name_of(location.space)) + " array '" + array.name + "' of " +
                     std::to_string(array.bytes) + " bytes, ";
  if (location.space == Space::kWram) {
    const LanePlace place = lane_place(address);
    return text + std::to_string(lane_share(static_cast<std::int64_t>(array.bytes))) + " in each lane, offset " +
           std::to_string(place.offset) + " of lane " + std::to_string(place.lane);
  }
  if (range.holds(at)) return text + "offset " + std::to_string(at - range.begin);
  if (at < range.begin) return text + std::to_string(range.begin - at) + " bytes before its start";
  return text + std::to_string(at - range.end) + " bytes behind its end";
}

bool is_of_arrays(const Location &location) {
  return location.space == Space::kNram || location.space == Space::kWram || location.space == Space::kSram ||
         is_among_variables(location);
}

}  // namespace

std::string allocation_name(const Allocation &allocation) {
  const std::vector<PassedPointer> pointers = pointers_into(allocation);
  const std::string size = " of " + std::to_string(allocation.bytes) + (allocation.bytes == 1 ? " byte" : " bytes");
  if (!pointers.empty()) return argument_names(pointers) + size;
  SourceLine line;
  if (allocation.pc == nullptr || !find_line(allocation.pc, &line)) {
    return "allocation " + std::to_string(allocation.number) + size;
  }
  return "allocation" + size + " made at " + line.file + ":" + std::to_string(line.line);
}

std::string place_name(const void *address) {
  if (const Array *const constant = constant_near(address)) {
    const char *const at = static_cast<const char *>(address);
    return std::string("the constant array ") + constant->name +
           at_element(at - range_of_constant(*constant).begin, constant->element);
  }
  const Location location = locate(address);
  if (location.space == Space::kLdram) return "the stack of the core";
  if (is_of_arrays(location)) {
    const Array *const array = array_at(address, location, true);
    return array != nullptr ? name_of_array(*array, location, address) : std::string(name_of(location.space));
  }
  return location.space == Space::kGdram ? name_in_heap(address) : "";
}

std::string describe_allocation(const void *address) {
  const Location location = locate(address);
  if (location.space == Space::kLdram) return "stack of a core";
  if (is_of_arrays(location)) {
    const Array *const array = array_at(address, location, true);
    return array != nullptr ? describe_array(*array, location, address) : "before every array";
  }
  return location.space == Space::kGdram ? describe_heap(address) : "";
}

std::int64_t offset_in_memory(const void *address) {
  const char *const at = static_cast<const char *>(address);
  if (const Array *const constant = constant_near(address)) return at - range_of_constant(*constant).begin;
  const Location location = locate(address);
  if (is_of_arrays(location)) {
    const Array *const array = array_at(address, location, true);
    return at - (array != nullptr ? range_of(*array, location.piece).begin : location.piece.begin);
  }
  Allocation allocation;
  return location.space == Space::kGdram && heap_find(address, &allocation) ? at - allocation.begin : 0;
}

}  // namespace mlusim
