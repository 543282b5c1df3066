#include "intrinsics/settled.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mlusim {
namespace {

constexpr std::int64_t kBlock = 512;

// Whether a result of 0 with an infinite or NaN operand holds for all values of undefined bytes.
bool can_settle(const BinaryWork &work) {
  const bool real = work.type == Type::kFloat || work.type == Type::kHalf || work.type == Type::kBFloat16;
  switch (work.op) {
    case Binary::kEq:
    case Binary::kLt:
    case Binary::kLe:
    case Binary::kGt:
    case Binary::kGe:
      return real;
    default:
      return false;
  }
}

// known[i] &= the element is defined, or infinite or NaN.
void meet(unsigned char *known, Type type, const ShadowSource &source, std::int64_t count) {
  if (source.base == nullptr) return;
  const std::int64_t size = size_of(type);
  float buffer[kBlock];
  for (std::int64_t first = 0; first < count;) {
    const std::int64_t at = first % source.count;
    const std::int64_t block = std::min({count - first, source.count - at, kBlock});
    const char *elements = static_cast<const char *>(source.base) + at * size;
    const float *values = floats_of(type, elements, buffer, block);
    for (std::int64_t i = 0; i < block; ++i) {
      if (std::isfinite(values[i]) && !shadow_defined(elements + i * size, size)) known[first + i] = 0;
    }
    first += block;
  }
}

bool all_defined(const ShadowSource &source) {
  return source.base == nullptr ||
         shadow_defined(source.base, source.count * static_cast<std::int64_t>(source.element));
}

}  // namespace

Settled::Settled(const BinaryWork &work, const ShadowSource &a, const ShadowSource &b, std::int64_t count) {
  if (!g_observers.init || !can_settle(work) || (all_defined(a) && all_defined(b))) return;
  // Not on the stack, which is not unwound when a launch ends early.
  static std::vector<unsigned char> &elements = *new std::vector<unsigned char>;
  elements.assign(static_cast<std::size_t>(count), 1);
  meet(elements.data(), work.type, a, count);
  meet(elements.data(), work.type, b, count);
  known_ = elements.data();
}

void Settled::define_zeros(void *dst, Type type, std::int64_t count) const {
  if (known_ == nullptr) return;
  const std::int64_t size = size_of(type);
  float buffer[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = std::min(count - first, kBlock);
    char *elements = static_cast<char *>(dst) + first * size;
    const float *values = floats_of(type, elements, buffer, block);
    for (std::int64_t i = 0; i < block; ++i) {
      if (known_[first + i] != 0 && values[i] == 0) shadow_set(elements + i * size, size, true);
    }
  }
}

}  // namespace mlusim
