// The runtime: devices, memory, queues, notifiers, launches, from one thread, from many, and across a fork.
#include "cnrt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "harness.h"
#include "machine/memory.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

// ---- Errors, versions, device -------------------------------------------------------------------------------------------

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
  CHECK_EQ(cnrtSetDevice(1), cnrtErrorDeviceInvalid);
  CHECK(says("cnrtSetDevice: device: expected 0, got 1"));
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
  CHECK_EQ(count, 1u);
  CHECK_EQ(cnrtGetDevice(&device), cnrtSuccess);
  CHECK_EQ(device, 0);
  CHECK_EQ(cnrtSetDeviceFlag(cnrtDeviceScheduleYield), cnrtSuccess);
  CHECK_EQ(cnrtSetDeviceFlag(4), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtGetDeviceFlag(&flags), cnrtSuccess);
  CHECK_EQ(flags, static_cast<unsigned>(cnrtDeviceScheduleYield));
  CHECK_EQ(cnrtSetDeviceFlag(cnrtDeviceScheduleSpin), cnrtSuccess);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, 0, 0), cnrtSuccess);
  CHECK_EQ(can, 0u);
  CHECK_EQ(cnrtGetPeerAccessibility(&can, 0, 1), cnrtErrorDeviceInvalid);
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
  CHECK_EQ(cnrtDeviceGetAttribute(&value, cnrtAttrClusterCount, 1), cnrtErrorDeviceInvalid);
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
  CHECK_EQ(mlusimSetDevice(nullptr), -1);
  CHECK_EQ(mlusimSetDeviceByName(nullptr), -1);
  CHECK_EQ(mlusimGetKnownModel(0, nullptr), -1);
  CHECK_EQ(mlusimGetCounters(nullptr), -1);
}

// ---- Memory -------------------------------------------------------------------------------------------------------------

TEST(allocations_are_counted_and_freed) {
  const mlusimCounters before = counters();
  std::size_t free_before = 0, free_now = 0, total = 0;
  CHECK_EQ(cnrtMemGetInfo(&free_before, &total), cnrtSuccess);
  CHECK(free_before <= total);
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
  CHECK_EQ(counters().live_bytes, before.live_bytes + 1000);
  CHECK_EQ(cnrtMemGetInfo(&free_now, nullptr), cnrtSuccess);
  CHECK_EQ(free_before - free_now, 1024u);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
  CHECK_EQ(cnrtMalloc(&pointer, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMalloc(&pointer, total + 1), cnrtErrorNoMem);
  CHECK_EQ(cnrtMalloc(&pointer, SIZE_MAX), cnrtErrorNoMem);
  CHECK_EQ(cnrtMallocConstant(&pointer, 16), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
}

TEST(what_cannot_be_freed) {
  int on_host = 0;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(cnrtFree(static_cast<char *>(pointer) + 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtFree(&on_host), cnrtErrorArgsInvalid);
  CHECK(says("got host memory"));
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  CHECK(says("cnrtFree: pointer: that was freed before"));
  CHECK_EQ(cnrtMemFreeAsync(pointer, nullptr), cnrtErrorArgsInvalid);
}

TEST(a_double_free_is_a_finding_of_the_memory_checker) {
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_MEMORY), 0);
  mlusimClearFindings();
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(mlusimGetFindingCount(), 0u);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  int value = 0;
  CHECK_EQ(cnrtMemcpy(&value, pointer, 4, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  mlusimFinding findings[2];
  CHECK_EQ(mlusimGetFindingCount(), 2u);
  CHECK_EQ(mlusimGetFinding(0, &findings[0]), 0);
  CHECK_EQ(mlusimGetFinding(1, &findings[1]), 0);
  CHECK_EQ(std::string(findings[0].checker) + " " + findings[0].rule, "memory double-free");
  CHECK_EQ(findings[0].address, reinterpret_cast<std::uintptr_t>(pointer));
  CHECK_EQ(std::string(findings[1].rule), "use-after-free");
  CHECK_EQ(findings[1].size, 4u);
  CHECK_EQ(mlusimSetChecks(0), 0);
  mlusimClearFindings();
}

TEST(host_memory_for_copies) {
  void *pointer = nullptr;
  CHECK_EQ(cnrtHostMalloc(&pointer, 5000), cnrtSuccess);
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 4096, 0u);
  std::memset(pointer, 1, 5000);
  cnrtPointerAttributes_t attributes;
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, static_cast<char *>(pointer) + 4999), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeHost && attributes.size == 5000);
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, static_cast<char *>(pointer) + 5000), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeUnregistered);
  CHECK_EQ(cnrtFreeHost(static_cast<char *>(pointer) + 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtFreeHost(pointer), cnrtSuccess);
  CHECK_EQ(cnrtFreeHost(pointer), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtHostMalloc(&pointer, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtHostMalloc(&pointer, SIZE_MAX), cnrtErrorSysNoMem);
}

TEST(attributes_of_pointers) {
  const Device<char> memory(1000);
  cnrtPointerAttributes_t attributes;
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, memory.data + 10), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeDevice && attributes.device == 0 && attributes.size == 1000);
  CHECK(attributes.deviceBasePointer == memory.data && attributes.devicePointer == memory.data + 10);
  CHECK(attributes.hostPointer == nullptr);
  for (const void *other : {static_cast<const void *>(memory.data + 1000), static_cast<const void *>(&attributes),
                            static_cast<const void *>(nullptr)}) {
    CHECK_EQ(cnrtPointerGetAttributes(&attributes, other), cnrtSuccess);
    CHECK(attributes.type == cnrtMemTypeUnregistered && attributes.devicePointer == nullptr);
  }
}

