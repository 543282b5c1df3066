// The order of scores, from the highest to the lowest; of equal ones the first comes first.
#ifndef MLUOPS_CPU_RANKING_H_
#define MLUOPS_CPU_RANKING_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// A score as a number that is the smaller, the higher the score.
struct Ranked {
  std::uint64_t key;
  std::int32_t index;
};

static inline std::uint64_t ranking_key(double score) {
  const double value = score + 0.0;  // -0 ranks like 0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  const std::uint64_t ascending = (bits & sign) != 0 ? ~bits : bits | sign;
  return ~ascending;
}

// Writes the scores that are above minus infinity, which a NaN is not, and returns their number.
template <typename Real>
static inline std::int64_t ranked_scores(const Real *scores, std::int64_t count, Ranked *ranked) {
  std::int64_t found = 0;
  for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double score = static_cast<double>(read_once(scores + i));
      if (!(score > -__builtin_inf())) continue;
      ranked[found++] = Ranked{ranking_key(score), static_cast<std::int32_t>(i)};
    }
  });
  return found;
}

// Sorts by the keys, a byte at a time from the last, so that equal ones keep their order. Returns
// the one of the two arrays, each of `count`, that has the result.
static inline Ranked *sort_ranked(Ranked *ranked, Ranked *other, std::int64_t count) {
  constexpr int kDigits = 8, kValues = 256;
  for (int digit = 0; digit < kDigits && !interrupted(); ++digit) {
    const int shift = 8 * digit;
    std::int64_t place[kValues] = {};
    for (std::int64_t i = 0; i < count; ++i) ++place[ranked[i].key >> shift & 0xff];
    if (count > 0 && place[ranked[0].key >> shift & 0xff] == count) continue;  // they have the same byte
    std::int64_t next = 0;
    for (int value = 0; value < kValues; ++value) {
      const std::int64_t number = place[value];
      place[value] = next;
      next += number;
    }
    for (std::int64_t i = 0; i < count; ++i) other[place[ranked[i].key >> shift & 0xff]++] = ranked[i];
    Ranked *const kept = ranked;
    ranked = other;
    other = kept;
  }
  return ranked;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_RANKING_H_
