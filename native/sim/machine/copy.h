// Regions, which are byte sets with up to three levels of repetition, and copies of them, at once
// or pending.
#ifndef MLUSIM_MACHINE_COPY_H_
#define MLUSIM_MACHINE_COPY_H_

#include <cstddef>
#include <cstdint>

#include "machine/memory.h"

namespace mlusim {

// count1 * count0 pieces of `bytes`: piece (i1, i0) starts at base + i1 * stride1 + i0 * stride0.
// Strides may be negative or 0.
struct Region {
  char *base = nullptr;
  std::size_t bytes = 0;
  std::int64_t stride0 = 0;
  std::int64_t count0 = 1;
  std::int64_t stride1 = 0;
  std::int64_t count1 = 1;

  static Region plain(const void *base, std::size_t bytes) {
    Region region;
    region.base = static_cast<char *>(const_cast<void *>(base));
    region.bytes = bytes;
    return region;
  }
  std::int64_t pieces() const { return count0 * count1; }
  char *piece(std::int64_t number) const { return base + number / count0 * stride1 + number % count0 * stride0; }
  bool empty() const { return bytes == 0 || count0 <= 0 || count1 <= 0; }
  // Returns the smallest range that holds every piece.
  Range hull() const;
  // Returns the region of a shadow that belongs to these bytes.
  Region moved(std::ptrdiff_t delta) const {
    Region region = *this;
    region.base += delta;
    return region;
  }
};

// Calls visit(begin, bytes) for each piece; adjacent pieces come as one.
template <typename Visit>
void for_each_piece(const Region &region, const Visit &visit) {
  if (region.empty()) return;
  const bool dense0 = region.count0 == 1 || region.stride0 == static_cast<std::int64_t>(region.bytes);
  const std::size_t line = region.bytes * static_cast<std::size_t>(dense0 ? region.count0 : 1);
  if (dense0 && (region.count1 == 1 || region.stride1 == static_cast<std::int64_t>(line))) {
    visit(region.base, line * static_cast<std::size_t>(region.count1));
    return;
  }
  for (std::int64_t i = 0; i < region.count1; ++i) {
    char *row = region.base + i * region.stride1;
    if (dense0) {
      visit(row, line);
      continue;
    }
    for (std::int64_t k = 0; k < region.count0; ++k) visit(row + k * region.stride0, region.bytes);
  }
}

// Whether two byte sets share a byte.
bool overlap(const Region &a, const Region &b);

// Copies the pieces of `source` to those of `target` in order. Both have the same number of pieces
// of the same size. The pieces of one copy may overlap.
void move_pieces(const Region &target, const Region &source);

// Sets every byte of the region.
void fill_pieces(const Region &target, unsigned char value);

// A copy, gather, scatter or fill that an asynchronous instruction issued. It happens at the latest
// when the core waits for it.
struct PendingCopy {
  Region target;
  Region source;  // empty for a fill
  Space target_space = Space::kHost, source_space = Space::kHost;
  const char *name = "";     // of the instruction
  const void *pc = nullptr;  // the instruction that issued it
  // Performs the copy; null stands for move_pieces. A fill repeats `value`, an element of `element`
  // bytes.
  void (*run)(const PendingCopy &copy) = nullptr;
  std::uint64_t value = 0;
  std::uint32_t element = 0;
  // For schedules that perform copies early: the number of the step at which it happens, and
  // whether it has happened.
  std::uint64_t due = UINT64_MAX;
  bool landed = false;
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_COPY_H_
