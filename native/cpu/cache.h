#ifndef MLUOPS_CPU_CACHE_H_
#define MLUOPS_CPU_CACHE_H_

#include <cstdint>

namespace mluops {

// Size of a CPU's first cache for data.
std::int64_t first_cache_bytes();

// Size of its second one.
std::int64_t second_cache_bytes();

// Size of the last cache, which one CPU shares with some others.
std::int64_t last_cache_bytes();

// Results of at least this many bytes are better written past the caches. Twice as many as fit: of those between, a part stays.
inline std::int64_t streaming_bytes() { return 2 * last_cache_bytes(); }

}  // namespace mluops

#endif  // MLUOPS_CPU_CACHE_H_
