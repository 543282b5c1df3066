#ifndef MLUOPS_CPU_CACHE_H_
#define MLUOPS_CPU_CACHE_H_

#include <cstdint>

namespace mluops {

// Results of at least this many bytes do not stay in the last cache and are better written past it.
std::int64_t streaming_bytes();

}  // namespace mluops

#endif  // MLUOPS_CPU_CACHE_H_
