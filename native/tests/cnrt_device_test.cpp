// Errors, versions, attributes and the choice of the device.
#include "cnrt.h"

#include <climits>
#include <cstdint>
#include <thread>

#include "harness.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

// ---- Errors, versions, device -------------------------------------------------------------------

TEST(names_and_texts_of_errors) {
  CHECK_EQ(std::string(cnrtGetErrorName(cnrtSuccess)), "cnrtSuccess");
  CHECK_EQ(std::string(cnrtGetErrorName(cnrtErrorKernelTrap)), "cnrtErrorKernelTrap");
  CHECK_EQ(std::string(cnrtGetErrorName(cnrtErrorMax)), "cnrtErrorMax");
  CHECK(std::strstr(cnrtGetErrorStr(cnrtErrorKernelTrap), "mlusimGetReport") != nullptr);
  for (const int value : {-1, 2, 100001, 1000000, INT_MAX, INT_MIN}) {
    CHECK_EQ(std::string(cnrtGetErrorName(number<cnrtRet_t>(value))), "cnrtErrorUnknown");
    CHECK(std::strlen(cnrtGetErrorStr(number<cnrtRet_t>(value))) > 0);
  }
}

TEST(the_last_error_is_the_thread_s) {
  cnrtGetLastError();
  CHECK_EQ(cnrtSetDevice(8), cnrtErrorDeviceInvalid);
  CHECK(says("cnrtSetDevice: device: expected 0 to 7, got 8"));
  CHECK_EQ(cnrtSetDevice(0), cnrtSuccess);
  CHECK_EQ(cnrtPeekAtLastError(), cnrtErrorDeviceInvalid);
  std::thread([] {
    CHECK_EQ(cnrtPeekAtLastError(), cnrtSuccess);
    CHECK_EQ(sentence(), "");
    cnrtGetDevice(nullptr);
    CHECK_EQ(cnrtGetLastError(), cnrtErrorArgsInvalid);
  }).join();
  CHECK_EQ(cnrtGetLastError(), cnrtErrorDeviceInvalid);
  CHECK_EQ(cnrtGetLastError(), cnrtSuccess);
}

TEST(versions) {
  int major = 0, minor = 0, patch = 0;
  CHECK_EQ(cnrtGetLibVersion(&major, &minor, &patch), cnrtSuccess);
  CHECK_EQ(major * 10000 + minor * 100 + patch, CNRT_VERSION);
  CHECK_EQ(cnrtGetLibVersion(nullptr, nullptr, nullptr), cnrtSuccess);
  CHECK_EQ(cnrtDriverGetVersion(&major, nullptr, nullptr), cnrtSuccess);
  CHECK(major >= 2);
}

