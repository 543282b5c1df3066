// Stable sort of records by the bits of their keys, least significant digit first.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RADIX_SORT_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RADIX_SORT_H_

#include "cpu/kernel.h"
#include "ops/get_indice_pairs/cpu/workspace.h"

namespace mluops {
namespace MLUOPS_LEVEL {

static inline std::uint64_t sort_key(std::uint64_t packed) { return packed; }
static inline std::uint64_t sort_key(const SparseRecord &record) { return record.key; }

// Sorts by the key's bits first_bit .. first_bit + bits, the highest that are nonzero in any key.
// Returns the sorted array: `records` or `other`, which has the same size. Unsorted if the call is
// interrupted.
template <typename Record>
static inline Record *radix_sort(Record *records, Record *other, std::int64_t count, int first_bit, int bits) {
  constexpr int kMostDigitBits = 11;
  constexpr int kMostPasses = 6;
  constexpr std::int64_t kMany = 1 << 15;  // fewer are sorted without polling for interrupts
  const int passes = (bits + kMostDigitBits - 1) / kMostDigitBits;
  if (passes == 0 || count < 2) return records;
  const int digit_bits = (bits + passes - 1) / passes;
  const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  std::uint32_t place[kMostPasses][1 << kMostDigitBits];
  std::memset(place, 0, static_cast<std::size_t>(passes) * sizeof place[0]);
  for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint64_t key = sort_key(records[i]) >> first_bit;
      for (int pass = 0; pass < passes; ++pass, key >>= digit_bits) ++place[pass][key & mask];
    }
  });
  for (int pass = 0; pass < passes && (count < kMany || !interrupted()); ++pass) {
    std::uint32_t before = 0;
    for (std::uint64_t digit = 0; digit <= mask; ++digit) {
      const std::uint32_t here = place[pass][digit];
      place[pass][digit] = before;
      before += here;
    }
    const int shift = first_bit + pass * digit_bits;
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        other[place[pass][(sort_key(records[i]) >> shift) & mask]++] = records[i];
      }
    });
    Record *swap = records;
    records = other;
    other = swap;
  }
  return records;
}

// Number of bits of the largest of `count` values that start at 0.
static inline int bits_for(std::uint64_t count) { return count < 2 ? 0 : 64 - __builtin_clzll(count - 1); }

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_RADIX_SORT_H_
