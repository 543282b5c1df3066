#include "machine/copy.h"

#include <algorithm>
#include <cstring>

namespace mlusim {

Range Region::hull() const {
  if (empty()) return {base, base};
  char *low = base;
  char *high = base;
  for (const std::int64_t reach : {(count0 - 1) * stride0, (count1 - 1) * stride1}) (reach < 0 ? low : high) += reach;
  return {low, high + bytes};
}

bool overlap(const Region &a, const Region &b) {
  const Range hull_a = a.hull();
  const Range hull_b = b.hull();
  if (hull_a.begin >= hull_b.end || hull_b.begin >= hull_a.end) return false;
  bool found = false;
  for_each_piece(a, [&](const char *begin_a, std::size_t bytes_a) {
    if (found || begin_a >= hull_b.end || begin_a + bytes_a <= hull_b.begin) return;
    for_each_piece(b, [&](const char *begin_b, std::size_t bytes_b) {
      found = found || (begin_a < begin_b + bytes_b && begin_b < begin_a + bytes_a);
    });
  });
  return found;
}

namespace {

// Moves pieces of one machine word, the usual case of a strided copy, without a call for each.
template <typename Word>
void move_words(const Region &target, const Region &source) {
  for (std::int64_t i = 0; i < target.count1; ++i) {
    char *to = target.base + i * target.stride1;
    const char *from = source.base + i * source.stride1;
    for (std::int64_t k = 0; k < target.count0; ++k) {
      Word word;
      std::memcpy(&word, from + k * source.stride0, sizeof word);
      std::memcpy(to + k * target.stride0, &word, sizeof word);
    }
  }
}

}  // namespace

void move_pieces(const Region &target, const Region &source) {
  if (target.empty()) return;
  const bool same_shape = target.count0 == source.count0;
  const auto dense = [](const Region &region) {
    return region.count1 == 1 && (region.count0 == 1 || region.stride0 == static_cast<std::int64_t>(region.bytes));
  };
  if (same_shape && dense(target) && dense(source)) {
    std::memmove(target.base, source.base, target.bytes * static_cast<std::size_t>(target.count0));
    return;
  }
  if (same_shape && target.bytes == 2) return move_words<std::uint16_t>(target, source);
  if (same_shape && target.bytes == 4) return move_words<std::uint32_t>(target, source);
  if (same_shape && target.bytes == 8) return move_words<std::uint64_t>(target, source);
  if (same_shape) {
    for (std::int64_t i = 0; i < target.count1; ++i) {
      char *to = target.base + i * target.stride1;
      const char *from = source.base + i * source.stride1;
      for (std::int64_t k = 0; k < target.count0; ++k) {
        std::memmove(to + k * target.stride0, from + k * source.stride0, target.bytes);
      }
    }
    return;
  }
  const std::int64_t pieces = target.pieces();
  for (std::int64_t i = 0; i < pieces; ++i) std::memmove(target.piece(i), source.piece(i), target.bytes);
}

void fill_pieces(const Region &target, unsigned char value) {
  for_each_piece(target, [value](char *begin, std::size_t bytes) { std::memset(begin, value, bytes); });
}

}  // namespace mlusim
