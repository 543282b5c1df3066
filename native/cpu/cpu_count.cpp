#include "cpu/cpu_count.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#if defined(__linux__)
#include <sched.h>
#endif
#include <thread>

namespace mluops {
namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max();

int affinity_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

bool read_line(const std::string &path, char *line, int size) {
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const bool read = std::fgets(line, size, file) != nullptr;
  std::fclose(file);
  return read;
}

int quota_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return kUnlimited;
  return static_cast<int>(std::max(1LL, (quota + period - 1) / period));
}

// cgroup v2: "max 100000" or "150000 100000", in the group itself or in one of its parents.
int quota_v2(std::string group) {
  int cpus = kUnlimited;
  for (;;) {
    char line[128];
    long long quota = 0, period = 0;
    if (read_line("/sys/fs/cgroup" + group + "/cpu.max", line, sizeof line) &&
        std::sscanf(line, "%lld %lld", &quota, &period) == 2) {
      cpus = std::min(cpus, quota_cpus(quota, period));
    }
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return cpus;
    group.erase(slash);
  }
}

int quota_v1(const std::string &group) {
  char quota[64], period[64];
  const std::string folder = "/sys/fs/cgroup/cpu" + group;
  if (!read_line(folder + "/cpu.cfs_quota_us", quota, sizeof quota)) return kUnlimited;
  if (!read_line(folder + "/cpu.cfs_period_us", period, sizeof period)) return kUnlimited;
  return quota_cpus(std::atoll(quota), std::atoll(period));
}

// Lines of /proc/self/cgroup are "number:controllers:path"; version 2 has an empty list of
// controllers.
int control_group_cpus() {
  std::FILE *file = std::fopen("/proc/self/cgroup", "re");
  if (file == nullptr) return kUnlimited;
  int cpus = kUnlimited;
  char line[4096];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    const char *controllers = std::strchr(line, ':');
    const char *path = controllers == nullptr ? nullptr : std::strchr(controllers + 1, ':');
    if (path == nullptr) continue;
    const std::string list(controllers + 1, path);
    const std::string group = std::strcmp(path + 1, "/") == 0 ? std::string() : std::string(path + 1);
    if (list.empty()) cpus = std::min(cpus, quota_v2(group));
    if ((',' + list + ',').find(",cpu,") != std::string::npos) {
      // Inside a container the path may name the host's tree while only the container's own group
      // is mounted.
      cpus = std::min({cpus, quota_v1(group), quota_v1(std::string())});
    }
  }
  std::fclose(file);
  return cpus;
}

}  // namespace

int usable_cpus() {
  try {
    return std::min(affinity_cpus(), control_group_cpus());
  } catch (...) {
    return 1;
  }
}

}  // namespace mluops
