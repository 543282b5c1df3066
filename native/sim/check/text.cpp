#include "check/text.h"

#include "machine/place.h"

namespace mlusim {

const char *verb_of(Kind kind) {
  switch (kind) {
    case Kind::kRead:
      return "reads";
    case Kind::kWrite:
      return "writes";
    case Kind::kAtomic:
      return "updates";
  }
  return "";
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string bytes_at(const void *address, std::size_t bytes) {
  const std::string place = place_name(address);
  return bytes_text(bytes) + (place.empty() ? "" : " of " + place);
}

}  // namespace mlusim
