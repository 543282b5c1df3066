// Stable radix sort of numbers by some of their bits, in chunks that threads work on at once. The
// result does not depend on the chunks.
#ifndef MLUOPS_CPU_CHUNK_SORT_H_
#define MLUOPS_CPU_CHUNK_SORT_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr int kDigitBits = 11;
constexpr std::int64_t kDigits = std::int64_t{1} << kDigitBits;

// Parts of 0 .. count, about one for each thread where they are worth it.
class Chunks {
 public:
  static constexpr std::int64_t kMost = 64, kLeastCount = 8192;

  explicit Chunks(std::int64_t count)
      : count_(count),
        number_(larger<std::int64_t>(smaller(smaller<std::int64_t>(thread_count(), kMost), count / kLeastCount), 1)) {}

  std::int64_t number() const { return number_; }

  // Calls body(chunk, begin, end) for slices of each chunk until the call is interrupted.
  template <typename Body>
  void for_each_slice(const Body &body) const {
    auto some = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t chunk = first; chunk < last; ++chunk) {
        for_slices(chunk * count_ / number_, (chunk + 1) * count_ / number_,
                   [&](std::int64_t begin, std::int64_t end) { body(chunk, begin, end); });
      }
    };
    parallel_for(number_, 1, some);
  }

 private:
  const std::int64_t count_, number_;
};

// Makes the counts of each chunk and digit the places where the first of them goes.
inline void places_of_counts(std::int32_t *counts, std::int64_t chunks, std::int64_t digits) {
  std::int32_t before = 0;
  for (std::int64_t digit = 0; digit < digits; ++digit) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const std::int32_t here = counts[chunk * kDigits + digit];
      counts[chunk * kDigits + digit] = before;
      before += here;
    }
  }
}

// Sorts by the bits from `low` on and below `high`. `other` is as large as `keys`; `counts` has
// kDigits numbers for each chunk. Returns where the result is: `keys` or `other`. Unsorted if the
// call is interrupted.
inline std::uint64_t *sort_by_bits(std::uint64_t *keys, std::uint64_t *other, const Chunks &chunks, int low, int high,
                                   std::int32_t *counts) {
  const int passes = (high - low + kDigitBits - 1) / kDigitBits;
  const int width = passes == 0 ? 0 : (high - low + passes - 1) / passes;
  const std::int64_t digits = std::int64_t{1} << width;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = low + pass * width;
    const std::uint64_t mask = static_cast<std::uint64_t>(digits - 1), *const from = keys;
    std::uint64_t *const to = other;
    for (std::int64_t chunk = 0; chunk < chunks.number(); ++chunk)
      std::memset(counts + chunk * kDigits, 0, static_cast<std::size_t>(digits) * sizeof *counts);
    chunks.for_each_slice([&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *const count = counts + chunk * kDigits;
      for (std::int64_t i = begin; i < end; ++i) ++count[from[i] >> shift & mask];
    });
    if (interrupted()) break;  // the counts may lack some
    places_of_counts(counts, chunks.number(), digits);
    chunks.for_each_slice([&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      std::int32_t *const place = counts + chunk * kDigits;
      for (std::int64_t i = begin; i < end; ++i) to[place[from[i] >> shift & mask]++] = from[i];
    });
    other = keys;
    keys = to;
  }
  return keys;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_CHUNK_SORT_H_
