#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/thread_state.h"
#include "machine/heap.h"
#include "machine/model.h"
#include "runtime/error.h"
#include "runtime/notifier.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

constexpr int kDriverVersion[] = {6, 0, 3};  // the version that mlu-ops 1.11.1 is built for
constexpr int kPciBus = 1;                   // of device 0; the others follow

// Only the product of clock and width has a meaning: it is the model's bandwidth, with two
// transfers per cycle.
constexpr int kBusBits = 2048;

std::atomic<unsigned int> g_flags{cnrtDeviceScheduleSpin};

int memory_clock_khz(const mlusimDeviceModel &model) {
  constexpr double kBitsPerGigabyte = 8e9;
  return static_cast<int>(model.bandwidth_gb_s * kBitsPerGigabyte / (2.0 * kBusBits) / 1e3);
}

// Returns the clusters of the largest union; unions have 1, 2, 4, 8 or 16.
int largest_union(const mlusimDeviceModel &model) {
  int clusters = 1;
  while (clusters * 2 <= model.clusters) clusters *= 2;
  return clusters;
}

cnrtDeviceProp_t properties_of(const mlusimDeviceModel &model, int device) {
  constexpr int kFirstArchWithBf16 = 500;
  cnrtDeviceProp_t properties = {};
  std::memcpy(properties.name, model.name, sizeof model.name);
  properties.totalMem = static_cast<int>(model.memory_mib);
  std::fill(properties.maxDim, properties.maxDim + 3, INT_MAX);
  properties.ipuClockRate = model.clock_mhz * 1000;
  properties.memClockRate = memory_clock_khz(model);
  properties.major = model.arch / 100;
  properties.minor = model.arch / 10 % 10;
  properties.pciBusID = kPciBus + device;
  properties.queuePrioritiesSupported = 1;
  properties.FP16ComputingSupported = 1;
  properties.INT8ComputingSupported = 1;
  properties.BF16ComputingSupported = model.arch >= kFirstArchWithBf16 ? 1 : 0;
  properties.maxQueueSize = INT_MAX;
  properties.maxNotifierSize = INT_MAX;
  properties.maxClusterCountPerUnionTask = largest_union(model);
  properties.clusterCount = model.clusters;
  properties.McorePerCluster = model.cores_per_cluster;
  properties.maxClusterPerUnionLimitTask = largest_union(model);
  properties.ISAVersion = model.arch;
  properties.NramSizePerMcore = model.nram_kib * 1024;
  properties.WramSizePerMcore = model.wram_kib * 1024;
  properties.LmemSizePerMcore = model.stack_kib * 1024;
  properties.SramSizePerMcore = model.sram_kib * 1024;
  properties.globalMemoryNodeCount = 1;
  properties.GmemBusWidth = kBusBits;
  properties.availableGlobalMemorySize = static_cast<int>(model.memory_mib);
  std::memcpy(properties.uuid.uuid, model.name, sizeof properties.uuid.uuid);
  properties.uuid.uuid[sizeof properties.uuid.uuid - 1] = static_cast<char>(device);
  properties.totalGlobalMemSize = static_cast<std::uint64_t>(model.memory_mib) << 20;
  return properties;
}

// The place of an attribute's value in the properties.
struct AttributePlace {
  cnrtDeviceAttr_t attribute;
  int cnrtDeviceProp_t::*member;
};

constexpr AttributePlace kAttributes[] = {
    {cnrtAttrComputeCapabilityMajor, &cnrtDeviceProp_t::major},
    {cnrtAttrComputeCapabilityMinor, &cnrtDeviceProp_t::minor},
    {cnrtAttrFP16ComputingSupported, &cnrtDeviceProp_t::FP16ComputingSupported},
    {cnrtAttrBF16ComputingSupported, &cnrtDeviceProp_t::BF16ComputingSupported},
    {cnrtAttrQueueSize, &cnrtDeviceProp_t::maxQueueSize},
    {cnrtAttrNotifierSize, &cnrtDeviceProp_t::maxNotifierSize},
    {cnrtAttrMaxClusterCountPerUnionTask, &cnrtDeviceProp_t::maxClusterCountPerUnionTask},
    {cnrtAttrClusterCount, &cnrtDeviceProp_t::clusterCount},
    {cnrtAttrMcorePerCluster, &cnrtDeviceProp_t::McorePerCluster},
    {cnrtAttrISAVersion, &cnrtDeviceProp_t::ISAVersion},
    {cnrtAttrMaxL2CacheSize, &cnrtDeviceProp_t::maxL2CacheSize},
    {cnrtAttrNramSizePerMcore, &cnrtDeviceProp_t::NramSizePerMcore},
    {cnrtAttrWramSizePerMcore, &cnrtDeviceProp_t::WramSizePerMcore},
    {cnrtAttrSramSizePerMcore, &cnrtDeviceProp_t::SramSizePerMcore},
    {cnrtAttrAvailableGlobalMemorySize, &cnrtDeviceProp_t::availableGlobalMemorySize},
    {cnrtAttrEccEnable, &cnrtDeviceProp_t::ECCEnabled},
    {cnrtAttrIpuClockRate, &cnrtDeviceProp_t::ipuClockRate},
    {cnrtAttrMemClockRate, &cnrtDeviceProp_t::memClockRate},
    {cnrtAttrGmemBusWidth, &cnrtDeviceProp_t::GmemBusWidth},
    {cnrtAttrTotalMemSize, &cnrtDeviceProp_t::totalMem},
    {cnrtAttrPciBusID, &cnrtDeviceProp_t::pciBusID},
    {cnrtAttrPciDeviceID, &cnrtDeviceProp_t::pciDeviceID},
    {cnrtAttrPciDomainID, &cnrtDeviceProp_t::pciDomainID},
};

