#include "machine/model.h"

#include <strings.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>

// The architecture of the device, by which functions that bangcc compiled for several architectures
// choose; see pymluops/bang/_variants.py.
extern "C" MLUSIM_API int mlusim_deviceArch;

namespace mlusim {
namespace {

// kModels, kDefaultModel and kArchReason; generated from pymluops/sim/cards.toml.
#include "machine/cards.inc"

mlusimDeviceModel g_device = kModels[kDefaultModel];

// What PYMLUOPS_SIM_DEVICES says: its text, null if it is not set, and the number, 0 if it is none.
struct EnvironmentCount {
  const char *text;
  int number;
};

const EnvironmentCount &environment_count() {
  static const EnvironmentCount known = [] {
    const char *text = std::getenv("PYMLUOPS_SIM_DEVICES");
    if (text == nullptr || *text == '\0') return EnvironmentCount{nullptr, 0};
    char *end = nullptr;
    const long number = std::strtol(text, &end, 10);
    const bool fits = *end == '\0' && number >= 1 && number <= kMaxDevices;
    return EnvironmentCount{strdup(text), fits ? static_cast<int>(number) : 0};
  }();
  return known;
}

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

const mlusimDeviceModel *find_card(int arch) {
  for (const mlusimDeviceModel *model = kModels; model->name[0] != '\0'; ++model) {
    if (model->arch == arch) return model;
  }
  return nullptr;
}

const char *arch_reason() { return kArchReason; }

const mlusimDeviceModel &default_model() { return kModels[kDefaultModel]; }

const mlusimDeviceModel &device() { return g_device; }

bool is_2xx() { return g_device.arch < 300; }

const char *wrong_device_count() {
  const char *const text = environment_count().text;
  return environment_count().number == 0 ? text : nullptr;
}

int device_count() {
  constexpr int kUsual = 8;
  const int number = environment_count().number;
  return number != 0 ? number : kUsual;
}

bool valid_model(const mlusimDeviceModel &model, const char **reason) {
  constexpr std::int64_t kMostKiB = 1 << 16;
  const bool arch = std::any_of(std::begin(kModels), std::end(kModels) - 1,
                                [&model](const mlusimDeviceModel &known) { return known.arch == model.arch; });
  const struct {
    bool holds;
    const char *reason;
  } rules[] = {
      {model.name[0] != '\0' && model.name[sizeof model.name - 1] == '\0', "name: expected 1 to 31 characters"},
      {arch, kArchReason},
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

void set_device(const mlusimDeviceModel &model) {
  g_device = model;
  mlusim_deviceArch = model.arch;
}

}  // namespace mlusim

int mlusim_deviceArch = mlusim::g_device.arch;