TEST(device_functions) {
  unsigned count = 0, flags = 7, can = 7;
  int device = 7, least = 0, greatest = 7;
  CHECK_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  CHECK_EQ(count, 8u);
  CHECK_EQ(cnrtGetDevice(&device), cnrtSuccess);
  CHECK_EQ(device, 0);
  CHECK_EQ(cnrtSetDeviceFlag(cnrtDeviceScheduleYield), cnrtSuccess);
  CHECK_EQ(cnrtSetDeviceFlag(4), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtGetDeviceFlag(&flags), cnrtSuccess);
  CHECK_EQ(flags, static_cast<unsigned>(cnrtDeviceScheduleYield));
  CHECK_EQ(cnrtSetDeviceFlag(cnrtDeviceScheduleSpin), cnrtSuccess);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, 0, 0), cnrtSuccess);
  CHECK_EQ(can, 0u);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, 0, 7), cnrtSuccess);
  CHECK_EQ(can, 1u);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, 0, 8), cnrtErrorDeviceInvalid);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, -1, 0), cnrtErrorDeviceInvalid);
  CHECK_EQ(cnrtDeviceGetQueuePriorityRange(&least, &greatest), cnrtSuccess);
  CHECK(least == 7 && greatest == 0);
  char id[16] = "x";
  CHECK_EQ(cnrtDeviceGetPCIBusId(id, 12, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtDeviceGetPCIBusId(id, -1, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(std::string(id), "x");
  CHECK_EQ(cnrtDeviceGetPCIBusId(id, 13, 0), cnrtSuccess);
  CHECK_EQ(std::string(id), "0000:01:00.0");
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(attributes_are_those_of_the_model) {
  mlusimDeviceModel model;
  CHECK_EQ(mlusimGetDevice(&model), 0);
  const struct {
    cnrtDeviceAttr_t attribute;
    std::int64_t value;
  } wanted[] = {
      {cnrtAttrClusterCount, model.clusters},
      {cnrtAttrMcorePerCluster, model.cores_per_cluster},
      {cnrtAttrNramSizePerMcore, model.nram_kib * 1024},
      {cnrtAttrWramSizePerMcore, model.wram_kib * 1024},
      {cnrtAttrSramSizePerMcore, model.sram_kib * 1024},
      {cnrtAttrISAVersion, model.arch},
      {cnrtAttrIpuClockRate, model.clock_mhz * 1000},
      {cnrtAttrTotalMemSize, model.memory_mib},
      {cnrtAttrComputeCapabilityMajor, model.arch / 100},
  };
  for (const auto &entry : wanted) {
    int value = -1;
    CHECK_EQ(cnrtDeviceGetAttribute(&value, entry.attribute, 0), cnrtSuccess);
    CHECK_EQ(value, entry.value);
  }
  int value = -1, clock = 0, width = 0;
  for (const int none : {0, 3, 0x200, 0x204 + 100, -1, INT_MAX}) {
    CHECK_EQ(cnrtDeviceGetAttribute(&value, number<cnrtDeviceAttr_t>(none), 0), cnrtErrorNoAttribute);
  }
  CHECK_EQ(cnrtDeviceGetAttribute(&value, cnrtAttrClusterCount, 8), cnrtErrorDeviceInvalid);
  CHECK_EQ(value, -1);
  for (const cnrtDeviceAttr_t axis : {cnrtAttrMaxDimX, cnrtAttrMaxDimY, cnrtAttrMaxDimZ}) {
    CHECK_EQ(cnrtDeviceGetAttribute(&value, axis, 0), cnrtSuccess);
    CHECK(value >= 65535);
  }
  CHECK_EQ(cnrtDeviceGetAttribute(&clock, cnrtAttrMemClockRate, 0), cnrtSuccess);
  CHECK_EQ(cnrtDeviceGetAttribute(&width, cnrtAttrGmemBusWidth, 0), cnrtSuccess);
  const double gigabytes = 2.0 * clock * 1e3 * width / 8 / 1e9;
  CHECK(gigabytes > model.bandwidth_gb_s * 0.999 && gigabytes < model.bandwidth_gb_s * 1.001);
}

TEST(properties_say_what_attributes_say) {
  cnrtDeviceProp_t properties;
  mlusimDeviceModel model;
  mlusimGetDevice(&model);
  CHECK_EQ(cnrtGetDeviceProperties(&properties, 0), cnrtSuccess);
  CHECK_EQ(std::string(properties.name), model.name);
  CHECK_EQ(properties.clusterCount, model.clusters);
  CHECK_EQ(properties.NramSizePerMcore, model.nram_kib * 1024);
  CHECK_EQ(properties.totalGlobalMemSize, static_cast<std::uint64_t>(model.memory_mib) << 20);
  CHECK(properties.maxClusterCountPerUnionTask <= model.clusters);
  CHECK_EQ(cnrtGetDeviceProperties(&properties, -1), cnrtErrorDeviceInvalid);
}

TEST(null_pointers_are_refused) {
  const OwnedQueue queue;
  const OwnedNotifier notifier;
  unsigned count = 0;
  float time = 0;
  void *pointer = nullptr;
  for (const cnrtRet_t error : {cnrtGetDeviceCount(nullptr),
                                cnrtGetDevice(nullptr),
                                cnrtGetDeviceFlag(nullptr),
                                cnrtDeviceGetAttribute(nullptr, cnrtAttrClusterCount, 0),
                                cnrtGetDeviceProperties(nullptr, 0),
                                cnrtDeviceGetPCIBusId(nullptr, 100, 0),
                                cnrtGetPeerAccessibility(nullptr, 0, 0),
                                cnrtMalloc(nullptr, 1),
                                cnrtMallocConstant(nullptr, 1),
                                cnrtHostMalloc(nullptr, 1),
                                cnrtMemAllocAsync(nullptr, 1, queue),
                                cnrtMemcpy(nullptr, &count, 4, cnrtMemcpyHostToDev),
                                cnrtMemcpy(&count, nullptr, 4, cnrtMemcpyDevToHost),
                                cnrtMemcpyAsync(nullptr, nullptr, 4, queue, cnrtMemcpyHostToHost),
                                cnrtMemcpyAsync_V2(nullptr, nullptr, 4, queue, cnrtMemcpyDevToDev),
                                cnrtMemcpyAsync_V3(nullptr, nullptr, 4, queue, cnrtMemcpyNoDirection),
                                cnrtMemcpyPeer(nullptr, 0, nullptr, 0, 4),
                                cnrtMemcpyPeerAsync(nullptr, 0, nullptr, 0, 4, queue),
                                cnrtMemcpy2D(nullptr, 4, nullptr, 4, 4, 1, cnrtMemcpyHostToHost),
                                cnrtMemcpy3D(nullptr),
                                cnrtMemset(nullptr, 0, 4),
                                cnrtMemsetAsync(nullptr, 0, 4, queue),
                                cnrtPointerGetAttributes(nullptr, &count),
                                cnrtQueueCreate(nullptr),
                                cnrtQueueCreateWithPriority(nullptr, 0, 7),
                                cnrtQueueGetPriority(queue, nullptr),
                                cnrtNotifierCreate(nullptr),
                                cnrtNotifierCreateWithFlags(nullptr, 0),
                                cnrtInvokeKernel(nullptr, kOne, cnrtFuncTypeBlock, nullptr, 0, queue),
                                cnrtInvokeHostFunc(queue, nullptr, nullptr)}) {
    CHECK_EQ(error, cnrtErrorArgsInvalid);
  }
  CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  CHECK_EQ(cnrtNotifierElapsedTime(notifier, notifier, nullptr), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtNotifierDuration(notifier, notifier, nullptr), cnrtErrorArgsInvalid);
  for (const cnrtRet_t error :
       {cnrtNotifierDestroy(nullptr), cnrtPlaceNotifier(nullptr, nullptr),
        cnrtPlaceNotifierWithFlags(nullptr, nullptr, 0), cnrtQueryNotifier(nullptr), cnrtWaitNotifier(nullptr),
        cnrtQueueWaitNotifier(nullptr, nullptr, 0), cnrtNotifierElapsedTime(nullptr, notifier, &time),
        cnrtNotifierDuration(notifier, nullptr, &time), cnrtQueueDestroy(nullptr)}) {
    CHECK_EQ(error, cnrtErrorInvalidResourceHandle);
  }
  for (const cnrtRet_t error :
       {cnrtFree(nullptr), cnrtFreeHost(nullptr), cnrtMemFreeAsync(nullptr, queue), cnrtMemGetInfo(nullptr, nullptr),
        cnrtDriverGetVersion(nullptr, nullptr, nullptr), cnrtDeviceGetQueuePriorityRange(nullptr, nullptr),
        cnrtMemcpy(nullptr, nullptr, 0, cnrtMemcpyHostToDev), cnrtMemset(nullptr, 1, 0),
        cnrtMemcpy2D(nullptr, 0, nullptr, 0, 4, 0, cnrtMemcpyHostToDev), cnrtQueueSync(nullptr),
        cnrtQueueQuery(nullptr)}) {
    CHECK_EQ(error, cnrtSuccess);
  }
  CHECK_EQ(pointer, nullptr);
  CHECK_EQ(mlusimGetDevice(nullptr), -1);
  CHECK_EQ(mlusimSetDeviceByName(nullptr), -1);
  CHECK_EQ(mlusimGetKnownModel(0, nullptr), -1);
  CHECK_EQ(mlusimGetCounters(nullptr), -1);
}

// ---- Other devices ------------------------------------------------------------------------------

TEST(the_device_changes_only_while_it_is_not_in_use) {
  mlusimDeviceModel usual, model, found;
  CHECK_EQ(mlusimGetDevice(&usual), 0);
  int models = 0;
  while (mlusimGetKnownModel(models, &model) == 0) ++models;
  CHECK(models >= 4);
  CHECK_EQ(mlusimGetKnownModel(-1, &model), -1);
  CHECK_EQ(mlusimGetKnownModel(INT_MAX, &model), -1);
  CHECK_EQ(mlusimSetDeviceByName("no such card"), -1);
  CHECK(says("got 'no such card'"));
  {
    const Device<int> memory(1);
    CHECK_EQ(mlusimSetDeviceByName("MLU290"), -1);
    CHECK(says("device memory is still allocated"));
  }
  {
    const OwnedQueue queue;
    CHECK_EQ(mlusimSetDeviceByName("MLU290"), -1);
  }
  {
    const OwnedNotifier notifier;
    CHECK_EQ(mlusimSetDeviceByName("MLU290"), -1);
  }
  launch_crash(nullptr);
  CHECK_EQ(mlusimSetDeviceByName("MLU290"), -1);
  CHECK_EQ(cnrtSyncDevice(), cnrtErrorKernelTrap);
  for (int i = 0; i < models; ++i) {
    CHECK_EQ(mlusimGetKnownModel(i, &model), 0);
    CHECK_EQ(mlusimSetDeviceByName(model.name), 0);
    CHECK_EQ(mlusimGetDevice(&found), 0);
    CHECK_EQ(std::string(found.name), model.name);
    int clusters = 0;
    CHECK_EQ(cnrtDeviceGetAttribute(&clusters, cnrtAttrClusterCount, 0), cnrtSuccess);
    CHECK_EQ(clusters, model.clusters);
    Device<int> memory(100);
    memory.set(std::vector<int>(100, i));
    launch(nullptr, [](int *values) { values[99] += 1; }, memory.data);
    CHECK_EQ(memory.get()[99], i + 1);
  }
  CHECK_EQ(mlusimPreferArch(270), -1);  // another one was set last
  CHECK(says("MLU590 was chosen, whose architecture is 592"));
  CHECK_EQ(mlusimSetDevice(nullptr), 0);
  CHECK_EQ(mlusimPreferArch(270), 0);
  CHECK_EQ(mlusimPreferArch(271), -1);
  CHECK_EQ(mlusimGetDevice(&found), 0);
  CHECK_EQ(std::string(found.name), "MLU270");
  model = usual;
  model.clusters = 0;
  CHECK_EQ(mlusimSetDevice(&model), -1);
  model = usual;
  model.memory_mib = 1;
  CHECK_EQ(mlusimSetDevice(&model), 0);
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, (1 << 20) + 1), cnrtErrorNoMem);
  CHECK_EQ(mlusimSetDevice(&usual), 0);
}

TEST(time_limit_of_launches) {
  const double usual = mlusimGetTimeLimit();
  for (const double bad : {-1.0, 1e10, std::nan(""), HUGE_VAL}) CHECK_EQ(mlusimSetTimeLimit(bad), -1);
  CHECK_EQ(mlusimSetTimeLimit(0.1), 0);
  CHECK_EQ(mlusimGetTimeLimit(), 0.1);
  launch(nullptr, [] {
    for (;;) sleep_ms(1);
  });
  CHECK_EQ(cnrtQueueSync(nullptr), cnrtErrorKernelTrap);
  CHECK(std::strstr(mlusimGetReport(), "time-limit") != nullptr);
  CHECK_EQ(mlusimSetTimeLimit(usual), 0);
}

TEST(the_next_launch_works_wherever_the_time_limit_ended_one) {
  const double usual = mlusimGetTimeLimit();
  CHECK_EQ(mlusimSetTimeLimit(0.005), 0);
  for (int i = 0; i < 100; ++i) {
    // Tasks that do nothing: mostly the limit comes while a core begins or ends one.
    CHECK_EQ(cnrtInvokeKernel(reinterpret_cast<void *>(+[](void **) {}), {4000, 4000, 16}, cnrtFuncTypeBlock, nullptr,
                              0, nullptr),
             cnrtSuccess);
    CHECK_EQ(cnrtQueueSync(nullptr), cnrtErrorKernelTrap);
  }
  CHECK_EQ(mlusimSetTimeLimit(usual), 0);
  mlusimClearFindings();
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