bool find_attribute(const cnrtDeviceProp_t &properties, cnrtDeviceAttr_t attribute, int *value) {
  if (attribute >= cnrtAttrMaxDimX && attribute <= cnrtAttrMaxDimZ) {
    *value = properties.maxDim[attribute - cnrtAttrMaxDimX];
    return true;
  }
  for (const AttributePlace &place : kAttributes) {
    if (place.attribute != attribute) continue;
    *value = properties.*place.member;
    return true;
  }
  return false;
}

void write_version(const int (&version)[3], int *major, int *minor, int *patch) {
  if (major != nullptr) *major = version[0];
  if (minor != nullptr) *minor = version[1];
  if (patch != nullptr) *patch = version[2];
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtGetLibVersion(int *major, int *minor, int *patch) {
  write_version({CNRT_MAJOR_VERSION, CNRT_MINOR_VERSION, CNRT_PATCH_VERSION}, major, minor, patch);
  return cnrtSuccess;
}

cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch) {
  write_version(kDriverVersion, major, minor, patch);
  return cnrtSuccess;
}

cnrtRet_t cnrtGetDeviceCount(unsigned int *count) {
  return guarded(__func__, [&](const char *function) {
    if (count == nullptr) return refuse_null(function, "count");
    *count = static_cast<unsigned int>(device_count());
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtGetDevice(int *device) {
  return guarded(__func__, [&](const char *function) {
    if (device == nullptr) return refuse_null(function, "device");
    *device = thread_state().device;
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtSetDevice(int device) {
  return guarded(__func__, [&](const char *function) {
    const cnrtRet_t error = check_device(function, "device", device);
    if (error == cnrtSuccess) thread_state().device = device;
    return error;
  });
}

cnrtRet_t cnrtSyncDevice(void) {
  return guarded(__func__, [&](const char *) {
    const int device = thread_state().device;
    const cnrtRet_t error = wait_for_device(device);
    return error == cnrtSuccess ? take_all_errors(device) : error;
  });
}

cnrtRet_t cnrtDeviceReset(void) {
  return guarded(__func__, [&](const char *function) {
    if (serves_queues()) {
      return explain(cnrtErrorOpsNotPermitted, "%s: a function that a queue runs must not wait", function);
    }
    const int device = thread_state().device;
    destroy_notifiers(device);
    const cnrtRet_t error = wait_for_device(device);
    if (error != cnrtSuccess) return error;
    take_all_errors(device);
    destroy_queues(device);
    heap_reset(device);
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtGetDeviceFlag(unsigned int *flags) {
  return guarded(__func__, [&](const char *function) {
    if (flags == nullptr) return refuse_null(function, "flags");
    *flags = g_flags;
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtSetDeviceFlag(unsigned int flags) {
  return guarded(__func__, [&](const char *function) {
    if (flags > cnrtDeviceScheduleAuto) {
      return explain(cnrtErrorArgsInvalid, "%s: flags: expected 0 to 3, got %u", function, flags);
    }
    g_flags = flags;
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtDeviceGetAttribute(int *value, cnrtDeviceAttr_t attribute, int device) {
  return guarded(__func__, [&](const char *function) {
    if (value == nullptr) return refuse_null(function, "value");
    const cnrtRet_t error = check_device(function, "device", device);
    if (error != cnrtSuccess) return error;
    if (find_attribute(properties_of(mlusim::device(), device), attribute, value)) return cnrtSuccess;
    return explain(cnrtErrorNoAttribute, "%s: attribute: none has the number %d", function,
                   static_cast<int>(attribute));
  });
}

cnrtRet_t cnrtGetDeviceProperties_V3(cnrtDeviceProp_t *properties, int device) {
  return guarded(__func__, [&](const char *function) {
    if (properties == nullptr) return refuse_null(function, "properties");
    const cnrtRet_t error = check_device(function, "device", device);
    if (error == cnrtSuccess) *properties = properties_of(mlusim::device(), device);
    return error;
  });
}

cnrtRet_t cnrtDeviceGetPCIBusId(char *id, int length, int device) {
  return guarded(__func__, [&](const char *function) {
    if (id == nullptr) return refuse_null(function, "id");
    const cnrtRet_t error = check_device(function, "device", device);
    if (error != cnrtSuccess) return error;
    char text[16];
    const int used = std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", 0, kPciBus + device, 0);
    if (length <= used) {
      return explain(cnrtErrorArgsInvalid, "%s: length: expected at least %d, got %d", function, used + 1, length);
    }
    std::memcpy(id, text, static_cast<std::size_t>(used) + 1);
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtDeviceGetQueuePriorityRange(int *least, int *greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return cnrtSuccess;
}

cnrtRet_t cnrtGetPeerAccessibility(unsigned int *can, int device, int peer) {
  return guarded(__func__, [&](const char *function) {
    if (can == nullptr) return refuse_null(function, "can");
    cnrtRet_t error = check_device(function, "device", device);
    if (error == cnrtSuccess) error = check_device(function, "peer", peer);
    if (error == cnrtSuccess) *can = device != peer ? 1 : 0;
    return error;
  });
}
