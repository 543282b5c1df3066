#ifndef MLUOPS_CPU_CACHE_H_
#define MLUOPS_CPU_CACHE_H_

#include <cstdint>

namespace mluops {

// Size of a CPU's first cache for data.
std::int64_t l1d_bytes();

// Size of its second one.
std::int64_t l2_bytes();

// Size of the last cache, which one CPU shares with some others.
std::int64_t llc_bytes();

// Results of at least this many bytes are better written past the caches: half of the last cache, of which inputs and other programs have
// their part too, but no more than 32 MiB; or as many MiB as the environment variable PYMLUOPS_STREAM_MIB says.
std::int64_t streaming_bytes();

}  // namespace mluops

#endif  // MLUOPS_CPU_CACHE_H_
