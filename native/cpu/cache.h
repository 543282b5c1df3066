#ifndef MLUOPS_CPU_CACHE_H_
#define MLUOPS_CPU_CACHE_H_

#include <cstdint>

namespace mluops {

// Bytes of the L1 data cache of a CPU.
std::int64_t l1d_bytes();

// Bytes of its L2 cache.
std::int64_t l2_bytes();

// Bytes of the last-level cache, which several CPUs share.
std::int64_t llc_bytes();

// Results of at least this many bytes are written with non-temporal stores: half of the last-level
// cache, since inputs and other programs need the rest, at most 32 MiB; or PYMLUOPS_STREAM_MIB.
std::int64_t streaming_bytes();

}  // namespace mluops

#endif  // MLUOPS_CPU_CACHE_H_
