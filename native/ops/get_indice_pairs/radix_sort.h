// Stable sort of records by key, least significant digit first; digits that are 0 in every key are left out.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_RADIX_SORT_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_RADIX_SORT_H_

#include "cpu/kernel.h"
#include "ops/get_indice_pairs/cpu_workspace.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Sorts `records` and returns where the result lies: there or in `other`, which is as long.
static inline SparseRecord *radix_sort(SparseRecord *records, SparseRecord *other, std::int64_t count) {
  constexpr int kDigitBits = 11;
  constexpr std::uint32_t kDigits = 1u << kDigitBits;
  std::uint64_t seen = 0;
  for (std::int64_t i = 0; i < count; ++i) seen |= records[i].key;
  for (int shift = 0; shift < 64 && (seen >> shift) != 0; shift += kDigitBits) {
    if (((seen >> shift) & (kDigits - 1)) == 0) continue;
    std::uint32_t place[kDigits];
    std::memset(place, 0, sizeof place);
    for (std::int64_t i = 0; i < count; ++i) ++place[(records[i].key >> shift) & (kDigits - 1)];
    std::uint32_t before = 0;
    for (std::uint32_t &entry : place) {
      const std::uint32_t here = entry;
      entry = before;
      before += here;
    }
    for (std::int64_t i = 0; i < count; ++i) other[place[(records[i].key >> shift) & (kDigits - 1)]++] = records[i];
    SparseRecord *swap = records;
    records = other;
    other = swap;
  }
  return records;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_RADIX_SORT_H_
