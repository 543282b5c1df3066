#include "machine/model.h"

#include <strings.h>

#include <cstddef>

namespace mlusim {
namespace {

// Memories: the compilers' target definitions. Clusters, clocks and bandwidths: what vendor and users have published about the
// cards; docs/simulator.md says which figure is from where and which are guesses. No result depends on clock or bandwidth.
constexpr mlusimDeviceModel kModels[] = {
    //  name        arch clusters cores nram wram  sram  stack memory  clock GB/s
    {"MLU270", 270, 4, 4, 512, 1024, 2048, 1024, 16384, 1000, 102},
    {"MLU290", 290, 16, 4, 512, 512, 2048, 1024, 32768, 1000, 1024},
    {"MLU370-X8", 372, 4, 4, 768, 1024, 4096, 1024, 24576, 1300, 307},
    {"MLU590", 592, 12, 4, 512, 512, 2048, 1024, 81920, 1300, 2048},
    {},
};
constexpr int kDefaultModel = 2;

mlusimDeviceModel g_device = kModels[kDefaultModel];

bool within(std::int64_t value, std::int64_t least, std::int64_t most) { return value >= least && value <= most; }

}  // namespace

const mlusimDeviceModel *known_models() { return kModels; }

const mlusimDeviceModel *find_model(const char *name) {
  if (name == nullptr) return nullptr;
  for (const mlusimDeviceModel *model = kModels; model->name[0] != '\0'; ++model) {
    if (strcasecmp(model->name, name) == 0) return model;
  }
  return nullptr;
}

const mlusimDeviceModel &device() { return g_device; }

bool valid_model(const mlusimDeviceModel &model, const char **reason) {
  constexpr std::int64_t kMostKiB = 1 << 16;
  const bool arch = model.arch == 270 || model.arch == 290 || model.arch == 372 || model.arch == 592;
  const struct {
    bool holds;
    const char *reason;
  } rules[] = {
      {model.name[0] != '\0' && model.name[sizeof model.name - 1] == '\0', "name: expected 1 to 31 characters"},
      {arch, "arch: expected 270, 290, 372 or 592"},
      {within(model.clusters, 1, kMaxClusters), "clusters: expected 1 to 16"},
      {within(model.cores_per_cluster, 1, kMaxCoresPerCluster), "cores_per_cluster: expected 1 to 4"},
      {within(model.nram_kib, 1, kMostKiB), "nram_kib: expected 1 to 65536"},
      {within(model.wram_kib, 1, kMostKiB), "wram_kib: expected 1 to 65536"},
      {within(model.sram_kib, 0, kMostKiB), "sram_kib: expected 0 to 65536"},
      {within(model.stack_kib, 64, kMostKiB), "stack_kib: expected 64 to 65536"},
      {within(model.memory_mib, 1, 1 << 20), "memory_mib: expected 1 to 1048576"},
      {within(model.clock_mhz, 1, 100000), "clock_mhz: expected 1 to 100000"},
      {within(model.bandwidth_gb_s, 1, 1000000), "bandwidth_gb_s: expected 1 to 1000000"},
  };
  for (const auto &rule : rules) {
    if (!rule.holds) {
      *reason = rule.reason;
      return false;
    }
  }
  return true;
}

void set_device(const mlusimDeviceModel &model) { g_device = model; }

}  // namespace mlusim
