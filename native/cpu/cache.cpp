#include "cpu/cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace mluops {
namespace {

// The last cache that the first CPU can use, 0 if the system does not say. It is asked before the C library, whose figure for AMD
// CPUs in virtual machines counts caches of many others.
long last_cache_of_system() {
  std::FILE *file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
  if (file == nullptr) return 0;
  long kib = 0;
  char unit = '\0';
  const int read = std::fscanf(file, "%ld%c", &kib, &unit);
  std::fclose(file);
  return read == 2 && unit == 'K' && kib > 0 ? kib * 1024 : 0;
}

long last_cache_of_library() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  return sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  return 0;
#endif
}

}  // namespace

std::int64_t last_cache_bytes() {
  static const std::int64_t bytes = [] {
    constexpr long kUsual = 32L << 20, kMost = 128L << 20;
    long last_cache = last_cache_of_system();
    if (last_cache <= 0) last_cache = last_cache_of_library();
    return static_cast<std::int64_t>(last_cache > 0 ? std::min(last_cache, kMost) : kUsual);
  }();
  return bytes;
}

}  // namespace mluops