TEST(copies_in_all_directions) {
  const Bytes bytes = random_bytes(10007, 1);
  Device<unsigned char> first(bytes.size()), second(bytes.size());
  first.set(bytes);
  CHECK(first.get() == bytes);
  CHECK_EQ(cnrtMemcpy(second.data, first.data, bytes.size(), cnrtMemcpyDevToDev), cnrtSuccess);
  CHECK(second.get() == bytes);
  CHECK_EQ(cnrtMemset(second.data, 0x1ff, 5), cnrtSuccess);
  CHECK_EQ(second.get()[4], 0xff);
  CHECK_EQ(second.get()[5], bytes[5]);
  CHECK_EQ(cnrtMemcpy(second.data, first.data, bytes.size(), cnrtMemcpyPeerToPeer), cnrtSuccess);
  CHECK(second.get() == bytes);
  Bytes host(bytes.size());
  CHECK_EQ(cnrtMemcpy(host.data(), const_cast<unsigned char *>(bytes.data()), bytes.size(), cnrtMemcpyHostToHost),
           cnrtSuccess);
  CHECK(host == bytes);
  // Overlapping pieces of one allocation.
  CHECK_EQ(cnrtMemcpy(first.data + 1, first.data, bytes.size() - 1, cnrtMemcpyDevToDev), cnrtSuccess);
  CHECK(std::equal(bytes.begin(), bytes.end() - 1, first.get().begin() + 1));
  for (Device<unsigned char> *source : {&first, &second}) {
    CHECK_EQ(cnrtMemcpy(host.data(), source->data, host.size(), cnrtMemcpyNoDirection), cnrtSuccess);
    CHECK(host == source->get());
    CHECK_EQ(cnrtMemcpyPeer(second.data, 0, first.data, 0, host.size()), cnrtSuccess);
  }
  CHECK_EQ(cnrtMemcpyPeer(second.data, 0, first.data, 1, host.size()), cnrtErrorDeviceInvalid);
}

TEST(copies_that_are_refused) {
  const Device<char> memory(100), other(100);
  std::vector<char> host(200);
  const auto copy = [](void *dst, void *src, std::size_t bytes, cnrtMemTransDir_t dir) {
    return cnrtMemcpy(dst, src, bytes, dir);
  };
  CHECK_EQ(copy(memory.data, host.data(), 101, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("cnrtMemcpy: dst: expected 101 bytes of device memory") && says("of 100 bytes"));
  CHECK_EQ(copy(memory.data + 1, host.data(), 100, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(memory.data - 1, host.data(), 2, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), memory.data + 99, 2, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), host.data() + 100, 8, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("got host memory"));
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("src: expected 8 bytes of host memory"));
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), memory.data, SIZE_MAX, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), mlusim::onchip_range().begin, 8, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  // The other way round.
  CHECK_EQ(copy(memory.data, host.data(), 8, cnrtMemcpyDevToHost), cnrtErrorMemcpyDirectionInvalid);
  CHECK(says("expected what goes from host to device memory, got cnrtMemcpyDevToHost"));
  CHECK_EQ(copy(host.data(), memory.data, 8, cnrtMemcpyHostToDev), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyHostToHost), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(copy(host.data(), host.data(), 8, cnrtMemcpyDevToDev), cnrtErrorMemcpyDirectionInvalid);
  for (const int dir : {-1, 6, INT_MAX}) {
    CHECK_EQ(copy(memory.data, host.data(), 8, number<cnrtMemTransDir_t>(dir)), cnrtErrorMemcpyDirectionInvalid);
  }
  CHECK_EQ(cnrtMemset(host.data(), 0, 8), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMemset(memory.data, 0, 101), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMemsetAsync(memory.data + 101, 0, 1, nullptr), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(rectangles) {
  constexpr std::size_t kHostPitch = 37, kDevicePitch = 64, kWidth = 29, kHeight = 17;
  const Bytes bytes = random_bytes(kHostPitch * kHeight, 2);
  Device<unsigned char> memory(kDevicePitch * (kHeight - 1) + kWidth);
  CHECK_EQ(cnrtMemset(memory.data, 9, memory.count), cnrtSuccess);
  CHECK_EQ(cnrtMemcpy2D(memory.data, kDevicePitch, bytes.data(), kHostPitch, kWidth, kHeight, cnrtMemcpyHostToDev),
           cnrtSuccess);
  const Bytes on_device = memory.get();
  for (std::size_t i = 0; i < on_device.size(); ++i) {
    const std::size_t row = i / kDevicePitch, column = i % kDevicePitch;
    CHECK_EQ(on_device[i], column < kWidth ? bytes[row * kHostPitch + column] : 9);
  }
  Bytes back(kHeight * kWidth);
  CHECK_EQ(cnrtMemcpy2D(back.data(), kWidth, memory.data, kDevicePitch, kWidth, kHeight, cnrtMemcpyDevToHost),
           cnrtSuccess);
  for (std::size_t i = 0; i < back.size(); ++i) CHECK_EQ(back[i], bytes[i / kWidth * kHostPitch + i % kWidth]);
  const auto refused = [&](std::size_t pitch, std::size_t width, std::size_t height) {
    return cnrtMemcpy2D(memory.data, pitch, bytes.data(), width, width, height, cnrtMemcpyHostToDev);
  };
  CHECK_EQ(refused(kDevicePitch, kWidth + 1, kHeight), cnrtErrorArgsInvalid);  // one byte behind the end
  CHECK_EQ(refused(kWidth - 1, kWidth, kHeight), cnrtErrorArgsInvalid);        // rows overlap
  CHECK_EQ(refused(SIZE_MAX, kWidth, 3), cnrtErrorArgsInvalid);
  CHECK_EQ(refused(SIZE_MAX / 2 + 1, 1, 3), cnrtErrorArgsInvalid);
  CHECK_EQ(refused(1, 1, SIZE_MAX), cnrtErrorArgsInvalid);
}

TEST(boxes) {
  constexpr std::size_t kPitch = 20, kRows = 7, kPlanes = 5, kWidth = 6, kHeight = 3, kDepth = 2;
  const Bytes bytes = random_bytes(kPitch * kRows * kPlanes, 3);
  Device<unsigned char> memory(kPitch * kRows * kPlanes);
  memory.set(bytes);
  Bytes host(9 * 4 * 3, 7);
  cnrtMemcpy3dParam_t box = {};
  box.srcPtr = {memory.data, kPitch, kPitch, kRows};
  box.srcPos = {3, 2, 1};
  box.dstPtr = {host.data(), 9, 9, 4};
  box.dstPos = {1, 1, 1};
  box.extent = {kWidth, kHeight, kDepth};
  box.dir = cnrtMemcpyDevToHost;
  CHECK_EQ(cnrtMemcpy3D(&box), cnrtSuccess);
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 9; ++x) {
        const bool inside = x >= 1 && x < 1 + kWidth && y >= 1 && z >= 1;
        const std::size_t from = ((z - 1 + 1) * kRows + (y - 1 + 2)) * kPitch + (x - 1 + 3);
        CHECK_EQ(host[(z * 4 + y) * 9 + x], inside ? bytes[from] : 7);
      }
    }
  }
  const auto with = [&box](auto change) {
    cnrtMemcpy3dParam_t changed = box;
    change(changed);
    return cnrtMemcpy3D(&changed);
  };
  CHECK_EQ(with([](auto &b) { b.srcPos.z = 4; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPos = {14, 4, 3}; }), cnrtSuccess);  // the last corner
  CHECK_EQ(with([](auto &b) { b.srcPos = {15, 4, 3}; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPtr.ysize = 2; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPos.y = SIZE_MAX; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPtr.pitch = SIZE_MAX / 4; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.dstPtr.ptr = nullptr; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.dir = cnrtMemcpyHostToDev; }), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(with([](auto &b) { b.extent.depth = 0; }), cnrtSuccess);
  const auto leaves_the_device = [](auto &b) {
    b.dir = cnrtMemcpyNoDirection;
    b.srcPos.z = std::size_t{1} << 38;
  };
  CHECK_EQ(with(leaves_the_device), cnrtErrorArgsInvalid);
  const auto taken_for_host_memory =
      [](auto &b) {  // a device pointer, and a box so far behind it that it leaves the device
        b.dir = cnrtMemcpyHostToHost;
        b.srcPos.z = std::size_t{1} << 38;
      };
  CHECK_EQ(with(taken_for_host_memory), cnrtErrorArgsInvalid);
}

