#include "intrinsics/shadow.h"

#include <cstring>

#include "machine/observer.h"

namespace mlusim {
namespace {

// The number of elements in a block, whose flags are kept between sources and target.
constexpr std::int64_t kBlock = 1024;

// keep[i] &= element first + i of the source is defined
template <typename Word>
void meet_words(std::uint8_t *keep, const ShadowSource &source, std::int64_t first, std::int64_t count) {
  const unsigned char *shadow = init_shadow(source.base);
  std::int64_t at = first % source.count;
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t run = count - i < source.count - at ? count - i : source.count - at;
    for (std::int64_t k = 0; k < run; ++k) {
      Word word;
      std::memcpy(&word, shadow + static_cast<std::size_t>(at + k) * sizeof word, sizeof word);
      keep[i + k] = static_cast<std::uint8_t>(keep[i + k] & (word == static_cast<Word>(~Word{0}) ? 0xff : 0));
    }
    i += run;
    at = 0;
  }
}

void meet(std::uint8_t *keep, const ShadowSource &source, std::int64_t first, std::int64_t count) {
  if (source.base == nullptr) return;
  switch (source.element) {
    case 1:
      return meet_words<std::uint8_t>(keep, source, first, count);
    case 2:
      return meet_words<std::uint16_t>(keep, source, first, count);
    case 4:
      return meet_words<std::uint32_t>(keep, source, first, count);
    default:
      return meet_words<std::uint64_t>(keep, source, first, count);
  }
}

template <typename Word>
void spread_words(unsigned char *shadow, const std::uint8_t *keep, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Word word = keep[i] != 0 ? static_cast<Word>(~Word{0}) : Word{0};
    std::memcpy(shadow + static_cast<std::size_t>(i) * sizeof word, &word, sizeof word);
  }
}

void spread(unsigned char *shadow, std::size_t element, const std::uint8_t *keep, std::int64_t count) {
  switch (element) {
    case 1:
      return spread_words<std::uint8_t>(shadow, keep, count);
    case 2:
      return spread_words<std::uint16_t>(shadow, keep, count);
    case 4:
      return spread_words<std::uint32_t>(shadow, keep, count);
    default:
      return spread_words<std::uint64_t>(shadow, keep, count);
  }
}

}  // namespace

void shadow_elements(void *dst, std::size_t dst_element, std::int64_t count, const ShadowSource &a,
                     const ShadowSource &b, const ShadowSource &c) {
  std::uint8_t keep[kBlock];
  const bool backwards = a.base == dst && dst_element > a.element;
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  for (std::int64_t number = 0; number < blocks; ++number) {
    const std::int64_t first = (backwards ? blocks - 1 - number : number) * kBlock;
    const std::int64_t block = count - first < kBlock ? count - first : kBlock;
    std::memset(keep, 0xff, static_cast<std::size_t>(block));
    for (const ShadowSource *source : {&a, &b, &c}) meet(keep, *source, first, block);
    spread(init_shadow(dst) + static_cast<std::size_t>(first) * dst_element, dst_element, keep, block);
  }
}

void shadow_copy(void *dst, const void *src, std::int64_t bytes) {
  std::memmove(init_shadow(dst), init_shadow(src), static_cast<std::size_t>(bytes));
}

void shadow_set(void *dst, std::int64_t bytes, bool defined) {
  std::memset(init_shadow(dst), defined ? 0xff : 0, static_cast<std::size_t>(bytes));
}

bool shadow_defined(const void *address, std::int64_t bytes) {
  if (!g_observers.init) return true;
  const unsigned char *shadow = init_shadow(address);
  unsigned char all = 0xff;
  for (std::int64_t i = 0; i < bytes; ++i) all = static_cast<unsigned char>(all & shadow[i]);
  return all == 0xff;
}

}  // namespace mlusim
