#include "cpu/cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cpu/settings.h"

namespace mluops {
namespace {

// Size of a cache of CPU 0 from sysfs, 0 if unknown. sysfs is read before sysconf(): in virtual
// machines with AMD CPUs, sysconf() reports the sum over many last-level caches.
long cache_of_system(const char *path) {
  std::FILE *file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  long kib = 0;
  char unit = '\0';
  const int read = std::fscanf(file, "%ld%c", &kib, &unit);
  std::fclose(file);
  return read == 2 && unit == 'K' && kib > 0 ? kib * 1024 : 0;
}

#if defined(_SC_LEVEL3_CACHE_SIZE)
constexpr int kFirstCache = _SC_LEVEL1_DCACHE_SIZE, kSecondCache = _SC_LEVEL2_CACHE_SIZE;
constexpr int kLastCache = _SC_LEVEL3_CACHE_SIZE;
#else
constexpr int kFirstCache = -1, kSecondCache = -1, kLastCache = -1;
#endif

// The size from sysfs, else from sysconf(), else `usual`; at most `most`, because a larger cache is
// shared with others.
std::int64_t cache_bytes(const char *path, int name, long usual, long most) {
  long bytes = cache_of_system(path);
  if (bytes <= 0 && name >= 0) bytes = sysconf(name);
  return bytes > 0 ? std::min(bytes, most) : usual;
}

}  // namespace

std::int64_t l1d_bytes() {
  static const std::int64_t bytes =
      cache_bytes("/sys/devices/system/cpu/cpu0/cache/index0/size", kFirstCache, 32L << 10, 128L << 10);
  return bytes;
}

std::int64_t l2_bytes() {
  static const std::int64_t bytes =
      cache_bytes("/sys/devices/system/cpu/cpu0/cache/index2/size", kSecondCache, 512L << 10, 4L << 20);
  return bytes;
}

std::int64_t llc_bytes() {
  static const std::int64_t bytes =
      cache_bytes("/sys/devices/system/cpu/cpu0/cache/index3/size", kLastCache, 32L << 20, 128L << 20);
  return bytes;
}

std::int64_t streaming_bytes() {
  // Virtual machines may report the last-level cache of the whole server.
  constexpr std::int64_t kMost = 32 << 20;
  static const std::int64_t bytes =
      settings().streaming_bytes >= 0 ? settings().streaming_bytes : std::min(llc_bytes() / 2, kMost);
  return bytes;
}

}  // namespace mluops