TEST(what_is_copied_or_set_is_initialised) {
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_INIT), 0);
  {
    Device<char> first(300), second(300);
    const auto written = [](const Device<char> &memory) {
      const unsigned char *shadow = mlusim::init_shadow(memory.data);
      return std::count(shadow, shadow + memory.count, 0xff);
    };
    CHECK(mlusim::init_delta() != 0);
    CHECK_EQ(written(first), 0);
    std::vector<char> host(300);
    CHECK_EQ(cnrtMemcpy2D(first.data, 30, host.data(), 10, 10, 10, cnrtMemcpyHostToDev), cnrtSuccess);
    CHECK_EQ(written(first), 100);
    CHECK_EQ(cnrtMemcpy(second.data, first.data, 295, cnrtMemcpyDevToDev), cnrtSuccess);
    CHECK_EQ(written(second), 100);
    CHECK_EQ(cnrtMemset(second.data, 0, 200), cnrtSuccess);
    CHECK_EQ(written(second), 200 + 30);
    // What is not initialised may be copied to the host, and makes its copy not initialised.
    CHECK_EQ(cnrtMemcpy(host.data(), first.data, 300, cnrtMemcpyDevToHost), cnrtSuccess);
    CHECK_EQ(cnrtMemcpy(second.data, first.data + 10, 20, cnrtMemcpyDevToDev), cnrtSuccess);
    CHECK_EQ(written(second), 180 + 30);
  }
  CHECK_EQ(mlusimSetChecks(0), 0);
}

TEST(the_host_cannot_touch_device_memory_while_it_is_checked) {
  const auto touch = [](std::uint32_t checks) {
    return status_of_child([checks] {
      mlusimSetChecks(checks);
      const Device<int> memory(1000);
      CHECK_EQ(cnrtMemset(memory.data, 0, 4000), cnrtSuccess);
      const volatile int *data = memory.data;
      CHECK_EQ(data[0], 0);
    });
  };
  CHECK_EQ(touch(0), 0);
  const int status = touch(MLUSIM_CHECK_MEMORY);
  CHECK(status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM));
}

// ---- Queues -------------------------------------------------------------------------------------------------------------

