#include "cpu/cache.h"

#include <unistd.h>

namespace mluops {

std::int64_t streaming_bytes() {
  static const std::int64_t bytes = [] {
    constexpr long kUsual = 32L << 20;
    long last_cache = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    last_cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return static_cast<std::int64_t>(last_cache > 0 ? last_cache : kUsual);
  }();
  return bytes;
}

}  // namespace mluops