TEST(a_queue_keeps_its_order) {
  constexpr unsigned kSteps = 300;
  const OwnedQueue queue;
  const Device<unsigned> memory(1);
  std::vector<unsigned> seen(kSteps), wanted(kSteps);
  CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtSuccess);
  for (unsigned i = 0; i < kSteps; ++i) {
    launch(queue, [](unsigned *value, unsigned step) { *value = *value * 3 + step; }, memory.data, i);
    CHECK_EQ(cnrtMemcpyAsync_V3(&seen[i], memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
  }
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  unsigned value = 0;
  for (unsigned i = 0; i < kSteps; ++i) {
    value = value * 3 + i;
    wanted[i] = value;
  }
  CHECK(seen == wanted);
}

TEST(a_queue_works_while_the_host_goes_on) {
  const OwnedQueue queue;
  const Device<int> memory(1);
  int seen = 0, five = 5;
  cnrtGetLastError();
  Gate gate(queue);
  CHECK_EQ(cnrtMemcpyAsync(memory.data, &five, 4, queue, cnrtMemcpyHostToDev), cnrtSuccess);
  launch(queue, [](int *value) { *value += 1; }, memory.data);
  CHECK_EQ(cnrtMemcpyAsync_V2(&seen, memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtErrorNotReady);
  CHECK_EQ(cnrtGetLastError(), cnrtSuccess);
  CHECK_EQ(seen, 0);
  five = 6;  // the copy has not happened yet
  gate.open();
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(seen, 7);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtSuccess);
}

TEST(default_queues) {
  const auto legacy = reinterpret_cast<cnrtQueue_t>(2), mine = reinterpret_cast<cnrtQueue_t>(1);
  std::atomic<int> calls{0};
  {
    Gate gate(mine);
    CHECK_EQ(cnrtQueueQuery(mine), cnrtErrorNotReady);
    std::thread([&] {
      CHECK_EQ(cnrtQueueQuery(mine), cnrtSuccess);  // another one
      call_from(mine, [&] { ++calls; });
    }).join();
    gate.open();
    CHECK_EQ(cnrtQueueSync(mine), cnrtSuccess);
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(calls.load(), 1);  // although its thread had ended
  Gate gate(nullptr);
  CHECK_EQ(cnrtQueueQuery(legacy), cnrtErrorNotReady);
  gate.open();
  CHECK_EQ(cnrtQueueSync(legacy), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(nullptr), cnrtSuccess);
  for (const cnrtQueue_t queue : {cnrtQueue_t{nullptr}, mine, legacy}) {
    int priority = -1;
    CHECK_EQ(cnrtQueueGetPriority(queue, &priority), cnrtSuccess);
    CHECK_EQ(priority, 7);
    CHECK_EQ(cnrtQueueDestroy(queue), cnrtErrorInvalidResourceHandle);
  }
}

TEST(priorities_decide_who_is_first) {
  const OwnedQueue stopper, low(7), high(0);
  int priority = -1;
  CHECK_EQ(cnrtQueueGetPriority(high, &priority), cnrtSuccess);
  CHECK_EQ(priority, 0);
  std::string order;
  {
    const BusyDevice busy(stopper);
    for (int i = 0; i < 3; ++i) {
      launch(low, [](std::string *text) { *text += 'l'; }, &order);
      launch(high, [](std::string *text) { *text += 'h'; }, &order);
    }
  }
  CHECK_EQ(order, "hhhlll");
  cnrtQueue_t queue = nullptr;
  for (const int bad : {-1, 8, INT_MIN, INT_MAX}) {
    CHECK_EQ(cnrtQueueCreateWithPriority(&queue, 0, bad), cnrtErrorArgsInvalid);
  }
  CHECK_EQ(cnrtQueueCreateWithPriority(&queue, 1, 0), cnrtErrorArgsInvalid);
}

TEST(queues_of_one_priority_take_turns) {
  const OwnedQueue stopper, first, second;
  std::string order;
  {
    const BusyDevice busy(stopper);
    for (int i = 0; i < 3; ++i) launch(first, [](std::string *text) { *text += '1'; }, &order);
    for (int i = 0; i < 3; ++i) launch(second, [](std::string *text) { *text += '2'; }, &order);
  }
  CHECK_EQ(order, "121212");
}

TEST(destroying_a_queue_waits_for_its_work) {
  cnrtQueue_t queue = nullptr;
  CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  bool done = false;
  call_from(queue, [&done] {
    sleep_ms(20);
    done = true;
  });
  CHECK_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  CHECK(done);
  CHECK_EQ(cnrtQueueDestroy(queue), cnrtErrorInvalidResourceHandle);
}

TEST(strange_handles_are_refused) {
  const Device<char> memory(64);
  const OwnedNotifier notifier;
  const OwnedQueue living;
  cnrtQueue_t destroyed = nullptr;
  CHECK_EQ(cnrtQueueCreate(&destroyed), cnrtSuccess);
  CHECK_EQ(cnrtQueueDestroy(destroyed), cnrtSuccess);
  cnrtQueue_t another = nullptr;
  CHECK_EQ(cnrtQueueCreate(&another), cnrtSuccess);
  CHECK(another != destroyed);
  int on_host = 0, priority = 0;
  for (void *strange : {static_cast<void *>(destroyed), static_cast<void *>(&on_host), static_cast<void *>(memory.data),
                        static_cast<void *>(notifier.handle), reinterpret_cast<void *>(3), reinterpret_cast<void *>(-1),
                        static_cast<void *>(reinterpret_cast<char *>(living.handle) + 1)}) {
    const auto queue = static_cast<cnrtQueue_t>(strange);
    for (const cnrtRet_t error :
         {cnrtQueueDestroy(queue), cnrtQueueGetPriority(queue, &priority), cnrtQueueQuery(queue), cnrtQueueSync(queue),
          cnrtPlaceNotifier(notifier, queue), cnrtQueueWaitNotifier(notifier, queue, 0),
          cnrtMemcpyAsync(memory.data, &on_host, 4, queue, cnrtMemcpyHostToDev),
          cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtMemFreeAsync(memory.data, queue),
          cnrtInvokeHostFunc(queue, [](void *) {}, nullptr)}) {
      CHECK_EQ(error, cnrtErrorInvalidResourceHandle);
    }
    cnrtGetLastError();
    launch(queue, [] {});
    CHECK_EQ(cnrtGetLastError(), cnrtErrorInvalidResourceHandle);
  }
  for (void *strange :
       {static_cast<void *>(living.handle), static_cast<void *>(&on_host), reinterpret_cast<void *>(1)}) {
    const auto wrong = static_cast<cnrtNotifier_t>(strange);
    for (const cnrtRet_t error : {cnrtNotifierDestroy(wrong), cnrtQueryNotifier(wrong), cnrtWaitNotifier(wrong),
                                  cnrtPlaceNotifier(wrong, living)}) {
      CHECK_EQ(error, cnrtErrorInvalidResourceHandle);
    }
  }
  CHECK_EQ(cnrtQueueDestroy(another), cnrtSuccess);
}

TEST(functions_of_the_host_must_not_wait) {
  const OwnedQueue queue, other;
  const OwnedNotifier notifier;
  Device<int> memory(1);
  void *memory_to_free = nullptr;
  CHECK_EQ(cnrtMalloc(&memory_to_free, 8), cnrtSuccess);
  int value = 0;
  std::vector<cnrtRet_t> errors, fine;
  const Gate *gate = nullptr;
  call_from(queue, [&] {
    Gate never(other);  // this function is in its way
    gate = &never;
    fine.push_back(cnrtPlaceNotifier(notifier, other));
    errors.push_back(cnrtQueueSync(other));
    errors.push_back(cnrtSyncDevice());
    errors.push_back(cnrtDeviceReset());
    errors.push_back(cnrtWaitNotifier(notifier));
    errors.push_back(cnrtMemcpy(&value, memory.data, 4, cnrtMemcpyDevToHost));
    errors.push_back(cnrtMemset(memory.data, 0, 4));
    errors.push_back(cnrtFree(memory_to_free));
    errors.push_back(cnrtQueueDestroy(other));
    errors.push_back(cnrtInvokeKernel(reinterpret_cast<void *>(sleep_ms), kOne, cnrtFuncTypeBlock, nullptr, 0, other));
    fine.push_back(cnrtMemsetAsync(memory.data, 1, 4, other));
    fine.push_back(cnrtQueryNotifier(notifier) == cnrtErrorNotReady ? cnrtSuccess : cnrtErrorUnknown);
    fine.push_back(cnrtMemFreeAsync(memory_to_free, other));
  });
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(errors.size(), 9u);
  for (const cnrtRet_t error : errors) CHECK_EQ(error, cnrtErrorOpsNotPermitted);
  for (const cnrtRet_t error : fine) CHECK_EQ(error, cnrtSuccess);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 0x01010101);
  CHECK_EQ(cnrtFree(memory_to_free), cnrtErrorArgsInvalid);  // it was
}

TEST(memory_of_a_queue) {
  const OwnedQueue queue;
  const mlusimCounters before = counters();
  void *pointer = nullptr;
  std::vector<int> host(100);
  CHECK_EQ(cnrtMemAllocAsync(&pointer, 400, queue), cnrtSuccess);
  {
    const Gate gate(queue);
    CHECK_EQ(cnrtMemsetAsync(pointer, 3, 400, queue), cnrtSuccess);
    CHECK_EQ(cnrtMemcpyAsync(host.data(), pointer, 400, queue, cnrtMemcpyDevToHost), cnrtSuccess);
    CHECK_EQ(cnrtMemFreeAsync(pointer, queue), cnrtSuccess);
    CHECK_EQ(cnrtMemsetAsync(pointer, 4, 400, queue), cnrtSuccess);  // lives still, but will not then
    CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
  }
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorArgsInvalid);
  CHECK(says("cnrtMemsetAsync: pointer: expected 400 bytes of device memory"));
  CHECK_EQ(counters().live_allocations, before.live_allocations);
  CHECK_EQ(host[99], 0x03030303);
  CHECK_EQ(cnrtMemAllocAsync(&pointer, 400, reinterpret_cast<cnrtQueue_t>(&host)), cnrtErrorInvalidResourceHandle);
}

// ---- Notifiers ----------------------------------------------------------------------------------------------------------

TEST(a_notifier_is_reached_in_order) {
  const OwnedQueue queue;
  const OwnedNotifier notifier;
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);  // never placed
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  std::atomic<bool> done{false};
  Gate gate(queue);
  call_from(queue, [&done] { done = true; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
  Gate second(queue);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorNotReady);
  gate.open();
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  CHECK(done);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);
  CHECK_EQ(cnrtQueueQuery(queue), cnrtErrorNotReady);
  CHECK_EQ(cnrtPlaceNotifierWithFlags(notifier, queue, 1), cnrtSuccess);  // the earlier place is forgotten
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorNotReady);
  CHECK_EQ(cnrtPlaceNotifierWithFlags(notifier, queue, 2), cnrtErrorArgsInvalid);
  second.open();
  CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
}

TEST(a_queue_that_waits_does_not_stop_others) {
  const OwnedQueue first, waiting, free;
  cnrtNotifier_t notifier = nullptr;
  CHECK_EQ(cnrtNotifierCreate(&notifier), cnrtSuccess);
  std::string order;
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 0), cnrtSuccess);  // never placed: nothing to wait for
  call_from(waiting, [&order] { order += 'a'; });
  CHECK_EQ(cnrtQueueSync(waiting), cnrtSuccess);
  const OwnedNotifier start;
  std::atomic<bool> open{false};
  call_from(free, [&open] {
    while (!open) std::this_thread::yield();
  });
  CHECK_EQ(cnrtPlaceNotifier(start, free), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(start, first, 0), cnrtSuccess);
  call_from(first, [&order] { order += 'b'; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, first), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 1), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 2), cnrtErrorArgsInvalid);
  call_from(waiting, [&order] { order += 'c'; });
  CHECK_EQ(cnrtNotifierDestroy(notifier), cnrtSuccess);  // what waits for it still does
  const OwnedQueue last(0);
  call_from(last, [&order] { order += 'x'; });
  CHECK_EQ(cnrtQueueSync(last), cnrtSuccess);
  open = true;
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(order, "axbc");
}

TEST(work_goes_on_while_a_queue_waits) {
  const OwnedQueue slow, waiting, other;
  const OwnedNotifier notifier;
  const Device<int> memory(1);
  int steps = 0;
  // A chain through two queues, a hundred times; `other` works in between.
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  for (int i = 0; i < 100; ++i) {
    launch(slow, [](int *value, int step) { *value += *value == 2 * step; }, memory.data, i);
    CHECK_EQ(cnrtPlaceNotifier(notifier, slow), cnrtSuccess);
    CHECK_EQ(cnrtQueueWaitNotifier(notifier, waiting, 0), cnrtSuccess);
    launch(waiting, [](int *value, int step) { *value += *value == 2 * step + 1; }, memory.data, i);
    CHECK_EQ(cnrtPlaceNotifier(notifier, waiting), cnrtSuccess);
    CHECK_EQ(cnrtQueueWaitNotifier(notifier, slow, 0), cnrtSuccess);
    call_from(other, [&steps] { ++steps; });
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 200);
  CHECK_EQ(steps, 100);
}

TEST(times_between_notifiers) {
  const OwnedQueue queue, other;
  const OwnedNotifier start, end, elsewhere;
  float milliseconds = -1, microseconds = -1;
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorIllegalState);
  CHECK_EQ(cnrtPlaceNotifier(start, queue), cnrtSuccess);
  CHECK_EQ(cnrtWaitNotifier(start), cnrtSuccess);
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorIllegalState);
  {
    const Gate gate(queue);
    CHECK_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
    CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtErrorNotReady);
    CHECK_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtErrorNotReady);
    sleep_ms(30);
  }
  CHECK_EQ(cnrtPlaceNotifier(elsewhere, other), cnrtSuccess);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK_EQ(milliseconds, -1.0f);
  CHECK_EQ(cnrtNotifierElapsedTime(start, end, &milliseconds), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtSuccess);
  CHECK(milliseconds >= 29.0f && milliseconds < 20000.0f);
  CHECK(microseconds >= 29000.0f && microseconds < 20e6f);
  CHECK(std::abs(milliseconds * 1000 - microseconds) < 20000);
  CHECK_EQ(cnrtNotifierElapsedTime(end, start, &milliseconds), cnrtSuccess);
  CHECK(milliseconds <= -29.0f);
  CHECK_EQ(cnrtNotifierElapsedTime(start, elsewhere, &milliseconds), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(start, elsewhere, &microseconds), cnrtErrorArgsInvalid);
}

TEST(notifiers_without_times) {
  const OwnedQueue queue;
  const OwnedNotifier plain, no_software(CNRT_NOTIFIER_DISABLE_TIMING_SW), none(CNRT_NOTIFIER_DISABLE_TIMING_ALL);
  float time = 0;
  for (const cnrtNotifier_t notifier : {plain.handle, no_software.handle, none.handle}) {
    CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
    CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
  }
  CHECK_EQ(cnrtNotifierElapsedTime(plain, no_software, &time), cnrtErrorOpsNotPermitted);
  CHECK_EQ(cnrtNotifierElapsedTime(none, plain, &time), cnrtErrorOpsNotPermitted);
  CHECK_EQ(cnrtNotifierDuration(plain, no_software, &time), cnrtSuccess);
  CHECK_EQ(cnrtNotifierDuration(plain, none, &time), cnrtErrorOpsNotPermitted);
  cnrtNotifier_t notifier = nullptr;
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, CNRT_NOTIFIER_INTERPROCESS), cnrtErrorNotSupport);
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtNotifierCreateWithFlags(&notifier, 16), cnrtErrorArgsInvalid);
}

// ---- Launches -----------------------------------------------------------------------------------------------------------

TEST(tasks_of_a_launch) {
  const Device<int> memory(24);
  const mlusimCounters before = counters();
  CHECK_EQ(cnrtMemset(memory.data, 0, 96), cnrtSuccess);
  mlusim::launch(
      "count", &mlusim::unit, {4, 3, 2}, cnrtFuncTypeBlock, nullptr,
      [](int *counts) { counts[taskIdX + 4 * (taskIdY + 3 * taskIdZ)] += taskDim; }, memory.data);
  CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  for (const int count : memory.get()) CHECK_EQ(count, 24);
  CHECK_EQ(counters().launches, before.launches + 1);
  CHECK_EQ(counters().tasks, before.tasks + 24);
}

TEST(launches_that_are_refused) {
  struct Argument {
    Argument() { ++living(); }
    Argument(const Argument &) { ++living(); }
    ~Argument() { --living(); }
    static std::atomic<int> &living() {
      static std::atomic<int> count{0};
      return count;
    }
  };
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  const auto with = [&queue](cnrtDim3_t dim, int type) {
    cnrtGetLastError();
    mlusim::launch(
        "refused", &mlusim::unit, dim, number<cnrtFunctionType_t>(type), queue, [](const Argument &) {}, Argument());
    return cnrtGetLastError();
  };
  for (const int type : {-1, 0, 2, 3, 5, 7, 12, 128, INT_MAX}) CHECK_EQ(with(kOne, type), cnrtErrorArgsInvalid);
  CHECK_EQ(with({0, 1, 1}, cnrtFuncTypeBlock), cnrtErrorArgsInvalid);
  CHECK(says("refused"));
  CHECK_EQ(with({1, 0, 1}, cnrtFuncTypeBlock), cnrtErrorArgsInvalid);
  CHECK_EQ(with({3, 1, 1}, cnrtFuncTypeUnion1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().launches, before.launches);
  CHECK_EQ(with({2, 1, 1}, cnrtFuncTypeBlock), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(counters().launches, before.launches + 1);
  CHECK_EQ(Argument::living().load(), 0);
}

namespace {

void add_wrapper(void **arguments) { **static_cast<int **>(arguments[0]) += *static_cast<int *>(arguments[1]); }

}  // namespace

TEST(launch_by_function_pointer) {
  const Device<int> memory(1);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  int *target = memory.data;
  int amount = 5;
  void *arguments[] = {&target, &amount};
  const void *kernel = reinterpret_cast<void *>(add_wrapper);
  const OwnedQueue queue;
  CHECK_EQ(cnrtInvokeKernel(kernel, {3, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 15);
  CHECK_EQ(cnrtInvokeKernel(kernel, kOne, cnrtFuncTypeBlock, arguments, 1, queue), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtInvokeKernel(kernel, {0, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtErrorArgsInvalid);
  CHECK(says("launch of (function at 0x"));  // the linker does not know it
  for (const auto &[function, name] :
       {std::make_pair(reinterpret_cast<void *>(std::abort), "launch of abort: "),
        std::make_pair(reinterpret_cast<void *>(std::terminate), "launch of std::terminate(): ")}) {
    CHECK_EQ(cnrtInvokeKernel(function, {0, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue), cnrtErrorArgsInvalid);
    CHECK(says(name));
  }
  CHECK_EQ(cnrtInvokeKernel(kernel, kOne, cnrtFuncTypeBlock, arguments, 0, reinterpret_cast<cnrtQueue_t>(&amount)),
           cnrtErrorInvalidResourceHandle);
}

// ---- Errors of queued work ----------------------------------------------------------------------------------------------

TEST(an_error_is_returned_once_and_drops_what_follows) {
  const OwnedQueue queue, other;
  const Device<int> memory(2);
  CHECK_EQ(cnrtMemset(memory.data, 0, 8), cnrtSuccess);
  const mlusimCounters before = counters();
  cnrtGetLastError();
  {
    const Gate gate(queue);
    launch_crash(queue);
    launch(queue, [](int *value) { value[0] += 1; }, memory.data);
    launch(other, [](int *value) { value[1] += 1; }, memory.data);
    CHECK_EQ(cnrtPeekAtLastError(), cnrtSuccess);
  }
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK(says("test_kernel") && says("mlusimGetReport"));
  CHECK(std::strstr(mlusimGetReport(), "test_kernel") != nullptr);
  CHECK_EQ(cnrtGetLastError(), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(memory.get() == std::vector<int>({0, 1}));
  launch(queue, [](int *value) { value[0] += 1; }, memory.data);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(memory.get() == std::vector<int>({1, 1}));
  CHECK_EQ(counters().failed_launches, before.failed_launches + 1);
  CHECK_EQ(counters().launches, before.launches + 3);
}

TEST(who_returns_the_error_of_a_queue) {
  const Device<int> memory(1);
  int value = 0;
  const auto failed_copy = [&] { return cnrtMemcpy(&value, memory.data, 4, cnrtMemcpyDevToHost); };
  launch_crash(nullptr);
  CHECK_EQ(failed_copy(), cnrtErrorKernelTrap);
  CHECK_EQ(failed_copy(), cnrtSuccess);
  launch_crash(nullptr);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtErrorKernelTrap);
  {
    const OwnedQueue first, second;
    launch_crash(first);
    launch_crash(second);
    CHECK_EQ(failed_copy(), cnrtSuccess);  // on another queue
    CHECK_EQ(cnrtSyncDevice(), cnrtErrorKernelTrap);
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
    CHECK_EQ(cnrtQueueSync(first), cnrtSuccess);
    launch_crash(first);
    cnrtRet_t answer = cnrtErrorNotReady;
    while (answer == cnrtErrorNotReady) answer = cnrtQueueQuery(first);
    CHECK_EQ(answer, cnrtErrorKernelTrap);
    CHECK_EQ(cnrtQueueQuery(first), cnrtSuccess);
    launch_crash(first);  // and the queue is destroyed without a word about it
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(a_notifier_tells_of_failed_work_before_it) {
  const OwnedQueue queue, other;
  const OwnedNotifier before, after;
  std::atomic<bool> called{false};
  CHECK_EQ(cnrtPlaceNotifier(before, queue), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtPlaceNotifier(after, queue), cnrtSuccess);
  CHECK_EQ(cnrtQueueWaitNotifier(after, other, 0), cnrtSuccess);
  call_from(other, [&called] { called = true; });
  CHECK_EQ(cnrtQueueSync(other), cnrtSuccess);
  CHECK(called);
  CHECK_EQ(cnrtWaitNotifier(before), cnrtSuccess);
  CHECK_EQ(cnrtWaitNotifier(after), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueryNotifier(after), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
}

TEST(memory_is_freed_in_a_failed_queue_too) {
  const mlusimCounters before = counters();
  const OwnedQueue queue;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtMemFreeAsync(pointer, queue), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
}

TEST(a_reset_ends_everything) {
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t notifier = nullptr;
  void *pointer = nullptr;
  CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  CHECK_EQ(cnrtNotifierCreate(&notifier), cnrtSuccess);
  CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
  launch_crash(queue);
  CHECK_EQ(cnrtDeviceReset(), cnrtSuccess);
  const mlusimCounters after = counters();
  CHECK(after.live_allocations == 0 && after.live_bytes == 0 && after.live_queues == 0 && after.live_notifiers == 0);
  CHECK_EQ(cnrtQueueSync(queue), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtQueryNotifier(notifier), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  Device<int> memory(10);
  memory.set(std::vector<int>(10, 4));
  CHECK_EQ(memory.get()[9], 4);
}

// ---- Other devices ------------------------------------------------------------------------------------------------------

TEST(the_device_changes_only_while_it_is_not_in_use) {
  mlusimDeviceModel usual, model, found;
  CHECK_EQ(mlusimGetDevice(&usual), 0);
  int models = 0;
  while (mlusimGetKnownModel(models, &model) == 0) ++models;
  CHECK(models >= 4);
  CHECK_EQ(mlusimGetKnownModel(-1, &model), -1);
  CHECK_EQ(mlusimGetKnownModel(INT_MAX, &model), -1);
  CHECK_EQ(mlusimSetDeviceByName("no such card"), -1);
  CHECK(says("no model is called 'no such card'"));
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

// ---- Threads, forks, the end --------------------------------------------------------------------------------------------

TEST(queues_of_many_threads) {
  constexpr int kThreads = 4, kLaunches = 1000;
  const mlusimCounters before = counters();
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      for (int i = 0; i < kLaunches; ++i) {
        const OwnedQueue queue(i % 8);
        const OwnedNotifier notifier;
        Device<int> memory(1 + static_cast<std::size_t>(i) % 50);
        int seen = 0;
        CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4, queue), cnrtSuccess);
        launch(queue, [](int *value, int term) { *value += term; }, memory.data, number * kLaunches + i);
        CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
        CHECK_EQ(cnrtMemcpyAsync(&seen, memory.data, 4, queue, cnrtMemcpyDevToHost), cnrtSuccess);
        CHECK_EQ(i % 2 == 0 ? cnrtQueueSync(queue) : cnrtSyncDevice(), cnrtSuccess);
        CHECK_EQ(cnrtQueryNotifier(notifier), cnrtSuccess);
        CHECK_EQ(seen, number * kLaunches + i);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  const mlusimCounters after = counters();
  CHECK_EQ(after.launches, before.launches + kThreads * kLaunches);
  CHECK_EQ(after.live_queues, before.live_queues);
  CHECK_EQ(after.live_notifiers, before.live_notifiers);
  CHECK_EQ(after.live_allocations, before.live_allocations);
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  CHECK(std::distance(begin(tasks), end(tasks)) <= 4);  // queues have no threads
}

TEST(errors_reach_the_thread_that_waits) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      const OwnedQueue queue;
      for (int i = 0; i < 50; ++i) {
        const bool crashes = (i + number) % 2 == 0;
        if (crashes) launch_crash(queue);
        if (!crashes) launch(queue, [] {});
        CHECK_EQ(cnrtQueueSync(queue), crashes ? cnrtErrorKernelTrap : cnrtSuccess);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(one_queue_for_many_threads) {
  const OwnedQueue queue;
  const Device<int> memory(1);
  CHECK_EQ(cnrtMemset(memory.data, 0, 4), cnrtSuccess);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        launch(queue, [](int *value) { *value += 1; }, memory.data);
        if (i % 10 == 0) CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK_EQ(memory.get()[0], 2000);
}

TEST(of_many_destroyers_one_succeeds) {
  std::vector<cnrtQueue_t> queues(500);
  for (cnrtQueue_t &queue : queues) CHECK_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  std::atomic<int> destroyed{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (const cnrtQueue_t queue : queues) destroyed += cnrtQueueDestroy(queue) == cnrtSuccess;
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(destroyed.load(), 500);
}

TEST(the_child_of_a_fork_has_a_working_device) {
  const OwnedQueue queue, stopped;
  const OwnedNotifier notifier;
  Device<int> memory(1);
  memory.set({5});
  bool lost = false;
  Gate gate(stopped);
  call_from(stopped, [&lost] { lost = true; });
  CHECK_EQ(cnrtPlaceNotifier(notifier, stopped), cnrtSuccess);
  const int status = status_of_child([&] {
    CHECK_EQ(cnrtQueueSync(stopped), cnrtSuccess);  // queued work is dropped, and the wait returns
    CHECK(!lost);
    CHECK_EQ(cnrtWaitNotifier(notifier), cnrtSuccess);
    CHECK_EQ(memory.get()[0], 5);
    for (int i = 0; i < 100; ++i) {
      launch(i % 2 == 0 ? queue : stopped, [](int *value) { *value += 1; }, memory.data);
      CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
    }
    CHECK_EQ(memory.get()[0], 105);
    launch_crash(queue);
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
    void *pointer = nullptr;
    CHECK_EQ(cnrtMalloc(&pointer, 100), cnrtSuccess);
    CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  });
  CHECK_EQ(status, 0);
  gate.open();
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  CHECK(lost);  // here it was not
  CHECK_EQ(memory.get()[0], 5);
}

TEST(forks_while_other_threads_use_the_device) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([&stop] {
      const OwnedQueue queue;
      while (!stop) {
        const OwnedNotifier notifier;
        const Device<int> memory(1000);
        CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 4000, queue), cnrtSuccess);
        launch(queue, [](int *values) { values[999] = 1; }, memory.data);
        CHECK_EQ(cnrtPlaceNotifier(notifier, queue), cnrtSuccess);
        CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const int status = status_of_child([] {
      const OwnedQueue queue;
      Device<int> memory(10);
      memory.set(std::vector<int>(10, 1));
      launch(queue, [](int *values) { values[3] = 2; }, memory.data);
      CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
      CHECK_EQ(memory.get()[3], 2);
    });
    CHECK_EQ(status, 0);
  }
  stop = true;
  for (std::thread &thread : threads) thread.join();
}

TEST(a_function_of_the_host_may_fork) {
  constexpr int kExit = 5;
  const OwnedQueue queue;
  int status = -1;
  call_from(queue, [&status] {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      // In the child this thread goes on as the device's.
      call_from(nullptr, [] { _exit(kExit); });
      return;
    }
    waitpid(child, &status, 0);
  });
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == kExit);
}

TEST(the_process_ends_while_the_device_works) {
  const auto ends_with = [](const std::function<void()> &work) {
    const auto start = std::chrono::steady_clock::now();
    const int status = status_of_child([&work] {
      work();
      std::exit(harness::failures == 0 ? 0 : 1);
    });
    CHECK_EQ(status, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ends_with([] { CHECK_EQ(cnrtSyncDevice(), cnrtSuccess); });
  ends_with([] {
    for (int i = 0; i < 1000; ++i) launch(nullptr, [] { sleep_ms(1); });
  });
  // A kernel that does not end.
  const double seconds = ends_with([] {
    launch(nullptr, [] {
      for (;;) sleep_ms(1);
    });
    sleep_ms(20);
  });
  CHECK(seconds < 20);
  // Static objects may use the runtime while they are destroyed.
  ends_with([] {
    static Device<int> memory(1);
    static const OwnedQueue queue;
    launch(queue, [](int *value) { *value = 1; }, memory.data);
  });
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
